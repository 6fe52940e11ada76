// The smallest of many numbers, ties by index: of whole rows, or of tiles of a matrix product.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "four.hpp"
#include "poll.hpp"
#include "wide.hpp"

namespace unbend {

// A list of fixed length, sorted by (key, index), in which infinity and the largest index mean
// that a place is free.
template <typename Real>
struct SortedList {
    Real *keys;
    std::int32_t *indices;
    std::int64_t length;

    UNBEND_INLINE Real bound() const { return keys[length - 1]; }

    UNBEND_INLINE void offer(Real key, std::int32_t index) {
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
    std::fill(list.keys, list.keys + list.length, std::numeric_limits<Real>::infinity());
    std::fill(list.indices, list.indices + list.length, std::numeric_limits<std::int32_t>::max());
    std::int64_t j = 0;
    for (; j + 8 <= count; j += 8) {
        const auto low = Four<Real>::load(values + j), high = Four<Real>::load(values + j + 4);
        if (!any_within(low, high, Four<Real>::all(list.bound()))) continue;
        for (std::int64_t i = j; i < j + 8; ++i)
            list.offer(values[i], static_cast<std::int32_t>(i));
    }
    for (; j < count; ++j) list.offer(values[j], static_cast<std::int32_t>(j));
}

// Many places make insertion slow: find the last by selection, then sort.
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
    constexpr std::int64_t few = 64;
    using Pairs = std::vector<std::pair<Real, std::int32_t>>;
    run_blocks(0, rows, 16, threads, [] { return Pairs(); },
               [&](Pairs &pairs, std::int64_t i) UNBEND_INLINE {
                   SortedList<Real> list{keys + i * k, indices + i * k, k};
                   if (k <= few)
                       smallest_few(values + i * columns, columns, list);
                   else
                       smallest_many(values + i * columns, columns, list, pairs);
               });
}

// A tile P = A B' of products of centred rows. With squares a and b the keys a_i + b_j - 2 P_ij are
// squared distances, up to rounding. Rows and columns have numbers from `first_row` and
// `first_column`; a row is not compared with itself if it has the same number.
template <typename Real>
struct Tile {
    const Real *products;
    std::int64_t rows, columns;
    const Real *row_squares, *column_squares;
    std::int64_t first_row, first_column;
};

// Keys of the columns from j on, as many as a wide register holds.
template <typename Real>
UNBEND_INLINE inline typename Side<Real>::Lanes keys_from(const Tile<Real> &tile, std::int64_t i,
                                                          std::int64_t j) {
    const auto &products = lanes(tile.products + i * tile.columns + j);
    // Twice a product is exact, whichever way.
    return (tile.row_squares[i] + lanes(tile.column_squares + j)) - (products + products);
}

// Calls `visit` with the place of each set lane of two comparisons side by side. Where few are set
// it is the guesses of the processor that cost, so that lanes are not looked at one by one.
template <typename Within, typename Visit>
UNBEND_INLINE inline void visit_set(const Within &low, const Within &high, const Visit &visit) {
    constexpr int wide = static_cast<int>(sizeof(Within) / sizeof(low[0]));
    for (std::uint32_t set = bits_of(low) | bits_of(high) << wide; set != 0; set &= set - 1)
        visit(__builtin_ctz(set));
}

template <typename Real>
UNBEND_INLINE inline void offer_row(const Tile<Real> &tile, std::int64_t i,
                                    SortedList<Real> &list) {
    constexpr std::int64_t wide = Side<Real>::count;
    const auto offer = [&](std::int64_t j) UNBEND_INLINE {
        const Real product = tile.products[i * tile.columns + j];
        const Real key = (tile.row_squares[i] + tile.column_squares[j]) - 2 * product;
        if (key <= list.bound() && tile.first_row + i != tile.first_column + j)
            list.offer(key, static_cast<std::int32_t>(tile.first_column + j));
    };
    std::int64_t j = 0;
    for (; j + 2 * wide <= tile.columns; j += 2 * wide) {
        const auto low = keys_from(tile, i, j) <= list.bound();
        const auto high = keys_from(tile, i, j + wide) <= list.bound();
        if (any_of(low | high)) visit_set(low, high, [&](int l) UNBEND_INLINE { offer(j + l); });
    }
    for (; j < tile.columns; ++j) offer(j);
}

// Offers the columns of a tile to the lists of its rows: (rows, length) arrays.
template <typename Real>
void offer_to_rows(const Tile<Real> &tile, std::int64_t length, int threads, Real *keys,
                   std::int32_t *indices) {
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::int64_t i = 0; i < tile.rows; ++i)
        dispatch([&]() UNBEND_INLINE {
            SortedList<Real> list{keys + i * length, indices + i * length, length};
            offer_row(tile, i, list);
        });
    (void)threads;
}

// Offers rows to the lists of columns first <= j < last, row by row as the tile lies in memory.
template <typename Real>
UNBEND_INLINE inline void offer_columns(const Tile<Real> &tile, std::int64_t first,
                                        std::int64_t last, std::int64_t length, Real *keys,
                                        std::int32_t *indices, Real *bounds) {
    constexpr std::int64_t wide = Side<Real>::count;
    for (std::int64_t j = first; j < last; ++j) bounds[j] = keys[j * length + length - 1];
    for (std::int64_t i = 0; i < tile.rows; ++i) {
        const auto offer = [&](std::int64_t j) UNBEND_INLINE {
            const Real product = tile.products[i * tile.columns + j];
            const Real key = (tile.row_squares[i] + tile.column_squares[j]) - 2 * product;
            if (!(key <= bounds[j])) return;
            SortedList<Real> list{keys + j * length, indices + j * length, length};
            list.offer(key, static_cast<std::int32_t>(tile.first_row + i));
            bounds[j] = list.bound();
        };
        std::int64_t j = first;
        for (; j + 2 * wide <= last; j += 2 * wide) {
            const auto low = keys_from(tile, i, j) <= lanes<Real>(bounds + j);
            const auto high = keys_from(tile, i, j + wide) <= lanes<Real>(bounds + j + wide);
            if (any_of(low | high))
                visit_set(low, high, [&](int l) UNBEND_INLINE { offer(j + l); });
        }
        for (; j < last; ++j) offer(j);
    }
}

// Offers the rows of a tile off the diagonal to the lists of its columns: (columns, length) arrays.
template <typename Real>
void offer_to_columns(const Tile<Real> &tile, std::int64_t length, int threads, Real *keys,
                      std::int32_t *indices) {
    constexpr std::int64_t block = 128;
    std::vector<Real> bounds(tile.columns);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::int64_t first = 0; first < tile.columns; first += block)
        dispatch([&]() UNBEND_INLINE {
            offer_columns(tile, first, std::min(first + block, tile.columns), length, keys,
                          indices, bounds.data());
        });
    (void)threads;
}

}  // namespace unbend
