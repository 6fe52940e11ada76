// Lists of the smallest of many keys, which take what is offered and are cut down when full.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "poll.hpp"
#include "select.hpp"
#include "simd_wide.hpp"

namespace unbend {

// Keys from `begin` up to a whole number of lanes; those that do not count are NaN, which is
// within no threshold.
template <typename Real>
struct Keys {
    const Real *begin;
    std::int64_t count;

    UNBEND_INLINE std::int64_t within(Real threshold) const {
        return count_where([&](const auto &some) UNBEND_INLINE { return some <= threshold; });
    }
    UNBEND_INLINE std::int64_t below(Real threshold) const {
        return count_where([&](const auto &some) UNBEND_INLINE { return some < threshold; });
    }

    // Calls `visit` with the place of each key within a threshold. Where few are it is the guesses
    // of the processor that cost, so that keys are not looked at one by one.
    template <typename Visit>
    UNBEND_INLINE void visit(Real threshold, const Visit &visit) const {
        constexpr std::int64_t wide = Side<Real>::count;
        for (std::int64_t j = 0; j < count; j += wide) {
            const decltype(lanes(begin) <= threshold) found[1] = {lanes(begin + j) <= threshold};
            for (std::uint32_t set = bits_of(found); set != 0; set &= set - 1)
                visit(j + __builtin_ctz(set));
        }
    }

    // The least and the largest.
    UNBEND_INLINE std::pair<Real, Real> range() const {
        constexpr std::int64_t wide = Side<Real>::count;
        constexpr Real infinity = std::numeric_limits<Real>::infinity();
        typename Side<Real>::Lanes low = {}, high = {};
        low += infinity, high -= infinity;
        for (std::int64_t j = 0; j < count; j += wide) {
            low = lanes(begin + j) < low ? lanes(begin + j) : low;
            high = lanes(begin + j) > high ? lanes(begin + j) : high;
        }
        // Copies: clang lets no reference point into a vector.
        Real least = low[0], largest = high[0];
        for (std::int64_t l = 1; l < wide; ++l) {
            const Real one = low[l], other = high[l];
            least = std::min(least, one);
            largest = std::max(largest, other);
        }
        return {least, largest};
    }

    // A threshold that at least `least` and at most `most` keys are within, found by halving its
    // range; where equal keys allow none, the smallest that enough are within.
    UNBEND_INLINE Real threshold(std::int64_t least, std::int64_t most) const {
        auto [low, high] = range();
        if (within(low) >= least) return low;
        if (within(high) <= most) return high;
        while (true) {
            const Real middle = low + (high - low) / 2;
            if (!(low < middle && middle < high)) return high;
            const std::int64_t found = within(middle);
            if (found >= least && found <= most) return middle;
            (found < least ? low : high) = middle;
        }
    }

  private:
    template <typename Condition>
    UNBEND_INLINE std::int64_t count_where(const Condition &condition) const {
        constexpr std::int64_t wide = Side<Real>::count;
        auto counts = condition(lanes(begin));
        for (std::int64_t j = wide; j < count; j += wide) counts += condition(lanes(begin + j));
        std::int64_t sum = 0;
        for (std::int64_t l = 0; l < wide; ++l) sum -= counts[l];
        return sum;
    }
};

template <typename Real>
using Pairs = std::vector<std::pair<Real, std::int32_t>>;

// The `length` smallest keys so far of some lists, ties by index, and up to `room` in all, a whole
// number of lanes: unsorted (count, room) arrays. Beyond `bounds` nothing is taken. Cutting a full
// list is much less work than keeping it sorted, though bounds that lag behind let more through.
template <typename Real>
struct Shortlists {
    Real *keys, *bounds;
    std::int32_t *indices, *sizes;
    std::int64_t length, room;

    UNBEND_INLINE void take(std::int64_t i, Real key, std::int64_t index) const {
        const std::int32_t place = sizes[i]++;
        keys[i * room + place] = key;
        indices[i * room + place] = static_cast<std::int32_t>(index);
        if (sizes[i] == room) cut(i);
    }

    // Starts an empty list with the smallest of some keys, whose indices count from `first`.
    UNBEND_INLINE void start(std::int64_t i, const Keys<Real> &offered, std::int64_t first) const {
        const Real threshold = offered.threshold(length, most());
        offered.visit(threshold, [&](std::int64_t j) UNBEND_INLINE {
            take(i, offered.begin[j], first + j);
        });
        if (sizes[i] >= length) bounds[i] = std::min(bounds[i], threshold);
    }

    // The smallest, in their order; free places at the end are infinite and have the largest index.
    UNBEND_INLINE void sorted(std::int64_t i, Pairs<Real> &pairs, Real *into,
                              std::int32_t *numbers) const {
        const SortedList<Real> list{into, numbers, length};
        list.clear();
        if (length > few_places || !sort_distinct(i, list)) sort_many(i, pairs, list);
    }

  private:
    // Cutting to a few more than asked for takes fewer halvings.
    std::int64_t most() const { return length + (room - length) / 4; }

    UNBEND_INLINE void cut(std::int64_t i) const {
        Real *own = keys + i * room;
        std::int32_t *numbers = indices + i * room;
        const Real threshold = Keys<Real>{own, room}.threshold(length, most());
        std::int32_t kept = 0;
        for (std::int64_t j = 0; j < room; ++j) {
            const Real key = own[j];
            own[kept] = key;
            numbers[kept] = numbers[j];
            kept += key <= threshold;
        }
        sizes[i] = kept;
        bounds[i] = threshold;
        if (kept > most()) cut_ties(i);
    }

    // Puts each key where the number of smaller ones says, which needs no guesses of the processor;
    // false where two keys are equal.
    UNBEND_INLINE bool sort_distinct(std::int64_t i, const SortedList<Real> &list) const {
        Real *own = keys + i * room;
        std::fill(own + sizes[i], own + room, std::numeric_limits<Real>::quiet_NaN());
        const Keys<Real> all{own, sizes[i]};
        for (std::int32_t j = 0; j < sizes[i]; ++j) {
            const std::int64_t place = all.below(own[j]);
            if (place >= length) continue;
            if (list.indices[place] != std::numeric_limits<std::int32_t>::max()) return false;
            list.keys[place] = own[j];
            list.indices[place] = indices[i * room + j];
        }
        return true;
    }

    void sort_many(std::int64_t i, Pairs<Real> &pairs, const SortedList<Real> &list) const {
        pairs.resize(sizes[i]);
        for (std::int32_t j = 0; j < sizes[i]; ++j)
            pairs[j] = {keys[i * room + j], indices[i * room + j]};
        std::sort(pairs.begin(), pairs.end());
        const std::int64_t kept = std::min<std::int64_t>(length, sizes[i]);
        for (std::int64_t j = 0; j < kept; ++j) std::tie(list.keys[j], list.indices[j]) = pairs[j];
    }

    // Of equal keys, more than there is room for, those with the smallest indices.
    void cut_ties(std::int64_t i) const {
        Pairs<Real> pairs;
        sort_many(i, pairs, {keys + i * room, indices + i * room, length});
        sizes[i] = static_cast<std::int32_t>(length);
    }
};

// All lists, sorted, to (count, length) arrays.
template <typename Real>
void sort_shortlists(const Shortlists<Real> &lists, std::int64_t count, int threads, Real *keys,
                     std::int32_t *indices) {
    run_blocks(0, count, 64, threads, [] { return Pairs<Real>(); },
               [&](Pairs<Real> &pairs, std::int64_t i) UNBEND_INLINE {
                   lists.sorted(i, pairs, keys + i * lists.length, indices + i * lists.length);
               });
}

}  // namespace unbend
