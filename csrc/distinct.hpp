// Which rows are copies of earlier ones, by a table of hashes, and whether all numbers are fit for
// squares: one pass over the numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "moments.hpp"

namespace unbend {

struct Survey {
    bool finite = true;
    double largest = 0;         // magnitude
    bool vanishing = false;     // whether some number other than zero is smaller than the bound
    std::int64_t distinct = 0;  // rows that differ
};

// The bits of as many numbers.
template <typename Lanes>
struct BitsOf;
template <>
struct BitsOf<Wide> {
    typedef std::uint64_t type __attribute__((vector_size(32)));
};
template <>
struct BitsOf<Narrow> {
    typedef std::uint64_t type __attribute__((vector_size(16)));
};

// Takes in numbers some at a time. Equal rows have equal hashes: minus zero is zero.
template <typename Lanes>
class Hasher {
  public:
    using Bits = typename BitsOf<Lanes>::type;

    UNBEND_INLINE explicit Hasher(double vanishing) : bound_(Lanes{} + vanishing) {}

    UNBEND_INLINE void begin() { state_ = Bits{} + 0x9e3779b97f4a7c15; }

    // Shifts that differ from place to place (Marsaglia's), and carries that make them not linear.
    UNBEND_INLINE void take(const Lanes &numbers, const Bits &mask) {
        const Bits bits = (Bits)(numbers + 0.0) & mask;
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ += bits;
        const Bits magnitude = bits & (Bits{} + 0x7fffffffffffffff);
        const Lanes size = (Lanes)magnitude;
        largest_ = size > largest_ ? size : largest_;
        finite_ &= (Bits)(size <= std::numeric_limits<double>::max());
        vanishing_ |= (Bits)(size < bound_) & magnitude;
    }

    UNBEND_INLINE std::uint64_t hash() const {
        std::uint64_t word[lanes_of<Lanes>];
        words_at(word) = state_;
        std::uint64_t hash = 0, factor = 0xd6e8feb86659fd93;
        for (std::uint64_t one : word) hash += one * factor, factor += 0x9fb21c651e98df24;
        return (hash ^ hash >> 32) * 0x9e3779b97f4a7c15;
    }

    UNBEND_INLINE void tell(Survey &survey) const {
        std::uint64_t finite[lanes_of<Lanes>], vanishing[lanes_of<Lanes>];
        double largest[lanes_of<Lanes>];
        words_at(finite) = finite_;
        words_at(vanishing) = vanishing_;
        lanes_at<Lanes>(largest) = largest_;
        for (int lane = 0; lane < lanes_of<Lanes>; ++lane) {
            survey.largest = std::max(survey.largest, largest[lane]);
            survey.finite &= finite[lane] != 0;
            survey.vanishing |= vanishing[lane] != 0;
        }
    }

  private:
    // Lanes that were ever indexed GCC would keep in memory.
    static UNBEND_INLINE typename Stored<Bits>::type &words_at(std::uint64_t *words) {
        return *reinterpret_cast<typename Stored<Bits>::type *>(words);
    }

    Bits state_ = {}, finite_ = ~Bits{}, vanishing_ = {};
    Lanes largest_ = {}, bound_;
};

// A hash of each row, and what the numbers are like.
template <typename Lanes>
UNBEND_INLINE inline void hash_rows(const double *points, std::int64_t rows, std::int64_t columns,
                                    double vanishing, std::uint64_t *hashes, Survey &survey) {
    using Bits = typename Hasher<Lanes>::Bits;
    constexpr std::int64_t step = lanes_of<Lanes>;
    const std::int64_t whole = columns / step * step;
    const Bits every = ~Bits{};
    double places[step];
    for (int lane = 0; lane < step; ++lane) places[lane] = lane;
    const Bits rest = (Bits)(lanes_at<Lanes>(places) < static_cast<double>(columns - whole));
    const double *end = points + rows * columns;
    Hasher<Lanes> hasher(vanishing);
    for (std::int64_t i = 0; i < rows; ++i, points += columns) {
        hasher.begin();
        for (std::int64_t c = 0; c < whole; c += step)
            hasher.take(lanes_at<Lanes>(points + c), every);
        if (whole < columns) {
            // Reads on into the next rows, as long as there are any.
            if (points + whole + step <= end)
                hasher.take(lanes_at<Lanes>(points + whole), rest);
            else {
                double last[step] = {};
                std::copy(points + whole, points + columns, last);
                hasher.take(lanes_at<Lanes>(last), rest);
            }
        }
        hashes[i] = hasher.hash();
    }
    hasher.tell(survey);
}

// Numbers the distinct rows in the order of their first occurrence, and tells which each row is.
inline std::int64_t number_distinct(const double *points, std::int64_t rows, std::int64_t columns,
                                    const std::vector<std::uint64_t> &hashes,
                                    std::int64_t *copies) {
    int bits = 4;
    while ((std::int64_t{1} << bits) < 2 * rows) ++bits;
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    // Rows by their hashes; 0 marks a free place.
    std::vector<std::uint32_t> table(mask + 1);
    std::int64_t distinct = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
        const double *row = points + i * columns;
        std::uint64_t place = hashes[i] >> (64 - bits);
        copies[i] = distinct;
        for (; table[place] != 0; place = (place + 1) & mask) {
            const std::int64_t other = table[place] - 1;
            if (hashes[other] == hashes[i] && std::equal(row, row + columns, points + other * columns)) {
                copies[i] = copies[other];
                break;
            }
        }
        if (table[place] != 0) continue;
        table[place] = static_cast<std::uint32_t>(i + 1);
        ++distinct;
    }
    return distinct;
}

// Fills `copies` with the number of the distinct row that each row equals, unless some number is
// not finite.
inline Survey distinct_rows(const double *points, std::int64_t rows, std::int64_t columns,
                            double vanishing, std::int64_t *copies) {
    Survey survey;
    std::vector<std::uint64_t> hashes(rows);
    dispatch_lanes([&](auto use) UNBEND_INLINE {
        hash_rows<typename decltype(use)::type>(points, rows, columns, vanishing, hashes.data(),
                                                survey);
    });
    if (survey.finite)
        survey.distinct = number_distinct(points, rows, columns, hashes, copies);
    return survey;
}

}  // namespace unbend
