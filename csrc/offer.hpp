// Squared distances by products of matrices, offered to lists of the nearest while they are still
// in registers: no tile of products is ever stored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "shortlists.hpp"
#include "poll.hpp"

namespace unbend {

// Points in panels (panel, coordinate, point of the panel), in which rows and columns are read
// alike. With their squares a and b the keys a_i + b_j - 2 x_i y_j are squared distances, up to
// rounding. What fills the last panel has squares that are NaN, which are within no bound.
template <typename Real>
constexpr std::int64_t panel = 3 * Side<Real>::count;

template <typename Real>
struct Panels {
    const Real *numbers, *squares;

    UNBEND_INLINE const Real *from(std::int64_t point, std::int64_t coordinates) const {
        return numbers + point / panel<Real> * panel<Real> * coordinates + point % panel<Real>;
    }
};

template <typename Real>
struct Sides {
    Panels<Real> rows, columns;
    std::int64_t coordinates;
};

struct Span {
    std::int64_t first, last;

    static Span of_tile(std::int64_t number, std::int64_t tile, std::int64_t count) {
        return {number * tile, std::min((number + 1) * tile, count)};
    }
};

// Keys of four rows and one panel, which with the numbers they are made of fill sixteen registers.
template <typename Real>
struct Block {
    using Lanes = typename Side<Real>::Lanes;
    static constexpr std::int64_t part = Side<Real>::count;
    static constexpr std::int64_t height = 4, parts = 3, width = panel<Real>;

    Lanes keys[height][parts];

    UNBEND_INLINE Block(const Sides<Real> &sides, std::int64_t row, std::int64_t column) {
        // One by one: all at once GCC would clear them in memory.
        for (auto &of_row : keys)
            for (Lanes &sum : of_row) sum = Lanes{};
        const std::int64_t count = sides.coordinates;
        const Real *rows = sides.rows.from(row, count), *columns = sides.columns.from(column, count);
        for (std::int64_t c = 0; c < count; ++c, rows += width, columns += width)
            for (std::int64_t r = 0; r < height; ++r)
                for (std::int64_t p = 0; p < parts; ++p)
                    keys[r][p] += rows[r] * lanes(columns + p * part);
        for (std::int64_t r = 0; r < height; ++r)
            for (std::int64_t p = 0; p < parts; ++p) {
                // Twice a product is exact, whichever way.
                const Lanes squares = lanes(sides.columns.squares + column + p * part);
                keys[r][p] = (sides.rows.squares[row + r] + squares) - 2 * keys[r][p];
            }
    }

    UNBEND_INLINE void store(std::int64_t r, Real *into) const {
        for (std::int64_t p = 0; p < parts; ++p) store_lanes(into + p * part, keys[r][p]);
    }

    // Calls `visit(row, column, key)` for keys within the bound of their row or of their column.
    template <typename Visit>
    UNBEND_INLINE void within(const Real *row_bounds, const Real *column_bounds,
                              const Visit &visit) const {
        using Within = decltype(keys[0][0] <= keys[0][0]);
        const auto near = [&](std::int64_t r, Within (&found)[parts]) UNBEND_INLINE {
            // Zero is taken from them, not added: that is no instruction.
            const Lanes own = row_bounds[r] - Lanes{};
            for (std::int64_t p = 0; p < parts; ++p) {
                const Lanes bounds = lanes(column_bounds + p * part);
                found[p] = keys[r][p] <= (bounds > own ? bounds : own);
            }
        };
        Within found[parts], any = {};
        for (std::int64_t r = 0; r < height; ++r) {
            near(r, found);
            for (std::int64_t p = 0; p < parts; ++p) any |= found[p];
        }
        if (!any_of(any)) return;
        for (std::int64_t r = 0; r < height; ++r) {
            near(r, found);
            std::uint32_t set = bits_of(found);
            if (set == 0) continue;
            Real stored[width];
            store(r, stored);
            // Where few are set it is the guesses of the processor that cost.
            for (; set != 0; set &= set - 1) {
                const int place = __builtin_ctz(set);
                visit(r, place, stored[place]);
            }
        }
    }
};

// Starts the lists of some rows with some columns, a row not with itself if `own`.
template <typename Real>
UNBEND_INLINE inline void start_lists(const Sides<Real> &sides, Span rows, Span columns, bool own,
                                      const Shortlists<Real> &lists, std::vector<Real> &keys) {
    constexpr std::int64_t height = Block<Real>::height, width = Block<Real>::width;
    const std::int64_t count = columns.last - columns.first;
    keys.resize(height * count);
    for (std::int64_t row = rows.first; row < rows.last; row += height) {
        for (std::int64_t column = 0; column < count; column += width) {
            const Block<Real> block(sides, row, columns.first + column);
            for (std::int64_t r = 0; r < height; ++r)
                block.store(r, keys.data() + r * count + column);
        }
        for (std::int64_t r = 0; r < height; ++r) {
            Real *offered = keys.data() + r * count;
            if (own) offered[row + r - columns.first] = std::numeric_limits<Real>::quiet_NaN();
            lists.start(row + r, {offered, count}, columns.first);
        }
    }
}

// Offers columns to the lists of rows and, if the columns are rows of the same points, rows to the
// lists of columns.
template <bool both, typename Real>
UNBEND_INLINE inline void offer_tile(const Sides<Real> &sides, Span rows, Span columns,
                                     const Shortlists<Real> &lists) {
    constexpr std::int64_t height = Block<Real>::height, width = Block<Real>::width;
    Real none[width];
    std::fill(none, none + width, -std::numeric_limits<Real>::infinity());
    for (std::int64_t column = columns.first; column < columns.last; column += width)
        for (std::int64_t row = rows.first; row < rows.last; row += height) {
            const auto visit = [&](std::int64_t r, std::int64_t c, Real key) UNBEND_INLINE {
                const std::int64_t i = row + r, j = column + c;
                if (key <= lists.bounds[i]) lists.take(i, key, j);
                if (both && key <= lists.bounds[j]) lists.take(j, key, i);
            };
            Block<Real>(sides, row, column)
                .within(lists.bounds + row, both ? lists.bounds + column : none, visit);
        }
}

// Offers the points of pairs of tiles to each other; a tile paired with itself starts its lists.
// No two pairs share a tile, so that threads need no locks.
template <typename Real>
void offer_pairs(const Sides<Real> &sides, std::int64_t count, const std::int64_t *pairs,
                 std::int64_t pair_count, std::int64_t tile, int threads,
                 const Shortlists<Real> &lists) {
    run_tasks(pair_count, threads, [] { return std::vector<Real>(); },
              [&](std::vector<Real> &keys, std::int64_t t) {
                  const Span rows = Span::of_tile(pairs[2 * t], tile, count);
                  const Span columns = Span::of_tile(pairs[2 * t + 1], tile, count);
                  dispatch([&]() UNBEND_INLINE {
                      if (rows.first == columns.first)
                          start_lists(sides, rows, columns, true, lists, keys);
                      else
                          offer_tile<true>(sides, rows, columns, lists);
                  });
              });
}

// Offers all columns to the lists of the rows.
template <typename Real>
void offer_columns(const Sides<Real> &sides, std::int64_t row_count, std::int64_t column_count,
                   std::int64_t tile, int threads, const Shortlists<Real> &lists) {
    constexpr std::int64_t at_once = 96;
    const Span start{0, std::min(tile, column_count)};
    run_tasks((row_count + at_once - 1) / at_once, threads, [] { return std::vector<Real>(); },
              [&](std::vector<Real> &keys, std::int64_t t) {
                  const Span rows = Span::of_tile(t, at_once, row_count);
                  dispatch([&]() UNBEND_INLINE {
                      start_lists(sides, rows, start, false, lists, keys);
                      offer_tile<false>(sides, rows, {start.last, column_count}, lists);
                  });
              });
}

}  // namespace unbend
