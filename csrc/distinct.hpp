// Which rows are copies of earlier ones, by a table of hashes, and whether all numbers are fit for
// squares: one pass over the numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "moments.hpp"

namespace unbend {

struct Survey {
    bool finite = true;
    double largest = 0;         // magnitude
    bool vanishing = false;     // whether some number other than zero is smaller than the bound
    std::int64_t distinct = 0;  // rows that differ
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
        // Stored: lanes that were ever indexed GCC would keep in memory.
        std::uint64_t word[lanes_of<Lanes>];
        store_lanes(word, state_);
        std::uint64_t hash = 0, factor = 0xd6e8feb86659fd93;
        // Numbers with few digits differ in their highest bits only, which products lose.
        for (std::uint64_t one : word)
            hash += (one ^ one >> 32) * factor, factor += 0x9fb21c651e98df24;
        return (hash ^ hash >> 32) * 0x9e3779b97f4a7c15;
    }

    UNBEND_INLINE void tell(Survey &survey) const {
        std::uint64_t finite[lanes_of<Lanes>], vanishing[lanes_of<Lanes>];
        double largest[lanes_of<Lanes>];
        store_lanes(finite, finite_);
        store_lanes(vanishing, vanishing_);
        store_lanes(largest, largest_);
        for (int lane = 0; lane < lanes_of<Lanes>; ++lane) {
            survey.largest = std::max(survey.largest, largest[lane]);
            survey.finite &= finite[lane] != 0;
            survey.vanishing |= vanishing[lane] != 0;
        }
    }

  private:
    Bits state_ = {}, finite_ = ~Bits{}, vanishing_ = {};
    Lanes largest_ = {}, bound_;
};

// The distinct rows so far, numbered in the order of their first occurrence.
class RowTable {
  public:
    RowTable(const double *points, std::int64_t rows, std::int64_t columns, std::int64_t *copies)
        : points_(points), columns_(columns), copies_(copies) {
        while ((std::int64_t{1} << number_bits_) <= rows) ++number_bits_;
        place_bits_ = number_bits_ + 1;
        slots_.resize(std::size_t{1} << place_bits_);
    }

    // The next rows, by their hashes.
    void add(const std::uint64_t *hashes, std::int64_t count) {
        std::uint32_t *slots = slots_.data();
        const std::uint64_t mask = slots_.size() - 1;
        const int number_bits = number_bits_, drop = 64 - place_bits_;
        for (std::int64_t i = 0; i < count; ++i, ++row_) {
            const auto tag = static_cast<std::uint32_t>(hashes[i]) << number_bits;
            std::uint64_t place = hashes[i] >> drop;
            while (slots[place] != 0 && !is_copy(slots[place], tag)) place = (place + 1) & mask;
            if (slots[place] != 0) continue;
            slots[place] = tag | static_cast<std::uint32_t>(row_ + 1);
            if (distinct_ < row_) copies_[row_] = distinct_;
            ++distinct_;
        }
    }

    std::int64_t distinct() const { return distinct_; }

  private:
    // Compares rows where the few bits of a hash that a slot has room for agree.
    UNBEND_INLINE bool is_copy(std::uint32_t slot, std::uint32_t tag) {
        if ((slot ^ tag) >> number_bits_ != 0) return false;
        const std::int64_t other = (slot & ((1u << number_bits_) - 1)) - std::int64_t{1};
        const double *numbers = points_ + row_ * columns_;
        if (!std::equal(numbers, numbers + columns_, points_ + other * columns_)) return false;
        // Up to the first copy every row has its own number, and nobody may need to know.
        if (distinct_ == row_) std::iota(copies_, copies_ + row_, 0);
        copies_[row_] = copies_[other];
        return true;
    }

    const double *points_;
    std::int64_t columns_, row_ = 0, distinct_ = 0;
    std::int64_t *copies_;
    int number_bits_ = 3, place_bits_ = 0;
    // The number of a row, from one on, below bits of its hash; zero is free.
    std::vector<std::uint32_t> slots_;
};

// Hashes of rows; `end` is where the numbers of all rows end.
template <typename Lanes>
UNBEND_INLINE inline void hash_rows(const double *points, const double *end, std::int64_t rows,
                                    std::int64_t columns, Hasher<Lanes> &hasher,
                                    std::uint64_t *hashes) {
    using Bits = typename Hasher<Lanes>::Bits;
    constexpr std::int64_t step = lanes_of<Lanes>;
    const std::int64_t whole = columns / step * step;
    const Bits every = ~Bits{};
    double places[step];
    for (int lane = 0; lane < step; ++lane) places[lane] = lane;
    const Bits rest = (Bits)(load_lanes<Lanes>(places) < static_cast<double>(columns - whole));
    for (std::int64_t i = 0; i < rows; ++i, points += columns) {
        hasher.begin();
        for (std::int64_t c = 0; c < whole; c += step) {
            const Lanes numbers = load_lanes<Lanes>(points + c);
            hasher.take(numbers, every);
        }
        // Reads on into the next rows, as long as there are any.
        if (whole < columns && points + whole + step <= end) {
            const Lanes numbers = load_lanes<Lanes>(points + whole);
            hasher.take(numbers, rest);
        } else if (whole < columns) {
            double last[step] = {};
            std::copy(points + whole, points + columns, last);
            const Lanes numbers = load_lanes<Lanes>(last);
            hasher.take(numbers, rest);
        }
        hashes[i] = hasher.hash();
    }
}

// Fills `copies` with the number of the distinct row that each row equals, if there are copies.
inline Survey distinct_rows(const double *points, std::int64_t rows, std::int64_t columns,
                            double vanishing, std::int64_t *copies) {
    Survey survey;
    RowTable table(points, rows, columns, copies);
    dispatch_lanes([&](auto use) UNBEND_INLINE {
        using Lanes = typename decltype(use)::type;
        // Some rows at once: looking up stops for what it did not foresee, hashing never.
        constexpr std::int64_t block = 256;
        std::uint64_t hashes[block];
        Hasher<Lanes> hasher(vanishing);
        for (std::int64_t first = 0; first < rows; first += block) {
            const std::int64_t count = std::min(block, rows - first);
            hash_rows<Lanes>(points + first * columns, points + rows * columns, count, columns,
                             hasher, hashes);
            table.add(hashes, count);
        }
        hasher.tell(survey);
    });
    survey.distinct = table.distinct();
    return survey;
}

}  // namespace unbend
