// Inner products of long rows with a few vectors, tile by tile in registers.
#pragma once

#include <cstdint>

#include "dense.hpp"
#include "dispatch.hpp"
#include "simd_memory.hpp"

namespace unbend {

// Inner products of R rows with V vectors of length n, each one after the other: that of row r and
// vector v is at result[v * stride + r].
template <typename Lanes, int R, int V>
UNBEND_INLINE inline void dot_tile(const double *rows, const double *vectors, std::int64_t n,
                                   double *result, std::int64_t stride) {
    constexpr int step = lanes_of<Lanes>;
    const std::int64_t whole = n / step * step;
    Lanes sum[R][V] = {};
    for (std::int64_t j = 0; j < whole; j += step)
        for (int v = 0; v < V; ++v) {
            const Lanes one = load_lanes<Lanes>(vectors + v * n + j);
            for (int r = 0; r < R; ++r) sum[r][v] += load_lanes<Lanes>(rows + r * n + j) * one;
        }
    for (int r = 0; r < R; ++r)
        for (int v = 0; v < V; ++v) {
            double part[step], total = 0;
            store_lanes(part, sum[r][v]);
            for (int l = 0; l < step; ++l) total += part[l];
            for (std::int64_t j = whole; j < n; ++j) total += rows[r * n + j] * vectors[v * n + j];
            result[v * stride + r] = total;
        }
}

template <typename Lanes, int R>
UNBEND_INLINE inline void dot_rows(const double *rows, const double *vectors, std::int64_t width,
                                   std::int64_t n, double *result, std::int64_t stride) {
    std::int64_t v = 0;
    for (; v + 3 <= width; v += 3)
        dot_tile<Lanes, R, 3>(rows, vectors + v * n, n, result + v * stride, stride);
    if (width - v == 2) dot_tile<Lanes, R, 2>(rows, vectors + v * n, n, result + v * stride, stride);
    if (width - v == 1) dot_tile<Lanes, R, 1>(rows, vectors + v * n, n, result + v * stride, stride);
}

}  // namespace unbend
