// Products of long rows with few axes: every row is read once, and its sums do not depend on the other rows.
#pragma once

#include <cstdint>

#include "dense.hpp"
#include "dispatch.hpp"

namespace unbend {

// Sums of R rows with K axes: vectors, and then what is left number by number.
template <typename Lanes, int R, int K>
UNBEND_INLINE inline void thin_rows(const double *rows, const double *center, const double *axes,
                                    std::int64_t columns, double *products) {
    constexpr int lanes = lanes_of<Lanes>;
    const std::int64_t whole = columns / lanes * lanes;
    Lanes sum[R][K] = {};
    for (std::int64_t c = 0; c < whole; c += lanes) {
        Lanes middle;
        load(middle, center + c);
        for (int r = 0; r < R; ++r) {
            // No array of vectors: GCC would keep it on the stack.
            Lanes x;
            load(x, rows + r * columns + c);
            x -= middle;
            for (int k = 0; k < K; ++k) {
                Lanes axis;
                load(axis, axes + k * columns + c);
                sum[r][k] += x * axis;
            }
        }
    }
    for (int r = 0; r < R; ++r)
        for (int k = 0; k < K; ++k) {
            double part[lanes], total = 0;
            store(part, sum[r][k]);
            for (int l = 0; l < lanes; ++l) total += part[l];
            for (std::int64_t c = whole; c < columns; ++c)
                total += (rows[r * columns + c] - center[c]) * axes[k * columns + c];
            products[r * K + k] = total;
        }
}

template <typename Lanes, int K>
UNBEND_INLINE inline void thin_block(const double *rows, std::int64_t n, const double *center,
                                     const double *axes, std::int64_t columns, double *products) {
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        thin_rows<Lanes, 4, K>(rows + i * columns, center, axes, columns, products + i * K);
    for (; i < n; ++i)
        thin_rows<Lanes, 1, K>(rows + i * columns, center, axes, columns, products + i * K);
}

// products (n, count) of rows (n, columns), less a center, with up to `most_axes` axes.
constexpr std::int64_t most_axes = 2;

inline void thin_products(const double *rows, std::int64_t n, const double *center,
                          const double *axes, std::int64_t count, std::int64_t columns,
                          double *products) {
    dispatch_lanes([&](auto use) UNBEND_INLINE {
        using Lanes = typename decltype(use)::type;
        if (count == 1)
            thin_block<Lanes, 1>(rows, n, center, axes, columns, products);
        else
            thin_block<Lanes, 2>(rows, n, center, axes, columns, products);
    });
}

}  // namespace unbend
