// The graph of a neighbour embedding: conditional probabilities added to their transpose, and products
// of its Laplacian with the few vectors of a start.
//
// Every sum has one order, whatever the number of threads or the instruction set.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "layout_forces.hpp"

namespace unbend {

// A sparse matrix by rows, in double precision.
struct Conditional {
    const std::int64_t *offsets;
    const std::int32_t *indices;
    const double *weights;
};

// Columns of a stripe that one thread transposes: every thread reads all entries and writes those of
// its own columns, so each list is in the order of the rows, however many threads there are.
struct Stripe {
    std::int32_t first, last;

    static Stripe of(std::int64_t number, std::int64_t count, std::int64_t n) {
        return {static_cast<std::int32_t>(number * n / count),
                static_cast<std::int32_t>((number + 1) * n / count)};
    }
    bool holds(std::int32_t column) const { return first <= column && column < last; }
};

// The transpose (n, n) of a matrix, its entries by row.
inline void transpose(const Conditional &graph, std::int64_t n, int threads, std::int64_t *offsets,
                      std::int32_t *indices, double *weights) {
    const std::int64_t entries = graph.offsets[n];
    threads = threads_for(4.0 * static_cast<double>(entries), limit_threads(threads));
    const auto nothing = [] { return 0; };
    std::fill_n(offsets, n + 1, 0);
    run_tasks(threads, threads, nothing, [&](int, std::int64_t task) {
        const Stripe own = Stripe::of(task, threads, n);
        for (std::int64_t e = 0; e < entries; ++e)
            if (own.holds(graph.indices[e])) ++offsets[graph.indices[e] + 1];
    });
    for (std::int64_t i = 0; i < n; ++i) offsets[i + 1] += offsets[i];
    std::vector<std::int64_t> next(offsets, offsets + n);
    run_tasks(threads, threads, nothing, [&](int, std::int64_t task) {
        const Stripe own = Stripe::of(task, threads, n);
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
                const std::int32_t column = graph.indices[e];
                if (!own.holds(column)) continue;
                const std::int64_t place = next[column]++;
                indices[place] = static_cast<std::int32_t>(i);
                weights[place] = graph.weights[e];
            }
    });
}

// Where the columns of the row at hand are, for each thread.
struct Places {
    explicit Places(std::int64_t n) : place(n, -1) {}
    std::vector<std::int64_t> place;
};

// Entries of each row of the sum of two matrices; no row has a column twice.
inline void count_sums(const Conditional &first, const Conditional &second, std::int64_t n,
                       int threads, std::int64_t *counts) {
    const double entries = static_cast<double>(first.offsets[n] + second.offsets[n]);
    run_blocks(
        0, n, 256, threads_for(4.0 * entries, threads), [&] { return Places(n); },
        [&](Places &own, std::int64_t i) {
            std::int64_t count = first.offsets[i + 1] - first.offsets[i];
            for (std::int64_t e = first.offsets[i]; e < first.offsets[i + 1]; ++e)
                own.place[first.indices[e]] = i;
            for (std::int64_t e = second.offsets[i]; e < second.offsets[i + 1]; ++e)
                count += own.place[second.indices[e]] != i;
            counts[i] = count;
        });
}

// The sum of two matrices whose rows begin at `offsets`: entries of the first, then others.
inline void add_rows(const Conditional &first, const Conditional &second, std::int64_t n,
                     const std::int64_t *offsets, int threads, std::int32_t *indices,
                     double *weights) {
    run_blocks(
        0, n, 256, threads_for(8.0 * static_cast<double>(offsets[n]), threads),
        [&] { return Places(n); },
        [&](Places &own, std::int64_t i) {
            const std::int64_t start = offsets[i];
            std::int64_t end = start;
            for (std::int64_t e = first.offsets[i]; e < first.offsets[i + 1]; ++e, ++end) {
                indices[end] = first.indices[e];
                weights[end] = first.weights[e];
                own.place[first.indices[e]] = end;
            }
            for (std::int64_t e = second.offsets[i]; e < second.offsets[i + 1]; ++e) {
                const std::int32_t column = second.indices[e];
                const std::int64_t place = own.place[column];
                // Places of other rows are outside of this one, or hold another column.
                if (start <= place && place < end && indices[place] == column) {
                    weights[place] += second.weights[e];
                } else {
                    indices[end] = column;
                    weights[end++] = second.weights[e];
                }
            }
        });
}

// Vectors of four doubles; sums of even and of odd entries, so that one need not wait for the other.
using Quadruple = Side<double>::Lanes;

// `wide` columns of diagonal · x − scale · W (scale · x), from `first` on.
template <int V>
void multiply_laplacian(const Affinities &graph, std::int64_t n, const double *diagonal,
                        const double *scale, const double *block, std::int64_t width,
                        std::int64_t first, int threads, double *image) {
    const std::int64_t wide = std::min<std::int64_t>(4 * V, width - first);
    const std::unique_ptr<double[]> scaled(new double[n * 4 * V]);
    run_blocks(
        0, n, 1024, threads, [] { return 0; },
        [&](int, std::int64_t i) UNBEND_INLINE {
            for (std::int64_t c = 0; c < 4 * V; ++c)
                scaled[i * 4 * V + c] = c < wide ? scale[i] * block[i * width + first + c] : 0.0;
        });
    run_blocks(
        0, n, 256, threads, [] { return 0; },
        [&](int, std::int64_t i) UNBEND_INLINE {
            Quadruple even[V] = {}, odd[V] = {};
            const std::int64_t end = graph.offsets[i + 1];
            std::int64_t e = graph.offsets[i];
            for (; e + 2 <= end; e += 2) {
                const double *x = scaled.get() + std::int64_t(graph.indices[e]) * 4 * V;
                const double *y = scaled.get() + std::int64_t(graph.indices[e + 1]) * 4 * V;
                for (int v = 0; v < V; ++v) {
                    even[v] += double(graph.weights[e]) * lanes(x + 4 * v);
                    odd[v] += double(graph.weights[e + 1]) * lanes(y + 4 * v);
                }
            }
            if (e < end) {
                const double *x = scaled.get() + std::int64_t(graph.indices[e]) * 4 * V;
                for (int v = 0; v < V; ++v) even[v] += double(graph.weights[e]) * lanes(x + 4 * v);
            }
            for (std::int64_t c = 0; c < wide; ++c) {
                const double sum = even[c / 4][c % 4] + odd[c / 4][c % 4];
                const std::int64_t at = i * width + first + c;
                image[at] = diagonal[i] * block[at] - scale[i] * sum;
            }
        });
}

// image = diagonal · block − scale · W (scale · block), for blocks (n, width) of vectors: with the
// sums of W as diagonal its Laplacian, and with ones and their inverse roots the normalised one.
inline void laplacian_product(const Affinities &graph, std::int64_t n, const double *diagonal,
                              const double *scale, const double *block, std::int64_t width,
                              int threads, double *image) {
    threads = threads_for(2.0 * static_cast<double>(graph.offsets[n]) * width, threads);
    for (std::int64_t first = 0; first < width; first += 8)
        if (width - first > 4)
            multiply_laplacian<2>(graph, n, diagonal, scale, block, width, first, threads, image);
        else
            multiply_laplacian<1>(graph, n, diagonal, scale, block, width, first, threads, image);
}

}  // namespace unbend
