// Four small symmetric systems (A + ridge) x = b at once, one in each lane.
#pragma once

#include <cstdint>
#include <limits>

#include "simd_four.hpp"

namespace unbend {

// Adds reg * trace(A) to the diagonal of A (n, n); a matrix of zeros becomes the identity.
UNBEND_INLINE void add_ridge(Four<double> *matrix, std::int64_t n, double reg) {
    Four<double> trace = Four<double>::all(0);
    for (std::int64_t i = 0; i < n; ++i) trace = trace + matrix[i * n + i];
    double lane[4];
    for (int i = 0; i < 4; ++i) lane[i] = trace.pack[i] > 0 ? reg * trace.pack[i] : 1.0;
    const Four<double> ridge = Four<double>::load(lane);
    for (std::int64_t i = 0; i < n; ++i) matrix[i * n + i] = matrix[i * n + i] + ridge;
}

// Pivots that are rounding of what they were become NaN, and with them the whole lane.
UNBEND_INLINE Four<double> positive_pivot(const Four<double> &pivot, const Four<double> &before,
                                          std::int64_t n) {
    const double least = 16 * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
    double lane[4];
    for (int i = 0; i < 4; ++i)
        lane[i] = pivot.pack[i] > least * before.pack[i]
                      ? pivot.pack[i]
                      : std::numeric_limits<double>::quiet_NaN();
    return Four<double>::load(lane);
}

// L D L' in the place of the lower half, without roots, so that the unit of length drops out exactly.
UNBEND_INLINE void factor_ldl(Four<double> *matrix, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) {
        Four<double> *row = matrix + j * n;
        const Four<double> before = row[j];
        for (std::int64_t p = 0; p < j; ++p) row[j] = row[j] - row[p] * row[p] * matrix[p * n + p];
        row[j] = positive_pivot(row[j], before, n);
        for (std::int64_t i = j + 1; i < n; ++i) {
            Four<double> *below = matrix + i * n;
            Four<double> sum = below[j];
            for (std::int64_t p = 0; p < j; ++p)
                sum = sum - below[p] * row[p] * matrix[p * n + p];
            below[j] = sum / row[j];
        }
    }
}

// x in the place of b.
UNBEND_INLINE void substitute_ldl(const Four<double> *matrix, std::int64_t n, Four<double> *x) {
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t p = 0; p < i; ++p) x[i] = x[i] - matrix[i * n + p] * x[p];
    for (std::int64_t i = n - 1; i >= 0; --i) {
        Four<double> sum = x[i] / matrix[i * n + i];
        for (std::int64_t p = i + 1; p < n; ++p) sum = sum - matrix[p * n + i] * x[p];
        x[i] = sum;
    }
}

}  // namespace unbend
