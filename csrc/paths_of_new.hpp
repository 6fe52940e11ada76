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

// The path lengths of one new row to the ends first .. first + size.
template <typename Real>
UNBEND_INLINE inline void shortest_through(const FittedPaths<Real> &fitted,
                                           const NewRows<Real> &rows, std::int64_t row,
                                           std::int64_t first, std::int64_t size, Real *shortest) {
    std::fill(shortest, shortest + size, std::numeric_limits<Real>::infinity());
    for (std::int64_t j = row * rows.k; j < (row + 1) * rows.k; ++j) {
        const Real distance = rows.distances[j];
        if (distance == std::numeric_limits<Real>::infinity()) continue;
        const Real *path = fitted.paths + rows.neighbors[j] * fitted.ends + first;
        for (std::int64_t e = 0; e < size; ++e) {
            const Real through = distance + path[e];
            shortest[e] = through < shortest[e] ? through : shortest[e];
        }
    }
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
// Ends are taken in tiles, all rows for each: the paths of a tile stay in cache while many rows
// read them.
template <typename Real>
void place_by_paths(const FittedPaths<Real> &fitted, const NewRows<Real> &rows, int threads,
                    const Poll &poll, double *placed) {
    constexpr std::int64_t at_once = 4096, largest = 1024, cache = 8 << 20;
    const std::int64_t column = std::max<std::int64_t>(fitted.rows * sizeof(Real), 1);
    const std::int64_t tile = std::clamp<std::int64_t>(cache / column / 16 * 16, 64, largest);
    std::fill(placed, placed + rows.count * fitted.width, 0.0);
    const std::int64_t tiles = (fitted.ends + tile - 1) / tile;
    Watch watch(poll, rows.count * tiles);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (std::int64_t start = 0; start < rows.count; start += at_once) {
        const std::int64_t stop = std::min(start + at_once, rows.count);
        for (std::int64_t first = 0; first < fitted.ends && !watch.stopped(); first += tile) {
            const std::int64_t size = std::min(tile, fitted.ends - first);
            dispatch([&]() UNBEND_INLINE {
                Real shortest[largest];
                for (std::int64_t row = start; row < stop; ++row) {
                    shortest_through(fitted, rows, row, first, size, shortest);
                    for (std::int64_t w = 0; w < fitted.width; ++w)
                        placed[row * fitted.width + w] +=
                            weighted_squares(shortest, fitted.shift, size,
                                             fitted.weights + w * fitted.ends + first);
                }
            });
            watch.advance(calling_thread(), stop - start);
        }
    }
    watch.finish();
}

}  // namespace unbend
