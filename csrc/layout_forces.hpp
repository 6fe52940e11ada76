// Forces of a neighbour embedding, attraction along a sparse graph and repulsion over all pairs, and
// the steps that follow them.
//
// With w = 1 / (1 + |y_i − y_j|²), the attraction of point i is Σ_j p_ij w_ij (y_i − y_j) and its
// repulsion Σ_j w_ij² (y_i − y_j) = −½ ∇ Σ_j w_ij: the gradient of one potential.
//
// Every sum has one order, whatever the number of threads or the instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "dispatch.hpp"
#include "poll.hpp"
#include "simd_wide.hpp"

namespace unbend {

using Eight = Side<float>::Lanes;

// The coordinates of eight numbered points, one vector for each axis.
template <int D>
UNBEND_INLINE inline void take_eight(const float *points, const std::int32_t *numbers,
                                     Eight (&y)[D]) {
    if constexpr (D == 2) {
        // A point is one word; pairs are taken apart within halves of a register.
        typedef double Word __attribute__((may_alias, aligned(4)));
        typedef double Words __attribute__((vector_size(32)));
        const Word *at = reinterpret_cast<const Word *>(points);
        const Words even = {at[numbers[0]], at[numbers[1]], at[numbers[4]], at[numbers[5]]};
        const Words odd = {at[numbers[2]], at[numbers[3]], at[numbers[6]], at[numbers[7]]};
#if defined(__clang__)
        y[0] = __builtin_shufflevector((Eight)even, (Eight)odd, 0, 2, 8, 10, 4, 6, 12, 14);
        y[1] = __builtin_shufflevector((Eight)even, (Eight)odd, 1, 3, 9, 11, 5, 7, 13, 15);
#else
        typedef std::int32_t Lanes __attribute__((vector_size(32)));
        y[0] = __builtin_shuffle((Eight)even, (Eight)odd, Lanes{0, 2, 8, 10, 4, 6, 12, 14});
        y[1] = __builtin_shuffle((Eight)even, (Eight)odd, Lanes{1, 3, 9, 11, 5, 7, 13, 15});
#endif
    } else {
        for (int lane = 0; lane < 8; ++lane)
            for (int axis = 0; axis < D; ++axis)
                y[axis][lane] = points[static_cast<std::int64_t>(numbers[lane]) * D + axis];
    }
}

// A symmetric sparse matrix by rows.
struct Affinities {
    const std::int64_t *offsets;
    const std::int32_t *indices;
    const float *weights;
};

// Calls body(weights, away) for the entries of row i, eight at a time, where away[axis] = y_i − y_j.
// The last ones are filled up with entries of the next row, or the point itself, and weight zero.
template <int D, typename Body>
UNBEND_INLINE inline void for_entries(const Affinities &graph, const float *points, std::int64_t n,
                                      std::int64_t i, const Body &body) {
    typedef std::int32_t Bits __attribute__((vector_size(32)));
    const float *own = points + i * D;
    Eight y[D] = {};
    std::int64_t e = graph.offsets[i];
    const std::int64_t end = graph.offsets[i + 1], all = graph.offsets[n];
    for (; e + 8 <= end; e += 8) {
        take_eight<D>(points, graph.indices + e, y);
        for (int axis = 0; axis < D; ++axis) y[axis] = own[axis] - y[axis];
        body(lanes(graph.weights + e), y);
    }
    if (e == end) return;
    const auto rest = static_cast<std::int32_t>(end - e);
    if (e + 8 <= all) {
        const Bits lane = {0, 1, 2, 3, 4, 5, 6, 7};
        take_eight<D>(points, graph.indices + e, y);
        for (int axis = 0; axis < D; ++axis) y[axis] = own[axis] - y[axis];
        body((Eight)((Bits)lanes(graph.weights + e) & (lane < rest)), y);
        return;
    }
    std::int32_t numbers[8];
    float weights[8] = {};
    std::fill_n(numbers, 8, static_cast<std::int32_t>(i));
    std::copy_n(graph.indices + e, rest, numbers);
    std::copy_n(graph.weights + e, rest, weights);
    take_eight<D>(points, numbers, y);
    for (int axis = 0; axis < D; ++axis) y[axis] = own[axis] - y[axis];
    body(lanes(static_cast<const float *>(weights)), y);
}

template <int D>
UNBEND_INLINE inline Eight square_of(const Eight (&away)[D]) {
    Eight square = away[0] * away[0];
    for (int axis = 1; axis < D; ++axis) square += away[axis] * away[axis];
    return square;
}

// Attraction Σ_j p_ij w_ij (y_i − y_j) of each point along the stored entries.
template <int D>
void attract(const Affinities &graph, const float *points, std::int64_t n, int threads,
             float *forces) {
    run_blocks(
        0, n, 64, threads_for(8.0 * static_cast<double>(graph.offsets[n]), threads),
        [] { return 0; },
        [&](int, std::int64_t i) UNBEND_INLINE {
            Eight sum[D] = {};
            for_entries<D>(graph, points, n, i,
                           [&](const Eight &weights, const Eight (&away)[D]) UNBEND_INLINE {
                               const Eight pull = weights / (1.0f + square_of<D>(away));
                               for (int axis = 0; axis < D; ++axis) sum[axis] += pull * away[axis];
                           });
            for (int axis = 0; axis < D; ++axis) {
                float total = 0;
                for (int lane = 0; lane < 8; ++lane) total += sum[axis][lane];
                forces[i * D + axis] = total;
            }
        });
}

// Natural logarithms of numbers of at least one, to single precision: no library's, whose last bit is
// its own affair. With x = 2^e m and m from √½ to √2, log m = 2 artanh t, t = (m − 1)/(m + 1).
UNBEND_INLINE inline Eight logarithms(const Eight &x) {
    typedef std::int32_t Bits __attribute__((vector_size(32)));
    const Bits root = Bits{} + 0x3f3504f3;
    const Bits exponent = ((Bits)x - root) >> 23;
    const Eight m = (Eight)((Bits)x - (exponent << 23));
    const Eight t = (m - 1.0f) / (m + 1.0f), tt = t * t;
    const Eight series =
        2.0f * t * (1.0f + tt * (1.0f / 3 + tt * (1.0f / 5 + tt * (1.0f / 7 + tt * (1.0f / 9)))));
    return series + __builtin_convertvector(exponent, Eight) * 0.693147181f;
}

// Σ p_ij log(1 + |y_i − y_j|²) of each point.
template <int D>
void attractive_energy(const Affinities &graph, const float *points, std::int64_t n, int threads,
                       double *energies) {
    run_blocks(
        0, n, 64, threads_for(8.0 * static_cast<double>(graph.offsets[n]), threads),
        [] { return 0; },
        [&](int, std::int64_t i) UNBEND_INLINE {
            Eight total = {};
            for_entries<D>(graph, points, n, i,
                           [&](const Eight &weights, const Eight (&away)[D]) UNBEND_INLINE {
                               total += weights * logarithms(1.0f + square_of<D>(away));
                           });
            energies[i] = sum_of(total);
        });
}

// Rows and columns of a matrix in another order, entries of a row by column. Row i is row order[i] of
// the old matrix, column inverse[j] is column j of it; `offsets` are those of the new rows.
inline void renumber(const Affinities &graph, const std::int64_t *order, const std::int32_t *inverse,
                     std::int64_t n, const std::int64_t *offsets, int threads,
                     std::int32_t *indices, float *weights) {
    run_blocks(
        0, n, 256, threads_for(32.0 * static_cast<double>(offsets[n]), threads),
        [] { return std::vector<std::uint64_t>(); },
        [&](std::vector<std::uint64_t> &row, std::int64_t i) {
            const std::int64_t from = graph.offsets[order[i]];
            row.resize(offsets[i + 1] - offsets[i]);
            // The column above the bits of the weight: one word is sorted faster than a pair.
            for (std::size_t e = 0; e < row.size(); ++e) {
                std::uint32_t bits;
                std::memcpy(&bits, graph.weights + from + e, sizeof bits);
                row[e] = std::uint64_t(inverse[graph.indices[from + e]]) << 32 | bits;
            }
            std::sort(row.begin(), row.end());
            for (std::size_t e = 0; e < row.size(); ++e) {
                const auto bits = static_cast<std::uint32_t>(row[e]);
                indices[offsets[i] + e] = static_cast<std::int32_t>(row[e] >> 32);
                std::memcpy(weights + offsets[i] + e, &bits, sizeof bits);
            }
        });
}

// Factors of a step: the gradient is pull · attraction − push · repulsion, and no point moves further
// than `longest`.
struct Step {
    float pull, push, momentum, longest;
};

// One step of momentum descent with a gain for each coordinate: raised by 0.2 unless the velocity
// points uphill, else lowered to 0.8 of itself and not below 0.01. The points are then centred;
// `box` gets their lowest and highest coordinates.
template <int D>
void descend(const float *attraction, const float *repulsion, std::int64_t n, const Step &step,
             int threads, float *velocity, float *gains, float *points, double *box) {
    constexpr std::int64_t block = 1024;
    struct Part {
        double sum[D] = {};
        float low[D], high[D];
    };
    const std::int64_t blocks = (n + block - 1) / block;
    const int team = threads_for(16.0 * n, threads);
    std::vector<Part> parts(blocks);
    run_tasks(
        blocks, team, [] { return 0; },
        [&](int, std::int64_t task) {
            dispatch([&]() UNBEND_INLINE {
                Part part;
                for (int axis = 0; axis < D; ++axis) {
                    part.low[axis] = INFINITY;
                    part.high[axis] = -INFINITY;
                }
                const std::int64_t first = task * block, last = std::min(first + block, n);
                for (std::int64_t at = first * D; at < last * D; ++at) {
                    const float slope = step.pull * attraction[at] - step.push * repulsion[at];
                    const float before = velocity[at], gain = gains[at];
                    const bool uphill =
                        ((slope > 0) & (before > 0)) | ((slope < 0) & (before < 0));
                    gains[at] = uphill ? std::max(0.8f * gain, 0.01f) : gain + 0.2f;
                    velocity[at] = step.momentum * before - gains[at] * slope;
                }
                for (std::int64_t i = first; i < last; ++i) {
                    float square = 0;
                    for (int axis = 0; axis < D; ++axis)
                        square += velocity[i * D + axis] * velocity[i * D + axis];
                    const float shrink =
                        square > step.longest * step.longest ? step.longest / std::sqrt(square) : 1.0f;
                    for (int axis = 0; axis < D; ++axis) {
                        const std::int64_t at = i * D + axis;
                        velocity[at] *= shrink;
                        points[at] += velocity[at];
                        part.sum[axis] += points[at];
                        part.low[axis] = std::min(part.low[axis], points[at]);
                        part.high[axis] = std::max(part.high[axis], points[at]);
                    }
                }
                parts[task] = part;
            });
        });
    float center[D];
    for (int axis = 0; axis < D; ++axis) {
        double sum = 0;
        float low = INFINITY, high = -INFINITY;
        for (const Part &part : parts) {
            sum += part.sum[axis];
            low = std::min(low, part.low[axis]);
            high = std::max(high, part.high[axis]);
        }
        center[axis] = static_cast<float>(sum / static_cast<double>(n));
        box[axis] = low - center[axis];
        box[D + axis] = high - center[axis];
    }
    run_blocks(
        0, n, 4 * block, team, [] { return 0; },
        [&](int, std::int64_t i) UNBEND_INLINE {
            for (int axis = 0; axis < D; ++axis) points[i * D + axis] -= center[axis];
        });
}

// Points by axis, filled up to a multiple of eight as far away that nothing is felt of them.
template <int D>
std::vector<float> by_axis(const float *points, std::int64_t n, std::int64_t padded, float away) {
    std::vector<float> axes(padded * D, away);
    for (std::int64_t i = 0; i < n; ++i)
        for (int axis = 0; axis < D; ++axis) axes[axis * padded + i] = points[i * D + axis];
    return axes;
}

// Points whose contributions are summed in single precision, in double beyond; and rows of a task.
constexpr std::int64_t pair_chunk = 256, pair_block = 16;

// Repulsion (n, D) and Σ_j w_ij (n,) from all m `others`, a point's own place included.
template <int D>
void repel_exactly(const float *points, std::int64_t n, const float *others, std::int64_t m,
                   int threads, Poller &poller, float *forces, double *normalizers) {
    const std::int64_t padded = (m + 7) / 8 * 8;
    const std::vector<float> axes = by_axis<D>(others, m, padded, 1e18f);
    run_tasks(
        (n + pair_block - 1) / pair_block, threads, poller, [] { return 0; },
        [&](int, std::int64_t task) {
            dispatch([&]() UNBEND_INLINE {
                const std::int64_t end = std::min((task + 1) * pair_block, n);
                for (std::int64_t i = task * pair_block; i < end; ++i) {
                    double total[D] = {}, mass = 0;
                    for (std::int64_t start = 0; start < padded; start += pair_chunk) {
                        Eight sum[D] = {}, weight = {};
                        const std::int64_t stop = std::min(start + pair_chunk, padded);
                        for (std::int64_t j = start; j < stop; j += 8) {
                            Eight away[D];
                            for (int axis = 0; axis < D; ++axis)
                                away[axis] = points[i * D + axis] -
                                             lanes(axes.data() + axis * padded + j);
                            const Eight w = 1.0f / (1.0f + square_of<D>(away));
                            weight += w;
                            for (int axis = 0; axis < D; ++axis) sum[axis] += w * w * away[axis];
                        }
                        mass += sum_of(weight);
                        for (int axis = 0; axis < D; ++axis) total[axis] += sum_of(sum[axis]);
                    }
                    normalizers[i] = mass;
                    for (int axis = 0; axis < D; ++axis)
                        forces[i * D + axis] = static_cast<float>(total[axis]);
                }
            });
        });
    poller.rethrow();
}

// Σ w over all ordered pairs of distinct points. Each pair is taken once, and two pairs share a
// division: 1/a + 1/b = (a + b)/ab.
template <int D>
double sum_weights(const float *points, std::int64_t n, int threads, Poller &poller) {
    const std::int64_t padded = (n + pair_block - 1) / pair_block * pair_block;
    // Squares of these distances and their products are still finite.
    const std::vector<float> axes = by_axis<D>(points, n, padded, 1e9f);
    const std::int64_t blocks = padded / pair_block;
    std::vector<double> sums(blocks);
    run_tasks(
        blocks, threads, poller, [] { return 0; },
        [&](int, std::int64_t task) {
            dispatch([&]() UNBEND_INLINE {
                const std::int64_t first = task * pair_block, last = std::min(first + pair_block, n);
                double total = 0;
                for (std::int64_t i = first; i < last; ++i) {
                    for (std::int64_t j = first; j < i; ++j) {
                        float square = 0;
                        for (int axis = 0; axis < D; ++axis) {
                            const float away = points[i * D + axis] - points[j * D + axis];
                            square += away * away;
                        }
                        total += 1.0f / (1.0f + square);
                    }
                    for (std::int64_t start = first + pair_block; start < padded;
                         start += pair_chunk) {
                        Eight sum = {};
                        const std::int64_t stop = std::min(start + pair_chunk, padded);
                        for (std::int64_t j = start; j < stop; j += 16) {
                            Eight a[D], b[D];
                            for (int axis = 0; axis < D; ++axis) {
                                const float *line = axes.data() + axis * padded + j;
                                a[axis] = points[i * D + axis] - lanes(line);
                                b[axis] = points[i * D + axis] - lanes(line + 8);
                            }
                            const Eight one = 1.0f + square_of<D>(a), two = 1.0f + square_of<D>(b);
                            sum += (one + two) / (one * two);
                        }
                        total += sum_of(sum);
                    }
                }
                sums[task] = total;
            });
        });
    poller.rethrow();
    double total = 0;
    for (double sum : sums) total += sum;
    return 2.0 * total;
}

}  // namespace unbend
