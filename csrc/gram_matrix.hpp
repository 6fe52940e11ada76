// Gram matrices of up to a few thousand rows: Gaussians of inner products, centring, and products with
// few vectors, each in one pass over the matrix. Threads share rows, and no result depends on them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dot_tiles.hpp"
#include "moments.hpp"
#include "poll.hpp"

namespace unbend {

// Exponentials of numbers between -700 and 0, to about one unit in the last place: x = k ln 2 + r
// with |r| <= ln 2 / 2, a Taylor series of exp r, and k added to the exponent.
template <typename Lanes>
UNBEND_INLINE inline Lanes exponential(const Lanes &x) {
    using Bits = typename BitsOf<Lanes>::type;
    constexpr double integers = 6755399441055744.0;  // 1.5 * 2^52: sums are rounded to integers
    const Lanes shifted = x * 1.4426950408889634074 + integers, k = shifted - integers;
    const Lanes r = (x - k * 6.93145751953125e-1) - k * 1.42860682030941723212e-6;
    Lanes sum = r * (1.0 / 6227020800.0) + 1.0 / 479001600.0;
    sum = sum * r + 1.0 / 39916800.0;
    sum = sum * r + 1.0 / 3628800.0;
    sum = sum * r + 1.0 / 362880.0;
    sum = sum * r + 1.0 / 40320.0;
    sum = sum * r + 1.0 / 5040.0;
    sum = sum * r + 1.0 / 720.0;
    sum = sum * r + 1.0 / 120.0;
    sum = sum * r + 1.0 / 24.0;
    sum = sum * r + 1.0 / 6.0;
    sum = sum * r + 0.5;
    sum = sum * r + 1.0;
    sum = sum * r + 1.0;
    return (Lanes)((Bits)sum + ((Bits)shifted << 52));
}

// Rows and columns of a tile, which stays in the first cache beside its mirror image.
constexpr std::int64_t gram_tile = 32;

// One tile of the Gaussians below, and its mirror image.
template <typename Lanes>
UNBEND_INLINE inline void gaussian_tile(double *matrix, std::int64_t n, const double *half,
                                        std::int64_t top, std::int64_t left) {
    constexpr int step = lanes_of<Lanes>;
    const std::int64_t bottom = std::min(top + gram_tile, n);
    double tile[gram_tile][gram_tile] = {};
    for (std::int64_t i = top; i < bottom; ++i) {
        // The last tile is filled up beyond the matrix.
        const std::int64_t width = std::min(gram_tile, n - left);
        double *to = tile[i - top];
        const double *from = matrix + i * n + left;
        for (std::int64_t j = 0; j < width; ++j)
            to[j] = std::min(from[j] - (half[i] + half[left + j]), 0.0);
        for (std::int64_t j = 0; j < gram_tile; j += step)
            store_lanes(to + j, exponential(load_lanes<Lanes>(to + j)));
    }
    for (std::int64_t i = top; i < bottom; ++i)
        for (std::int64_t j = left; j < std::min(left + gram_tile, i + 1); ++j)
            matrix[i * n + j] = tile[i - top][j - left];
    for (std::int64_t j = left; j < std::min(left + gram_tile, n); ++j)
        for (std::int64_t i = std::max(top, j); i < bottom; ++i)
            matrix[j * n + i] = tile[i - top][j - left];
}

// Inner products p become exp(p_ij - (p_ii + p_jj) / 2), in place, from the lower triangle alone.
inline void gaussians(double *matrix, std::int64_t n, int threads) {
    std::vector<double> half(n);
    for (std::int64_t i = 0; i < n; ++i) half[i] = matrix[i * n + i] / 2;
    run_tasks((n + gram_tile - 1) / gram_tile, threads_for(20.0 * n * n, threads), [] { return 0; },
              [&](int, std::int64_t row) {
                  dispatch_lanes([&](auto use) UNBEND_INLINE {
                      const std::int64_t top = row * gram_tile;
                      for (std::int64_t left = 0; left <= top; left += gram_tile)
                          gaussian_tile<typename decltype(use)::type>(matrix, n, half.data(), top,
                                                                      left);
                  });
              });
}

// Adds values[i] + values[j] to entry ij.
inline void add_to_pairs(double *matrix, std::int64_t n, const double *values, int threads) {
    run_blocks(0, n, 64, threads_for(2.0 * n * n, threads), [] { return 0; },
               [&](int, std::int64_t i) UNBEND_INLINE {
                   const double own = values[i];
                   double *row = matrix + i * n;
                   for (std::int64_t j = 0; j < n; ++j) row[j] += own + values[j];
               });
}

// result (width, n) = vectors (width, n) times a symmetric matrix.
inline void few_products(const double *matrix, std::int64_t n, const double *vectors,
                         std::int64_t width, int threads, double *result) {
    constexpr std::int64_t rows = 64;
    run_tasks((n + rows - 1) / rows, threads_for(2.0 * n * n * width, threads), [] { return 0; },
              [&](int, std::int64_t task) {
                  dispatch_lanes([&](auto use) UNBEND_INLINE {
                      using Lanes = typename decltype(use)::type;
                      std::int64_t i = task * rows;
                      const std::int64_t end = std::min(i + rows, n);
                      for (; i + 4 <= end; i += 4)
                          dot_rows<Lanes, 4>(matrix + i * n, vectors, width, n, result + i, n);
                      for (; i < end; ++i)
                          dot_rows<Lanes, 1>(matrix + i * n, vectors, width, n, result + i, n);
                  });
              });
}

}  // namespace unbend
