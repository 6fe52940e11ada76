// D − W of a weighted graph, scaled on both sides.
#pragma once

#include <cstdint>

namespace unbend {

// A matrix in compressed rows, columns rising.
struct Weights {
    std::int64_t n;
    const std::int64_t *row;
    const std::int32_t *column;
    const double *value;
};

// Fills diag(factor) (diag(degree) − W) diag(factor), with all of its diagonal, and returns the number
// of its entries; there is room for those of W and one more a row.
inline std::int64_t scaled_difference(const Weights &weights, const double *degree,
                                      const double *factor, std::int64_t *row,
                                      std::int32_t *column, double *value) {
    std::int64_t put = 0;
    row[0] = 0;
    for (std::int64_t i = 0; i < weights.n; ++i) {
        const double here = factor[i];
        std::int64_t e = weights.row[i];
        const std::int64_t end = weights.row[i + 1];
        for (; e < end && weights.column[e] < i; ++e, ++put) {
            column[put] = weights.column[e];
            value[put] = -weights.value[e] * here * factor[weights.column[e]];
        }
        const bool loop = e < end && weights.column[e] == i;
        column[put] = static_cast<std::int32_t>(i);
        value[put++] = (degree[i] - (loop ? weights.value[e++] : 0.0)) * here * here;
        for (; e < end; ++e, ++put) {
            column[put] = weights.column[e];
            value[put] = -weights.value[e] * here * factor[weights.column[e]];
        }
        row[i + 1] = put;
    }
    return put;
}

}  // namespace unbend
