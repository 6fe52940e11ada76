// Products of a few long vectors, the basis of a Krylov space, with a block of some more.
//
// Rows are taken in blocks, and sums over blocks have one order, whatever the number of threads or the
// instruction set.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "poll.hpp"
#include "simd_wide.hpp"

namespace unbend {

// Rows of one task, a multiple of eight: four columns of a block stay in the first cache.
constexpr std::int64_t tall_rows = 512;

// A basis of `count` vectors of length n, one after the other.
struct Basis {
    const double *vectors;
    std::int64_t count, n;

    const double *rows(std::int64_t vector, std::int64_t first) const {
        return vectors + vector * n + first;
    }
};

// Four columns of some rows of a block (n, width), one after the other, filled up with zeros.
struct FourColumns {
    double values[4][tall_rows];

    void load(const double *block, std::int64_t width, std::int64_t column, std::int64_t first,
              std::int64_t count) {
        const std::int64_t wide = std::min<std::int64_t>(4, width - column);
        if (wide == 4)
            for (std::int64_t r = 0; r < count; ++r)
                for (int c = 0; c < 4; ++c) values[c][r] = block[(first + r) * width + column + c];
        else
            for (std::int64_t c = 0; c < 4; ++c)
                for (std::int64_t r = 0; r < count; ++r)
                    values[c][r] = c < wide ? block[(first + r) * width + column + c] : 0.0;
    }

    void store(double *block, std::int64_t width, std::int64_t column, std::int64_t first,
               std::int64_t count) const {
        const std::int64_t wide = std::min<std::int64_t>(4, width - column);
        for (std::int64_t r = 0; r < count; ++r)
            for (std::int64_t c = 0; c < wide; ++c)
                block[(first + r) * width + column + c] = values[c][r];
    }
};

// Inner products of some rows of a vector with four columns.
UNBEND_INLINE inline void dot_four(const double *vector, std::int64_t count,
                                   const FourColumns &columns, double (&found)[4]) {
    using Lanes = Side<double>::Lanes;
    Lanes even[4] = {}, odd[4] = {};
    std::int64_t r = 0;
    for (; r + 8 <= count; r += 8)
        for (int c = 0; c < 4; ++c) {
            even[c] += lanes(vector + r) * lanes(columns.values[c] + r);
            odd[c] += lanes(vector + r + 4) * lanes(columns.values[c] + r + 4);
        }
    for (int c = 0; c < 4; ++c) {
        double sum = sum_of(even[c] + odd[c]);
        for (std::int64_t rest = r; rest < count; ++rest)
            sum += vector[rest] * columns.values[c][rest];
        found[c] = sum;
    }
}

// Sums over tasks, in their order.
inline void sum_parts(const std::vector<double> &parts, std::int64_t size, double *result) {
    std::fill_n(result, size, 0.0);
    for (std::size_t start = 0; start < parts.size(); start += size)
        for (std::int64_t at = 0; at < size; ++at) result[at] += parts[start + at];
}

// result (count, width) = basis · block.
inline void inner_products(const Basis &basis, const double *block, std::int64_t width, int threads,
                           double *result) {
    const std::int64_t tasks = (basis.n + tall_rows - 1) / tall_rows, size = basis.count * width;
    std::vector<double> parts(tasks * size);
    run_tasks(
        tasks, threads_for(2.0 * basis.n * size, threads), [] { return FourColumns(); },
        [&](FourColumns &columns, std::int64_t task) {
            const std::int64_t first = task * tall_rows;
            const std::int64_t count = std::min(tall_rows, basis.n - first);
            double *part = parts.data() + task * size;
            for (std::int64_t column = 0; column < width; column += 4) {
                columns.load(block, width, column, first, count);
                dispatch([&]() UNBEND_INLINE {
                    for (std::int64_t v = 0; v < basis.count; ++v) {
                        double found[4];
                        dot_four(basis.rows(v, first), count, columns, found);
                        for (std::int64_t c = column; c < std::min(column + 4, width); ++c)
                            part[v * width + c] = found[c - column];
                    }
                });
            }
        });
    sum_parts(parts, size, result);
}

// gram (width, width) = block' · block.
inline void gram(const double *block, std::int64_t n, std::int64_t width, int threads,
                 double *result) {
    const std::int64_t tasks = (n + tall_rows - 1) / tall_rows, size = width * width;
    std::vector<double> parts(tasks * size);
    struct Two {
        FourColumns left, right;
    };
    run_tasks(
        tasks, threads_for(2.0 * n * size, threads), [] { return Two(); },
        [&](Two &own, std::int64_t task) {
            const std::int64_t first = task * tall_rows, count = std::min(tall_rows, n - first);
            double *part = parts.data() + task * size;
            for (std::int64_t row = 0; row < width; row += 4) {
                own.left.load(block, width, row, first, count);
                for (std::int64_t column = 0; column < width; column += 4) {
                    own.right.load(block, width, column, first, count);
                    dispatch([&]() UNBEND_INLINE {
                        for (std::int64_t r = row; r < std::min(row + 4, width); ++r) {
                            double found[4];
                            dot_four(own.left.values[r - row], count, own.right, found);
                            for (std::int64_t c = column; c < std::min(column + 4, width); ++c)
                                part[r * width + c] = found[c - column];
                        }
                    });
                }
            }
        });
    sum_parts(parts, size, result);
}

// vectors (width, n) = block (n, width) with its columns one after the other.
inline void store_columns(const double *block, std::int64_t n, std::int64_t width, int threads,
                          double *vectors) {
    run_tasks(
        (n + tall_rows - 1) / tall_rows, threads_for(2.0 * n * width, threads),
        [] { return FourColumns(); }, [&](FourColumns &columns, std::int64_t task) {
            const std::int64_t first = task * tall_rows, count = std::min(tall_rows, n - first);
            for (std::int64_t column = 0; column < width; column += 4) {
                columns.load(block, width, column, first, count);
                for (std::int64_t c = column; c < std::min(column + 4, width); ++c)
                    std::copy_n(columns.values[c - column], count, vectors + c * n + first);
            }
        });
}

// Adds multiples of V vectors of the basis to four columns, which are loaded once for all of them.
template <int V>
UNBEND_INLINE inline void add_vectors(const Basis &basis, std::int64_t vector, std::int64_t first,
                                      std::int64_t count, const double *coefficients,
                                      std::int64_t width, std::int64_t column,
                                      FourColumns &columns) {
    using Lanes = Side<double>::Lanes;
    const double *rows[V];
    double factor[V][4] = {};
    for (int v = 0; v < V; ++v) {
        rows[v] = basis.rows(vector + v, first);
        for (std::int64_t c = column; c < std::min(column + 4, width); ++c)
            factor[v][c - column] = coefficients[(vector + v) * width + c];
    }
    std::int64_t r = 0;
    for (; r + 4 <= count; r += 4) {
        Lanes values[V];
        for (int v = 0; v < V; ++v) values[v] = lanes(rows[v] + r);
        for (int c = 0; c < 4; ++c) {
            Lanes sum = lanes(columns.values[c] + r);
            for (int v = 0; v < V; ++v) sum += factor[v][c] * values[v];
            store_lanes(columns.values[c] + r, sum);
        }
    }
    for (; r < count; ++r)
        for (int c = 0; c < 4; ++c)
            for (int v = 0; v < V; ++v) columns.values[c][r] += factor[v][c] * rows[v][r];
}

// block (n, width) += combinations of the basis with coefficients (count, width).
inline void add_combinations(const Basis &basis, const double *coefficients, std::int64_t width,
                             int threads, double *block) {
    const std::int64_t tasks = (basis.n + tall_rows - 1) / tall_rows;
    run_tasks(
        tasks, threads_for(2.0 * basis.n * basis.count * width, threads),
        [] { return FourColumns(); },
        [&](FourColumns &columns, std::int64_t task) {
            const std::int64_t first = task * tall_rows;
            const std::int64_t count = std::min(tall_rows, basis.n - first);
            for (std::int64_t column = 0; column < width; column += 4) {
                columns.load(block, width, column, first, count);
                dispatch([&]() UNBEND_INLINE {
                    std::int64_t v = 0;
                    for (; v + 4 <= basis.count; v += 4)
                        add_vectors<4>(basis, v, first, count, coefficients, width, column, columns);
                    for (; v < basis.count; ++v)
                        add_vectors<1>(basis, v, first, count, coefficients, width, column, columns);
                });
                columns.store(block, width, column, first, count);
            }
        });
}

// result (n, width) = block · turn, for a small square matrix.
inline void turn_rows(const double *block, std::int64_t n, std::int64_t width, const double *turn,
                      int threads, double *result) {
    run_blocks(
        0, n, tall_rows, threads_for(2.0 * n * width * width, threads), [] { return 0; },
        [&](int, std::int64_t i) UNBEND_INLINE {
            for (std::int64_t c = 0; c < width; ++c) {
                double sum = 0;
                for (std::int64_t k = 0; k < width; ++k)
                    sum += block[i * width + k] * turn[k * width + c];
                result[i * width + c] = sum;
            }
        });
}

}  // namespace unbend
