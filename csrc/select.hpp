// The smallest of many numbers, ties by index.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "simd_four.hpp"
#include "poll.hpp"

namespace unbend {

// A list of fixed length, sorted by (key, index), in which infinity and the largest index mean
// that a place is free.
template <typename Real>
struct SortedList {
    Real *keys;
    std::int32_t *indices;
    std::int64_t length;

    UNBEND_INLINE Real bound() const { return keys[length - 1]; }

    UNBEND_INLINE void clear() const {
        std::fill(keys, keys + length, std::numeric_limits<Real>::infinity());
        std::fill(indices, indices + length, std::numeric_limits<std::int32_t>::max());
    }

    UNBEND_INLINE void offer(Real key, std::int32_t index) const {
        std::int64_t place = length - 1;
        if (!before(key, index, place)) return;
        for (; place > 0 && before(key, index, place - 1); --place) {
            keys[place] = keys[place - 1];
            indices[place] = indices[place - 1];
        }
        keys[place] = key;
        indices[place] = index;
    }

    UNBEND_INLINE bool before(Real key, std::int32_t index, std::int64_t place) const {
        return key < keys[place] || (key == keys[place] && index < indices[place]);
    }
};

template <typename Real>
UNBEND_INLINE inline void smallest_few(const Real *values, std::int64_t count,
                                       SortedList<Real> &list) {
    list.clear();
    std::int64_t j = 0;
    for (; j + 8 <= count; j += 8) {
        const auto low = Four<Real>::load(values + j), high = Four<Real>::load(values + j + 4);
        if (!any_within(low, high, Four<Real>::all(list.bound()))) continue;
        for (std::int64_t i = j; i < j + 8; ++i)
            list.offer(values[i], static_cast<std::int32_t>(i));
    }
    for (; j < count; ++j) list.offer(values[j], static_cast<std::int32_t>(j));
}

// Many places make insertion slow.
constexpr std::int64_t few_places = 64;

// Finds the last by selection, then sorts.
template <typename Real>
void smallest_many(const Real *values, std::int64_t count, SortedList<Real> &list,
                   std::vector<std::pair<Real, std::int32_t>> &pairs) {
    pairs.resize(count);
    for (std::int64_t j = 0; j < count; ++j)
        pairs[j] = {values[j], static_cast<std::int32_t>(j)};
    if (list.length < count)
        std::nth_element(pairs.begin(), pairs.begin() + list.length, pairs.end());
    std::sort(pairs.begin(), pairs.begin() + list.length);
    for (std::int64_t j = 0; j < list.length; ++j) {
        list.keys[j] = pairs[j].first;
        list.indices[j] = pairs[j].second;
    }
}

// The k smallest numbers of each row of a (rows, columns) matrix, to (rows, k) arrays.
template <typename Real>
void smallest(const Real *values, std::int64_t rows, std::int64_t columns, std::int64_t k,
              int threads, std::int32_t *indices, Real *keys) {
    using Pairs = std::vector<std::pair<Real, std::int32_t>>;
    run_blocks(0, rows, 16, threads, [] { return Pairs(); },
               [&](Pairs &pairs, std::int64_t i) UNBEND_INLINE {
                   SortedList<Real> list{keys + i * k, indices + i * k, k};
                   if (k <= few_places)
                       smallest_few(values + i * columns, columns, list);
                   else
                       smallest_many(values + i * columns, columns, list, pairs);
               });
}

}  // namespace unbend
