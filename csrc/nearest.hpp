// The k nearest found so far, nearest first or among as many others, in one unique order.
//
// Rows are ordered by (distance, index): ties are broken by index, so the answer to a query does
// not depend on the order in which rows are met, on threads or on instruction sets.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "simd_four.hpp"

namespace unbend {

// Norms gather a "power" (the sum of squares for p = 2) column by column, always in this order.
using Doubles = Four<double>;

struct Manhattan {
    static UNBEND_INLINE Doubles add(const Doubles &power, const Doubles &difference) {
        return power + size_of(difference);
    }
    static UNBEND_INLINE double distance(double power) { return power; }
};
struct Euclidean {
    static UNBEND_INLINE Doubles add(const Doubles &power, const Doubles &difference) {
        return power + difference * difference;
    }
    static UNBEND_INLINE double distance(double power) { return std::sqrt(power); }
};
struct Chebyshev {
    static UNBEND_INLINE Doubles add(const Doubles &power, const Doubles &difference) {
        return larger(power, size_of(difference));
    }
    static UNBEND_INLINE double distance(double power) { return power; }
};

struct Candidate {
    double power;
    std::int32_t index;
};

// Relative rounding within which two powers may have the same distance.
constexpr double same_root = 4 * std::numeric_limits<double>::epsilon();

// Order by (distance, index), without a root where the powers alone decide.
template <typename Norm>
UNBEND_INLINE inline bool nearer(const Candidate &a, const Candidate &b) {
    if (std::fabs(a.power - b.power) > same_root * b.power) return a.power < b.power;
    if (a.power == b.power) return a.index < b.index;
    const double first = Norm::distance(a.power), second = Norm::distance(b.power);
    return first == second ? a.index < b.index : first < second;
}

// Sorts many candidates, a few steps each where their powers are spread: they go to as many buckets
// of equal width as there are of them, and those in one bucket are then inserted in order.
template <typename Norm>
class CandidateSort {
  public:
    explicit CandidateSort(std::int64_t most) : starts_(most), sorted_(most) {}

    void operator()(Candidate *candidates, std::int64_t count) {
        if (!distribute(candidates, count)) {
            std::sort(candidates, candidates + count, nearer<Norm>);
            return;
        }
        for (std::int64_t i = 0; i < count; ++i) {
            std::int64_t place = i;
            for (; place > 0 && nearer<Norm>(sorted_[i], candidates[place - 1]); --place)
                candidates[place] = candidates[place - 1];
            candidates[place] = sorted_[i];
        }
    }

  private:
    // Candidates of one bucket at most: inserting more would cost the square of their number.
    static constexpr std::int32_t crowd = 64;

    // Puts the candidates in the order of their buckets; gives up where one is crowded.
    bool distribute(const Candidate *candidates, std::int64_t count) {
        double farthest = 0;
        for (std::int64_t i = 0; i < count; ++i)
            farthest = std::max(farthest, candidates[i].power);
        // Smaller ones have no inverse.
        if (!(farthest > 0x1p-1000)) return false;
        const double scale = static_cast<double>(count - 1) / farthest;
        std::fill(starts_.begin(), starts_.begin() + count, 0);
        for (std::int64_t i = 0; i < count; ++i) ++starts_[bucket(candidates[i], scale, count)];
        std::int32_t before = 0;
        for (std::int64_t b = 0; b < count; ++b) {
            const std::int32_t inside = starts_[b];
            if (inside > crowd) return false;
            starts_[b] = before;
            before += inside;
        }
        for (std::int64_t i = 0; i < count; ++i)
            sorted_[starts_[bucket(candidates[i], scale, count)]++] = candidates[i];
        return true;
    }

    static std::int64_t bucket(const Candidate &candidate, double scale, std::int64_t count) {
        return std::min(static_cast<std::int64_t>(candidate.power * scale), count - 1);
    }

    std::vector<std::int32_t> starts_;
    std::vector<Candidate> sorted_;
};

// Keeps the k nearest candidates offered. Few are kept sorted, which shifts little. Of many, up to
// twice as many as wanted are gathered, and then the farther half of them is left out.
template <typename Norm>
class Nearest {
  public:
    // Candidates that there must be room for.
    static constexpr std::int64_t room(std::int64_t k) { return k <= few ? k : 2 * k; }

    // `slots` has `room(k)`; `slack` widens `reach()` for the rounding of the caller.
    Nearest(Candidate *slots, std::int64_t k, double slack)
        : slots_(slots), k_(k), slack_(1 + slack + same_root), sort_(k <= few ? 0 : room(k)) {}

    void clear() {
        size_ = 0;
        reach_ = std::numeric_limits<double>::max();
    }

    // Nothing with a power beyond this can be among the k nearest; the least such is known after
    // `select()`.
    UNBEND_INLINE double reach() const { return reach_; }

    UNBEND_INLINE void offer(double power, std::int32_t index) {
        const Candidate candidate{power, index};
        if (k_ <= few) {
            insert(candidate);
        } else {
            slots_[size_++] = candidate;
            if (size_ == 2 * k_) select();
        }
    }

    // Sorts the candidates and leaves out all but the k nearest.
    void select() {
        if (k_ <= few) return;
        sort_(slots_, size_);
        if (size_ < k_) return;
        size_ = k_;
        reach_ = slots_[k_ - 1].power * slack_;
    }

    // Whether candidates would be kept as they are given, nearest first.
    UNBEND_INLINE bool takes_sorted() const { return k_ <= few; }

    // Starts with sorted candidates; no more than there is room for are taken.
    UNBEND_INLINE void begin(const Candidate *sorted, std::int64_t count) {
        size_ = std::min(count, k_);
        for (std::int64_t j = 0; j < size_; ++j) slots_[j] = sorted[j];
        if (size_ == k_) reach_ = slots_[k_ - 1].power * slack_;
    }

    // Distances, in the units of the data, and indices in their final order.
    void write(double unit, std::int32_t *indices, double *distances) {
        select();
        for (std::int64_t j = 0; j < size_; ++j) {
            indices[j] = slots_[j].index;
            distances[j] = Norm::distance(slots_[j].power) * unit;
        }
    }

  private:
    static constexpr std::int64_t few = 128;

    UNBEND_INLINE void insert(const Candidate &candidate) {
        std::int64_t place = size_;
        if (size_ == k_) {
            if (!nearer<Norm>(candidate, slots_[k_ - 1])) return;
            --place;
        } else {
            ++size_;
        }
        for (; place > 0 && nearer<Norm>(candidate, slots_[place - 1]); --place)
            slots_[place] = slots_[place - 1];
        slots_[place] = candidate;
        if (size_ == k_) reach_ = slots_[k_ - 1].power * slack_;
    }

    Candidate *slots_;
    std::int64_t k_;
    double slack_;
    CandidateSort<Norm> sort_;
    std::int64_t size_ = 0;
    double reach_ = std::numeric_limits<double>::max();
};

}  // namespace unbend
