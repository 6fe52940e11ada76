// Products of a sparse matrix with the few vectors of a block.
#pragma once

#include <cstdint>

#include "simd_four.hpp"
#include "poll.hpp"

namespace unbend {

struct Rows {
    const std::int64_t *row;
    const std::int32_t *column;
    const double *value;
};

// One row of the product in V vectors of four columns; `place` says where each begins.
template <int V>
UNBEND_INLINE inline void multiply_row(const Rows &matrix, std::int64_t i, const double *block,
                                       std::int64_t width, const std::int64_t *place,
                                       double *image) {
    Four<double> sum[V];
    for (int v = 0; v < V; ++v) sum[v] = Four<double>::all(0);
    for (std::int64_t e = matrix.row[i]; e < matrix.row[i + 1]; ++e) {
        const double *x = block + matrix.column[e] * width;
        const Four<double> a = Four<double>::all(matrix.value[e]);
        for (int v = 0; v < V; ++v) sum[v] = sum[v] + a * Four<double>::load(x + place[v]);
    }
    for (int v = 0; v < V; ++v) sum[v].store(image + i * width + place[v]);
}

// image = A block, both row by row with `width` columns. Columns are taken eight or four at once;
// the last four may overlap those before them, and come out the same.
inline void sparse_product(const Rows &matrix, std::int64_t n, const double *block,
                           std::int64_t width, int threads, double *image) {
    const auto nothing = [] { return 0; };
    threads = threads_for(2.0 * matrix.row[n] * width, threads);
    run_blocks(0, n, 512, threads, nothing, [&](int &, std::int64_t i) UNBEND_INLINE {
        if (width < 4) {
            for (std::int64_t c = 0; c < width; ++c) {
                double sum = 0;
                for (std::int64_t e = matrix.row[i]; e < matrix.row[i + 1]; ++e)
                    sum += matrix.value[e] * block[matrix.column[e] * width + c];
                image[i * width + c] = sum;
            }
            return;
        }
        for (std::int64_t c = 0; c < width; c += 8) {
            const std::int64_t last = width - 4;
            const std::int64_t place[2] = {c < last ? c : last, c + 4 < last ? c + 4 : last};
            if (place[0] == place[1])
                multiply_row<1>(matrix, i, block, width, place, image);
            else
                multiply_row<2>(matrix, i, block, width, place, image);
        }
    });
}

}  // namespace unbend
