// Placing new rows by their shortest paths, each through one of its neighbours, to fitted rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
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

// Lowers `shortest` to the ways through some neighbours: the more at once, the fewer times it is
// read and written. The first ones only write it.
template <int Ways, bool First, typename Real>
UNBEND_INLINE inline void lower_by(const FittedPaths<Real> &fitted, const std::int32_t *neighbors,
                                   const Real *distances, std::int64_t first, std::int64_t size,
                                   Real *shortest) {
    const Real *path[Ways];
    for (int way = 0; way < Ways; ++way)
        path[way] = fitted.paths + neighbors[way] * fitted.ends + first;
#pragma GCC ivdep
    for (std::int64_t e = 0; e < size; ++e) {
        Real least = distances[0] + path[0][e];
        for (int way = 1; way < Ways; ++way) {
            const Real other = distances[way] + path[way][e];
            least = other < least ? other : least;
        }
        shortest[e] = First || least < shortest[e] ? least : shortest[e];
    }
}

// The path lengths of one new row to the ends first .. first + size.
template <typename Real>
UNBEND_INLINE inline void shortest_through(const FittedPaths<Real> &fitted,
                                           const NewRows<Real> &rows, std::int64_t row,
                                           std::int64_t first, std::int64_t size, Real *shortest) {
    const std::int32_t *neighbors = rows.neighbors + row * rows.k;
    const Real *distances = rows.distances + row * rows.k;
    std::int64_t j = 1;
    if (rows.k >= 8) {
        lower_by<8, true>(fitted, neighbors, distances, first, size, shortest);
        j = 8;
    } else {
        lower_by<1, true>(fitted, neighbors, distances, first, size, shortest);
    }
    for (; j + 4 <= rows.k; j += 4)
        lower_by<4, false>(fitted, neighbors + j, distances + j, first, size, shortest);
    for (; j + 2 <= rows.k; j += 2)
        lower_by<2, false>(fitted, neighbors + j, distances + j, first, size, shortest);
    for (; j < rows.k; ++j)
        lower_by<1, false>(fitted, neighbors + j, distances + j, first, size, shortest);
}

// Numbers of fitted rows along a curve that fills the surface: rows that are near on it are mostly
// near each other. Path lengths to two ends are coordinates, one at an end of the longest path and
// one far from both of its ends.
template <typename Real>
std::vector<std::int64_t> surface_order(const FittedPaths<Real> &fitted) {
    const std::int64_t rows = fitted.rows, ends = fitted.ends;
    const auto length = [&](std::int64_t row, std::int64_t end) {
        const Real found = fitted.paths[row * ends + end];
        return found < std::numeric_limits<Real>::infinity() ? found : Real(0);
    };
    std::int64_t first = 0, near = 0, far = 0, second = 0;
    for (std::int64_t e = 1; e < ends; ++e)
        if (length(0, e) > length(0, first)) first = e;
    for (std::int64_t row = 1; row < rows; ++row) {
        if (length(row, first) < length(near, first)) near = row;
        if (length(row, first) > length(far, first)) far = row;
    }
    const auto away = [&](std::int64_t e) { return std::min(length(near, e), length(far, e)); };
    for (std::int64_t e = 1; e < ends; ++e)
        if (away(e) > away(second)) second = e;
    constexpr int bits = 12;
    const Real most = std::max(length(far, first), std::numeric_limits<Real>::min());
    std::vector<std::pair<std::uint32_t, std::int64_t>> keys(rows);
    for (std::int64_t row = 0; row < rows; ++row) {
        std::uint32_t key = 0;
        int place = 0;
        for (const std::int64_t end : {first, second}) {
            const Real share = std::min(length(row, end) / most, Real(1));
            const auto step = static_cast<std::uint32_t>(share * ((1 << bits) - 1));
            for (int bit = 0; bit < bits; ++bit) key |= (step >> bit & 1u) << (2 * bit + place);
            ++place;
        }
        keys[row] = {key, row};
    }
    std::sort(keys.begin(), keys.end());
    std::vector<std::int64_t> rank(rows);
    for (std::int64_t i = 0; i < rows; ++i) rank[keys[i].second] = i;
    return rank;
}

// New rows in the order of their nearest fitted rows on the surface: those that have neighbours in
// common follow each other and read the same paths.
template <typename Real>
std::vector<std::int64_t> by_nearest(const FittedPaths<Real> &fitted, const NewRows<Real> &rows) {
    const std::vector<std::int64_t> rank = surface_order(fitted);
    std::vector<std::int64_t> next(fitted.rows + 1, 0), order(rows.count);
    const auto nearest = [&](std::int64_t row) { return rank[rows.neighbors[row * rows.k]]; };
    for (std::int64_t row = 0; row < rows.count; ++row) ++next[nearest(row) + 1];
    for (std::int64_t i = 0; i < fitted.rows; ++i) next[i + 1] += next[i];
    for (std::int64_t row = 0; row < rows.count; ++row) order[next[nearest(row)]++] = row;
    return order;
}

// Adds Σ (shortest + shift)² w over some ends for each of `Width` weights, `ends` apart. Sixteen
// partial sums: vectors of four, and four of these so that none waits for the last.
template <int Width, typename Real>
UNBEND_INLINE inline void add_squares(const Real *shortest, double shift, std::int64_t size,
                                      const double *weights, std::int64_t ends, double *placed) {
    constexpr int lanes = 16;
    double sum[Width][lanes] = {};
    std::int64_t e = 0;
    for (; e + lanes <= size; e += lanes)
        for (int lane = 0; lane < lanes; ++lane) {
            const double length = static_cast<double>(shortest[e + lane]) + shift;
            const double square = length * length;
            for (int w = 0; w < Width; ++w) sum[w][lane] += square * weights[w * ends + e + lane];
        }
    for (; e < size; ++e) {
        const double length = static_cast<double>(shortest[e]) + shift;
        for (int w = 0; w < Width; ++w) sum[w][0] += length * length * weights[w * ends + e];
    }
    for (int w = 0; w < Width; ++w) {
        for (int half = lanes / 2; half > 0; half /= 2)
            for (int lane = 0; lane < half; ++lane) sum[w][lane] += sum[w][lane + half];
        placed[w] += sum[w][0];
    }
}

// placed (count, width) = Σ over the ends of (path length + shift)² times weights.
//
// Ends are taken in tiles, some rows for each: the paths of a tile stay in cache while rows that
// have neighbours in common read them.
template <typename Real>
void place_by_paths(const FittedPaths<Real> &fitted, const NewRows<Real> &rows, int threads,
                    const Poll &poll, double *placed) {
    constexpr std::int64_t at_once = 512, tile = 512;
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
                    const double *weights = fitted.weights + first;
                    double *own = placed + row * fitted.width;
                    std::int64_t w = 0;
                    for (; w + 2 <= fitted.width; w += 2)
                        add_squares<2>(shortest, fitted.shift, size, weights + w * fitted.ends,
                                       fitted.ends, own + w);
                    if (w < fitted.width)
                        add_squares<1>(shortest, fitted.shift, size, weights + w * fitted.ends,
                                       fitted.ends, own + w);
                }
            });
            watch.advance(stop - start);
        }
    });
    watch.finish();
}

}  // namespace unbend
