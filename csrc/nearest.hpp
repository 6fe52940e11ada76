// The k nearest found so far, nearest first or as a heap, in one unique order.
//
// Rows are ordered by (distance, index): ties are broken by index, so the answer to a query does
// not depend on the order in which rows are met, on threads or on instruction sets.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

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

// Keeps the k nearest candidates offered. Few are kept sorted, which shifts little; many form a
// heap with the farthest on top, since shifting would cost k steps each.
template <typename Norm>
class Nearest {
  public:
    // `slots` has room for k candidates; `slack` widens `reach()` for the rounding of the caller.
    Nearest(Candidate *slots, std::int64_t k, double slack)
        : slots_(slots), k_(k), slack_(1 + slack + same_root) {}

    void clear() {
        size_ = 0;
        reach_ = std::numeric_limits<double>::max();
    }

    // Nothing with a power beyond this can be among the k nearest.
    UNBEND_INLINE double reach() const { return reach_; }

    UNBEND_INLINE void offer(double power, std::int32_t index) {
        const Candidate candidate{power, index};
        if (k_ <= few)
            insert(candidate);
        else
            push(candidate);
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
        if (k_ > few) std::sort_heap(slots_, slots_ + size_, nearer<Norm>);
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

    void push(const Candidate &candidate) {
        if (size_ == k_) {
            if (!nearer<Norm>(candidate, slots_[0])) return;
            std::pop_heap(slots_, slots_ + k_, nearer<Norm>);
            --size_;
        }
        slots_[size_++] = candidate;
        std::push_heap(slots_, slots_ + size_, nearer<Norm>);
        if (size_ == k_) reach_ = slots_[0].power * slack_;
    }

    Candidate *slots_;
    std::int64_t k_;
    double slack_;
    std::int64_t size_ = 0;
    double reach_ = std::numeric_limits<double>::max();
};

}  // namespace unbend
