// Placing new rows by their shortest paths, each through one of its neighbours, to fitted rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "dispatch.hpp"
#include "watch.hpp"

namespace unbend {

// What is known of the fitted rows: the lengths of paths (rows, ends) from each of them, and the
// weights (width, ends) by which squared lengths become coordinates.
template <typename Real>
struct FittedPaths {
    const Real *paths;
    std::int64_t rows, ends;
    double shift;
    const double *weights;
    std::int64_t width;
};

// New rows: their neighbours among the fitted rows and the distances to them, (count, k). An
// infinite distance is no neighbour.
template <typename Real>
struct NewRows {
    const std::int32_t *neighbors;
    const Real *distances;
    std::int64_t count, k;
};

// Lowers `shortest` to the ways through four neighbours: the more at once, the fewer times it is
// read and written.
template <typename Real>
UNBEND_INLINE inline void lower_by_four(const Real *const (&path)[4], const Real (&distance)[4],
                                        std::int64_t size, Real *shortest) {
    const Real *a = path[0], *b = path[1], *c = path[2], *d = path[3];
#pragma GCC ivdep
    for (std::int64_t e = 0; e < size; ++e) {
        const Real first = distance[0] + a[e], second = distance[1] + b[e];
        const Real third = distance[2] + c[e], fourth = distance[3] + d[e];
        const Real left = first < second ? first : second;
        const Real right = third < fourth ? third : fourth;
        const Real least = left < right ? left : right;
        shortest[e] = least < shortest[e] ? least : shortest[e];
    }
}

// The path lengths of one new row to the ends first .. first + size.
template <typename Real>
UNBEND_INLINE inline void shortest_through(const FittedPaths<Real> &fitted,
                                           const NewRows<Real> &rows, std::int64_t row,
                                           std::int64_t first, std::int64_t size, Real *shortest) {
    std::fill(shortest, shortest + size, std::numeric_limits<Real>::infinity());
    for (std::int64_t j = 0; j < rows.k; j += 4) {
        const Real *path[4];
        Real distance[4];
        for (int way = 0; way < 4; ++way) {
            // Where there are not four more, the last is taken again.
            const std::int64_t entry = row * rows.k + std::min(j + way, rows.k - 1);
            path[way] = fitted.paths + rows.neighbors[entry] * fitted.ends + first;
            distance[way] = rows.distances[entry];
        }
        lower_by_four(path, distance, size, shortest);
    }
}

// New rows in the order of their nearest fitted rows: those that have it in common read the same
// paths.
template <typename Real>
std::vector<std::int64_t> by_nearest(const FittedPaths<Real> &fitted, const NewRows<Real> &rows) {
    std::vector<std::int64_t> next(fitted.rows + 1, 0), order(rows.count);
    for (std::int64_t row = 0; row < rows.count; ++row) ++next[rows.neighbors[row * rows.k] + 1];
    for (std::int64_t i = 0; i < fitted.rows; ++i) next[i + 1] += next[i];
    for (std::int64_t row = 0; row < rows.count; ++row)
        order[next[rows.neighbors[row * rows.k]]++] = row;
    return order;
}

// Σ (shortest + shift)² w over some ends; four partial sums, so that it vectorises.
template <typename Real>
UNBEND_INLINE inline double weighted_squares(const Real *shortest, double shift, std::int64_t size,
                                             const double *weights) {
    double sum[4] = {};
    std::int64_t e = 0;
    for (; e + 4 <= size; e += 4)
        for (int lane = 0; lane < 4; ++lane) {
            const double length = static_cast<double>(shortest[e + lane]) + shift;
            sum[lane] += length * length * weights[e + lane];
        }
    for (; e < size; ++e) {
        const double length = static_cast<double>(shortest[e]) + shift;
        sum[0] += length * length * weights[e];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// placed (count, width) = Σ over the ends of (path length + shift)² times weights.
//
// Ends are taken in tiles, some rows for each: the paths of a tile stay in cache while rows that
// have neighbours in common read them.
template <typename Real>
void place_by_paths(const FittedPaths<Real> &fitted, const NewRows<Real> &rows, int threads,
                    const Poll &poll, double *placed) {
    constexpr std::int64_t at_once = 512, tile = 1024;
    std::fill(placed, placed + rows.count * fitted.width, 0.0);
    const std::vector<std::int64_t> order = by_nearest(fitted, rows);
    const std::int64_t tiles = (fitted.ends + tile - 1) / tile;
    Watch watch(poll, rows.count * tiles);
    run_tasks((rows.count + at_once - 1) / at_once, threads, watch, [] { return 0; },
              [&](int, std::int64_t t) {
        const std::int64_t start = t * at_once, stop = std::min(start + at_once, rows.count);
        for (std::int64_t first = 0; first < fitted.ends && !watch.stopped(); first += tile) {
            const std::int64_t size = std::min(tile, fitted.ends - first);
            dispatch([&]() UNBEND_INLINE {
                Real shortest[tile];
                for (std::int64_t i = start; i < stop; ++i) {
                    const std::int64_t row = order[i];
                    shortest_through(fitted, rows, row, first, size, shortest);
                    for (std::int64_t w = 0; w < fitted.width; ++w)
                        placed[row * fitted.width + w] +=
                            weighted_squares(shortest, fitted.shift, size,
                                             fitted.weights + w * fitted.ends + first);
                }
            });
            watch.advance(stop - start);
        }
    });
    watch.finish();
}

}  // namespace unbend
