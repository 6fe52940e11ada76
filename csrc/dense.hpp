// Dense kernels of the sparse factorisation: tiles of eight rows by four columns that stay in
// registers. Everything is inlined into its caller, so that `dispatch` compiles it twice.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "dispatch.hpp"

namespace unbend {

// Numbers that one register holds: four where `dispatch_lanes` finds AVX2, two elsewhere. Wider
// vectors than the machine has would go through memory at every operation.
#if defined(__GNUC__)
typedef double Wide __attribute__((vector_size(32)));
typedef double Narrow __attribute__((vector_size(16)));
#else
struct Narrow {
    double lane[2];
};
inline Narrow operator*(const Narrow &a, double b) { return {{a.lane[0] * b, a.lane[1] * b}}; }
inline Narrow operator*(const Narrow &a, const Narrow &b) {
    return {{a.lane[0] * b.lane[0], a.lane[1] * b.lane[1]}};
}
inline Narrow &operator+=(Narrow &a, const Narrow &b) {
    a.lane[0] += b.lane[0];
    a.lane[1] += b.lane[1];
    return a;
}
inline Narrow &operator-=(Narrow &a, const Narrow &b) {
    a.lane[0] -= b.lane[0];
    a.lane[1] -= b.lane[1];
    return a;
}
using Wide = Narrow;
#endif

template <typename Lanes>
constexpr int lanes_of = static_cast<int>(sizeof(Lanes) / sizeof(double));

// Names the type of vectors to a body, which cannot be given a value of it: passing vectors
// depends on the instruction set.
template <typename Lanes>
struct Use {
    using type = Lanes;
};

// Runs `body`, a generic lambda marked UNBEND_INLINE, with the vectors of this machine.
template <typename Body>
void dispatch_lanes(const Body &body) {
    if (has_wide_vectors())
        run_wide([&]() UNBEND_INLINE { body(Use<Wide>{}); });
    else
        body(Use<Narrow>{});
}

constexpr std::int32_t tile_rows = 8, tile_columns = 4;
// Columns factorised before the rest of a front is updated.
constexpr std::int32_t block_columns = 64;

template <typename Lanes>
UNBEND_INLINE inline void load(Lanes &to, const double *from) {
    std::memcpy(&to, from, sizeof to);
}
template <typename Lanes>
UNBEND_INLINE inline void store(double *to, const Lanes &from) {
    std::memcpy(to, &from, sizeof from);
}

// A tile of eight rows by four columns: sum[q] is column q.
template <typename Lanes>
struct Tile {
    static constexpr int parts = tile_rows / lanes_of<Lanes>;
    Lanes sum[4][parts];

    // The product of eight packed rows `a` with four packed rows `b`; eight sums at a time, which
    // is what registers hold.
    UNBEND_INLINE void multiply(const double *a, const double *b, std::int32_t depth) {
        for (int h = 0; h < parts; h += 2) {
            Lanes s[4][2] = {};
            const double *left = a + h * lanes_of<Lanes>, *right = b;
            for (std::int32_t p = 0; p < depth; ++p, left += tile_rows, right += tile_rows) {
                Lanes low, high;
                load(low, left);
                load(high, left + lanes_of<Lanes>);
                for (int q = 0; q < 4; ++q) {
                    s[q][0] += low * right[q];
                    s[q][1] += high * right[q];
                }
            }
            for (int q = 0; q < 4; ++q) {
                sum[q][h] = s[q][0];
                sum[q][h + 1] = s[q][1];
            }
        }
    }

    UNBEND_INLINE void column(int q, double (&to)[tile_rows]) const {
        for (int h = 0; h < parts; ++h) store(to + h * lanes_of<Lanes>, sum[q][h]);
    }
};

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
    double *signs = nullptr;    // of the front's columns, where negative pivots are allowed
    std::int64_t replaced = 0;
    std::int64_t negative = 0;
    std::int32_t failed = -1;   // first column, within the front, without a pivot

    // A pivot that can be divided by, and its sign.
    UNBEND_INLINE double accept(double pivot, double size, std::int32_t column, double &sign) {
        if (signs != nullptr) {
            if (!std::isfinite(pivot) || pivot == 0) return fail(column);
            sign = signs[column] = pivot < 0 ? -1.0 : 1.0;
            if (pivot < 0) ++negative;
            return std::fabs(pivot);
        }
        if (!std::isfinite(pivot) || !(size > 0) || pivot < negative_pivot * size)
            return fail(column);
        if (pivot >= tiny_pivot * size) return pivot;
        ++replaced;
        return tiny_pivot * size;
    }

    UNBEND_INLINE double fail(std::int32_t column) {
        if (failed < 0) failed = column;
        return 1.0;
    }
};

// Factor of four by four at row `o` of a tile, in place; `sign` are those of its pivots.
UNBEND_INLINE inline void factor_corner(double (&tile)[4][8], std::int32_t o, std::int32_t columns,
                                        const double *diagonal, std::int32_t at, Pivots &pivots,
                                        double (&sign)[4]) {
    for (std::int32_t q = 0; q < columns; ++q) {
        double pivot = tile[q][o + q];
        for (std::int32_t p = 0; p < q; ++p) pivot -= tile[p][o + q] * (sign[p] * tile[p][o + q]);
        sign[q] = 1.0;
        tile[q][o + q] = std::sqrt(pivots.accept(pivot, diagonal[at + q], at + q, sign[q]));
        const double inverse = sign[q] / tile[q][o + q];
        for (std::int32_t i = o + q + 1; i < o + columns; ++i) {
            double value = tile[q][i];
            for (std::int32_t p = 0; p < q; ++p) value -= tile[p][i] * (sign[p] * tile[p][o + q]);
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
    std::int64_t mirror;                // from the packed rows to the same times the signs; 0: none
    double sign[4], corner[4][4], inverse[4];

    template <typename Lanes>
    UNBEND_INLINE void run(double *packed, const double *right, std::int32_t row, bool diagonal,
                           Pivots &pivots) {
        Tile<Lanes> product;
        product.multiply(packed, right, depth);
        const std::int32_t count = std::min(tile_rows, front.rows - row);
        double tile[4][8] = {};
        for (std::int32_t q = 0; q < columns; ++q) {
            const double *from = front.column(begin + q) + row;
            double taken[tile_rows];
            product.column(q, taken);
            for (std::int32_t i = 0; i < count; ++i) tile[q][i] = from[i] - taken[i];
        }
        const std::int32_t o = begin - row;  // row of the corner, where the tile holds it
        if (diagonal) {
            factor_corner(tile, o, columns, front.diagonal, begin, pivots, sign);
            for (std::int32_t q = 0; q < columns; ++q) {
                inverse[q] = sign[q] / tile[q][o + q];
                for (std::int32_t p = 0; p < 4; ++p) corner[q][p] = sign[q] * tile[q][o + p];
                for (std::int32_t i = 0; i < o + q; ++i) tile[q][i] = 0.0;
            }
        }
        divide(tile, diagonal ? o + columns : 0);
        for (std::int32_t q = 0; q < columns; ++q) {
            double *to = front.column(begin + q) + row;
            for (std::int32_t i = diagonal ? o + q : 0; i < count; ++i) to[i] = tile[q][i];
            double *at = packed + (depth + q) * tile_rows;
            std::memcpy(at, tile[q], sizeof tile[q]);
            if (mirror == 0) continue;
            for (std::int32_t i = 0; i < tile_rows; ++i) at[mirror + i] = sign[q] * tile[q][i];
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
// result also goes to `packed`: groups of eight rows, each column by column; where pivots have
// signs, `mirror` numbers further on stands the same times them.
template <typename Lanes>
UNBEND_INLINE inline void factor_block(const Front &front, std::int32_t begin, std::int32_t columns,
                                       double *packed, std::int64_t mirror, Pivots &pivots) {
    const std::int64_t group = static_cast<std::int64_t>(columns) * tile_rows;
    for (std::int32_t done = 0; done < columns; done += tile_columns) {
        PanelTile tile{front, begin + done, std::min(tile_columns, columns - done), done, mirror,
                       {},    {},           {}};
        const std::int32_t first = done / tile_rows;
        const double *right = packed + mirror + first * group + done % tile_rows;
        std::int32_t row = begin + first * tile_rows;
        for (double *at = packed + first * group; row < front.rows; row += tile_rows, at += group)
            tile.template run<Lanes>(at, right, row, row <= begin + done, pivots);
    }
}

// Takes one product tile from the front; `fresh` columns of the update are set, not changed.
template <typename Lanes>
UNBEND_INLINE inline void subtract_tile(const Front &front, const Tile<Lanes> &product,
                                        std::int32_t row, std::int32_t column, std::int32_t least,
                                        bool fresh) {
    if (row >= column + 3 && row + tile_rows <= front.rows && column >= least) {
        for (int q = 0; q < 4; ++q) {
            double *to = front.column(column + q) + row;
            for (int h = 0; h < Tile<Lanes>::parts; ++h) {
                Lanes value = {};
                if (!(fresh && column + q >= front.width)) load(value, to + h * lanes_of<Lanes>);
                value -= product.sum[q][h];
                store(to + h * lanes_of<Lanes>, value);
            }
        }
        return;
    }
    for (std::int32_t q = 0; q < 4; ++q) {
        const std::int32_t c = column + q;
        if (c < least || c >= front.rows) continue;
        double *to = front.column(c);
        double taken[tile_rows];
        product.column(q, taken);
        const bool set = fresh && c >= front.width;
        for (std::int32_t i = std::max(row, c); i < std::min(row + tile_rows, front.rows); ++i)
            to[i] = (set ? 0.0 : to[i]) - taken[i - row];
    }
}

// The share of one task in the update of a front by a factorised block: rows of groups
// from .. to, all columns beyond the block.
template <typename Lanes>
UNBEND_INLINE inline void update_rows(const Front &front, std::int32_t begin, std::int32_t columns,
                                      const double *packed, std::int64_t mirror, std::int32_t from,
                                      std::int32_t to) {
    const std::int64_t group = static_cast<std::int64_t>(columns) * tile_rows;
    const std::int32_t least = begin + columns;
    const std::int32_t last = std::min(front.rows, begin + to * tile_rows);
    for (std::int32_t done = columns / tile_columns * tile_columns; begin + done < last;
         done += tile_columns) {
        const std::int32_t first = done / tile_rows;
        const double *right = packed + mirror + first * group + done % tile_rows;
        for (std::int32_t g = std::max(first, from); g < to; ++g) {
            Tile<Lanes> product;
            product.multiply(packed + g * group, right, columns);
            subtract_tile(front, product, begin + g * tile_rows, begin + done, least, begin == 0);
        }
    }
}

}  // namespace unbend
