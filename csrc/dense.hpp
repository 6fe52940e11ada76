// Dense kernels of the sparse factorisation: tiles of eight rows by four columns that stay in
// registers. Everything is inlined into its caller, so that `dispatch` compiles it twice.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "dispatch.hpp"

namespace unbend {

#if defined(__GNUC__)
typedef double Lanes __attribute__((vector_size(32)));
#else
struct Lanes {
    double lane[4];
    double operator[](int k) const { return lane[k]; }
};
inline Lanes operator*(const Lanes &a, double b) {
    return {{a.lane[0] * b, a.lane[1] * b, a.lane[2] * b, a.lane[3] * b}};
}
inline Lanes &operator+=(Lanes &a, const Lanes &b) {
    for (int k = 0; k < 4; ++k) a.lane[k] += b.lane[k];
    return a;
}
inline Lanes &operator-=(Lanes &a, const Lanes &b) {
    for (int k = 0; k < 4; ++k) a.lane[k] -= b.lane[k];
    return a;
}
#endif

constexpr std::int32_t tile_rows = 8, tile_columns = 4;
// Columns factorised before the rest of a front is updated.
constexpr std::int32_t block_columns = 64;

// Vectors go through memory, not by value: passing them depends on the instruction set.
UNBEND_INLINE inline void load(Lanes &to, const double *from) { std::memcpy(&to, from, sizeof to); }
UNBEND_INLINE inline void store(double *to, const Lanes &from) { std::memcpy(to, &from, sizeof from); }

// sum[2q + h] becomes the product of eight packed rows `a` (halves h) with four packed rows `b`.
UNBEND_INLINE inline void multiply_tile(const double *a, const double *b, std::int32_t depth,
                                        Lanes (&sum)[8]) {
    Lanes s[8] = {};
    for (std::int32_t p = 0; p < depth; ++p, a += tile_rows, b += tile_rows) {
        Lanes low, high;
        load(low, a);
        load(high, a + 4);
        for (int q = 0; q < 4; ++q) {
            s[2 * q] += low * b[q];
            s[2 * q + 1] += high * b[q];
        }
    }
    for (int k = 0; k < 8; ++k) sum[k] = s[k];
}

// A dense block being factorised: `width` columns of the factor, `rows` long, and the matrix of
// what they take from the rows below. Only lower triangles count.
struct Front {
    double *panel;          // rows x width, column by column
    double *update;         // (rows - width) square, column by column
    std::int32_t width, rows;
    const double *diagonal; // of the matrix, for its columns: the measure of tiny pivots

    // Column c, addressed by rows of the front.
    UNBEND_INLINE double *column(std::int32_t c) const {
        if (c < width) return panel + static_cast<std::int64_t>(c) * rows;
        return update + static_cast<std::int64_t>(c - width) * (rows - width) - width;
    }
};

// Pivots between these multiples of the diagonal are rounding of zero and are raised; those below
// mean that the matrix is not positive semidefinite.
constexpr double tiny_pivot = 64 * 2.220446049250313e-16, negative_pivot = -1e-8;

struct Pivots {
    std::int64_t replaced = 0;
    std::int32_t failed = -1;   // first column, within the front, without a positive pivot
};

// Cholesky factor of four by four at row `o` of a tile, in place.
UNBEND_INLINE inline void factor_corner(double (&tile)[4][8], std::int32_t o, std::int32_t columns,
                                        const double *diagonal, std::int32_t at, Pivots &pivots) {
    for (std::int32_t q = 0; q < columns; ++q) {
        double pivot = tile[q][o + q];
        for (std::int32_t p = 0; p < q; ++p) pivot -= tile[p][o + q] * tile[p][o + q];
        const double size = diagonal[at + q];
        if (!std::isfinite(pivot) || !(size > 0) || pivot < negative_pivot * size) {
            if (pivots.failed < 0) pivots.failed = at + q;
            pivot = 1.0;
        } else if (pivot < tiny_pivot * size) {
            ++pivots.replaced;
            pivot = tiny_pivot * size;
        }
        tile[q][o + q] = std::sqrt(pivot);
        const double inverse = 1.0 / tile[q][o + q];
        for (std::int32_t i = o + q + 1; i < o + columns; ++i) {
            double value = tile[q][i];
            for (std::int32_t p = 0; p < q; ++p) value -= tile[p][i] * tile[p][o + q];
            tile[q][i] = value * inverse;
        }
    }
}

// One tile of a panel: loads it, takes off what earlier columns of the block give, and divides by
// the corner, which is made first where the tile holds the diagonal.
struct PanelTile {
    const Front &front;
    std::int32_t begin, columns;        // of the tile
    std::int32_t depth;                 // columns of the block before it
    double corner[4][4], inverse[4];

    UNBEND_INLINE void run(double *packed, const double *right, std::int32_t row, bool diagonal,
                           Pivots &pivots) {
        Lanes sum[8];
        multiply_tile(packed, right, depth, sum);
        const std::int32_t count = std::min(tile_rows, front.rows - row);
        double tile[4][8] = {};
        for (std::int32_t q = 0; q < columns; ++q) {
            const double *from = front.column(begin + q) + row;
            double taken[8];
            store(taken, sum[2 * q]);
            store(taken + 4, sum[2 * q + 1]);
            for (std::int32_t i = 0; i < count; ++i) tile[q][i] = from[i] - taken[i];
        }
        const std::int32_t o = begin - row;  // row of the corner, where the tile holds it
        if (diagonal) {
            factor_corner(tile, o, columns, front.diagonal, begin, pivots);
            for (std::int32_t q = 0; q < columns; ++q) {
                inverse[q] = 1.0 / tile[q][o + q];
                for (std::int32_t p = 0; p < 4; ++p) corner[q][p] = tile[q][o + p];
                for (std::int32_t i = 0; i < o + q; ++i) tile[q][i] = 0.0;
            }
        }
        divide(tile, diagonal ? o + columns : 0);
        for (std::int32_t q = 0; q < columns; ++q) {
            double *to = front.column(begin + q) + row;
            for (std::int32_t i = diagonal ? o + q : 0; i < count; ++i) to[i] = tile[q][i];
            std::memcpy(packed + (depth + q) * tile_rows, tile[q], sizeof tile[q]);
        }
    }

    UNBEND_INLINE void divide(double (&tile)[4][8], std::int32_t from) const {
        for (std::int32_t q = 0; q < columns; ++q) {
            for (std::int32_t p = 0; p < q; ++p)
                for (std::int32_t i = from; i < tile_rows; ++i) tile[q][i] -= tile[p][i] * corner[p][q];
            for (std::int32_t i = from; i < tile_rows; ++i) tile[q][i] *= inverse[q];
        }
    }
};

// Factorises columns begin .. begin + columns of a front, which earlier blocks have updated. The
// result also goes to `packed`: groups of eight rows, each column by column.
UNBEND_INLINE inline void factor_block(const Front &front, std::int32_t begin, std::int32_t columns,
                                       double *packed, Pivots &pivots) {
    const std::int64_t group = static_cast<std::int64_t>(columns) * tile_rows;
    for (std::int32_t done = 0; done < columns; done += tile_columns) {
        PanelTile tile{front, begin + done, std::min(tile_columns, columns - done), done, {}, {}};
        const std::int32_t first = done / tile_rows;
        const double *right = packed + first * group + done % tile_rows;
        std::int32_t row = begin + first * tile_rows;
        for (double *at = packed + first * group; row < front.rows; row += tile_rows, at += group)
            tile.run(at, right, row, row <= begin + done, pivots);
    }
}

// Takes one product tile from the front; `fresh` columns of the update are set, not changed.
UNBEND_INLINE inline void subtract_tile(const Front &front, const Lanes (&sum)[8], std::int32_t row,
                                        std::int32_t column, std::int32_t least, bool fresh) {
    if (row >= column + 3 && row + tile_rows <= front.rows && column >= least) {
        for (int q = 0; q < 4; ++q) {
            double *to = front.column(column + q) + row;
            Lanes low = {}, high = {};
            if (!(fresh && column + q >= front.width)) {
                load(low, to);
                load(high, to + 4);
            }
            low -= sum[2 * q];
            high -= sum[2 * q + 1];
            store(to, low);
            store(to + 4, high);
        }
        return;
    }
    for (std::int32_t q = 0; q < 4; ++q) {
        const std::int32_t c = column + q;
        if (c < least || c >= front.rows) continue;
        double *to = front.column(c);
        double taken[8];
        store(taken, sum[2 * q]);
        store(taken + 4, sum[2 * q + 1]);
        const bool set = fresh && c >= front.width;
        for (std::int32_t i = std::max(row, c); i < std::min(row + tile_rows, front.rows); ++i)
            to[i] = (set ? 0.0 : to[i]) - taken[i - row];
    }
}

// The share of one task in the update of a front by a factorised block: rows of groups
// from .. to, all columns beyond the block.
UNBEND_INLINE inline void update_rows(const Front &front, std::int32_t begin, std::int32_t columns,
                                      const double *packed, std::int32_t from, std::int32_t to) {
    const std::int64_t group = static_cast<std::int64_t>(columns) * tile_rows;
    const std::int32_t least = begin + columns;
    const std::int32_t last = std::min(front.rows, begin + to * tile_rows);
    for (std::int32_t done = columns / tile_columns * tile_columns; begin + done < last;
         done += tile_columns) {
        const std::int32_t first = done / tile_rows;
        const double *right = packed + first * group + done % tile_rows;
        for (std::int32_t g = std::max(first, from); g < to; ++g) {
            Lanes sum[8];
            multiply_tile(packed + g * group, right, columns, sum);
            subtract_tile(front, sum, begin + g * tile_rows, begin + done, least, begin == 0);
        }
    }
}

}  // namespace unbend
