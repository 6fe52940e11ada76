// Forces of a neighbour embedding: attraction along a sparse graph, repulsion between all points.
//
// With w = 1 / (1 + |y_i − y_j|²), the attraction of point i is Σ_j p_ij w_ij (y_i − y_j) and its
// repulsion Σ_j w_ij² (y_i − y_j) = −½ ∇ Σ_j w_ij: the gradient of one potential. On a mesh the
// density is spread by cubic B-splines, convolved by FFT (by the caller), and the potential is
// interpolated by the same splines, differentiated analytically.
//
// Every sum has one order, whatever the number of threads or the instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "dispatch.hpp"
#include "poll.hpp"
#include "simd_wide.hpp"

namespace unbend {

using Eight = Side<float>::Lanes;

// A regular mesh of `nodes` per axis; node 0 is at `origin`.
template <int D>
struct Mesh {
    std::int64_t nodes;
    double origin[D], spacing;
};

// The four splines around a point, their derivatives by the mesh coordinate, and the first node.
struct Splines {
    std::int64_t node;
    float weight[4], slope[4];
};

UNBEND_INLINE inline Splines splines_at(double coordinate, double origin, double spacing) {
    const double place = (coordinate - origin) / spacing;
    const double floor = std::floor(place);
    const float f = static_cast<float>(place - floor), g = 1.0f - f;
    Splines at;
    at.node = static_cast<std::int64_t>(floor);
    at.weight[0] = g * g * g * (1.0f / 6.0f);
    at.weight[1] = ((3.0f * f - 6.0f) * f * f + 4.0f) * (1.0f / 6.0f);
    at.weight[2] = (((-3.0f * f + 3.0f) * f + 3.0f) * f + 1.0f) * (1.0f / 6.0f);
    at.weight[3] = f * f * f * (1.0f / 6.0f);
    at.slope[0] = -0.5f * g * g;
    at.slope[1] = (1.5f * f - 2.0f) * f;
    at.slope[2] = (-1.5f * f + 1.0f) * f + 0.5f;
    at.slope[3] = 0.5f * f * f;
    return at;
}

// Rows of the mesh that one task fills.
constexpr std::int64_t mesh_stripe = 16;

// Adds every point's splines to the density (nodes^D). Points are taken in the order of their first
// node, then of their number, so each node sums in one order.
template <int D>
void spread_density(const float *points, std::int64_t n, const Mesh<D> &mesh, int threads,
                    float *density) {
    const std::int64_t nodes = mesh.nodes;
    std::int64_t layer = 1;
    for (int axis = 1; axis < D; ++axis) layer *= nodes;
    std::vector<std::int64_t> first(nodes + 1, 0);
    std::vector<std::int32_t> row(n), order(n);
    for (std::int64_t i = 0; i < n; ++i) {
        row[i] = static_cast<std::int32_t>(
            std::floor((points[i * D] - mesh.origin[0]) / mesh.spacing));
        ++first[row[i] + 1];
    }
    for (std::int64_t r = 0; r < nodes; ++r) first[r + 1] += first[r];
    std::vector<std::int64_t> next(first.begin(), first.end() - 1);
    for (std::int64_t i = 0; i < n; ++i) order[next[row[i]]++] = static_cast<std::int32_t>(i);
    const std::int64_t stripes = (nodes + mesh_stripe - 1) / mesh_stripe;
    run_tasks(
        stripes, threads_for(64.0 * n, threads), [] { return 0; },
        [&](int, std::int64_t stripe) {
            const std::int64_t from = stripe * mesh_stripe;
            const std::int64_t to = std::min(from + mesh_stripe, nodes);
            std::fill(density + from * layer, density + to * layer, 0.0f);
            for (std::int64_t r = std::max<std::int64_t>(0, from - 3); r < to; ++r)
                for (std::int64_t place = first[r]; place < first[r + 1]; ++place) {
                    const float *point = points + static_cast<std::int64_t>(order[place]) * D;
                    Splines at[D];
                    for (int axis = 0; axis < D; ++axis)
                        at[axis] = splines_at(point[axis], mesh.origin[axis], mesh.spacing);
                    const std::int64_t low = std::max(from, r), high = std::min(to, r + 4);
                    for (std::int64_t a = low; a < high; ++a) {
                        float *plane = density + a * layer;
                        const float across = at[0].weight[a - r];
                        if constexpr (D == 1) {
                            plane[0] += across;
                        } else if constexpr (D == 2) {
                            float *line = plane + at[1].node;
                            for (int b = 0; b < 4; ++b) line[b] += across * at[1].weight[b];
                        } else {
                            for (int b = 0; b < 4; ++b) {
                                const float both = across * at[1].weight[b];
                                float *line = plane + (at[1].node + b) * nodes + at[2].node;
                                for (int c = 0; c < 4; ++c) line[c] += both * at[2].weight[c];
                            }
                        }
                    }
                }
        });
}

// Repulsion −½ ∇φ (n, D) at each point, from the potential φ on the mesh.
template <int D>
void gather_forces(const float *points, std::int64_t n, const Mesh<D> &mesh, const float *potential,
                   int threads, float *forces) {
    const std::int64_t nodes = mesh.nodes;
    const float scale = static_cast<float>(-0.5 / mesh.spacing);
    run_blocks(
        0, n, 256, threads_for(64.0 * n, threads), [] { return 0; },
        [&](int, std::int64_t i) UNBEND_INLINE {
            Splines at[D];
            for (int axis = 0; axis < D; ++axis)
                at[axis] = splines_at(points[i * D + axis], mesh.origin[axis], mesh.spacing);
            float force[D] = {};
            for (int a = 0; a < 4; ++a) {
                if constexpr (D == 1) {
                    force[0] += at[0].slope[a] * potential[at[0].node + a];
                } else if constexpr (D == 2) {
                    const float *line = potential + (at[0].node + a) * nodes + at[1].node;
                    float along = 0, tilt = 0;
                    for (int b = 0; b < 4; ++b) {
                        along += line[b] * at[1].weight[b];
                        tilt += line[b] * at[1].slope[b];
                    }
                    force[0] += at[0].slope[a] * along;
                    force[1] += at[0].weight[a] * tilt;
                } else {
                    float plane[3] = {};
                    for (int b = 0; b < 4; ++b) {
                        const float *line = potential +
                                            ((at[0].node + a) * nodes + at[1].node + b) * nodes +
                                            at[2].node;
                        float along = 0, tilt = 0;
                        for (int c = 0; c < 4; ++c) {
                            along += line[c] * at[2].weight[c];
                            tilt += line[c] * at[2].slope[c];
                        }
                        plane[0] += at[1].weight[b] * along;
                        plane[1] += at[1].slope[b] * along;
                        plane[2] += at[1].weight[b] * tilt;
                    }
                    force[0] += at[0].slope[a] * plane[0];
                    force[1] += at[0].weight[a] * plane[1];
                    force[2] += at[0].weight[a] * plane[2];
                }
            }
            for (int axis = 0; axis < D; ++axis) forces[i * D + axis] = scale * force[axis];
        });
}

// Attraction Σ_j p_ij w_ij (y_i − y_j) of each point along the stored entries of a sparse matrix.
// `others` are the points that the columns number: those of the rows, or a fixed layout.
template <int D>
void attract(const std::int64_t *offsets, const std::int32_t *indices, const float *weights,
             const float *points, std::int64_t n, const float *others, int threads,
             float *forces) {
    run_blocks(
        0, n, 64, threads_for(8.0 * static_cast<double>(offsets[n]), threads), [] { return 0; },
        [&](int, std::int64_t i) UNBEND_INLINE {
            Eight sum[D] = {};
            const float *own = points + i * D;
            std::int64_t e = offsets[i];
            for (; e + 8 <= offsets[i + 1]; e += 8) {
                Eight away[D];
                for (int lane = 0; lane < 8; ++lane) {
                    const float *other = others + static_cast<std::int64_t>(indices[e + lane]) * D;
                    for (int axis = 0; axis < D; ++axis) away[axis][lane] = own[axis] - other[axis];
                }
                Eight square = away[0] * away[0];
                for (int axis = 1; axis < D; ++axis) square += away[axis] * away[axis];
                const Eight pull = lanes(weights + e) / (1.0f + square);
                for (int axis = 0; axis < D; ++axis) sum[axis] += pull * away[axis];
            }
            float rest[D] = {};
            for (; e < offsets[i + 1]; ++e) {
                const float *other = others + static_cast<std::int64_t>(indices[e]) * D;
                float away[D], square = 0;
                for (int axis = 0; axis < D; ++axis) {
                    away[axis] = own[axis] - other[axis];
                    square += away[axis] * away[axis];
                }
                const float pull = weights[e] / (1.0f + square);
                for (int axis = 0; axis < D; ++axis) rest[axis] += pull * away[axis];
            }
            for (int axis = 0; axis < D; ++axis) {
                float total = 0;
                for (int lane = 0; lane < 8; ++lane) total += sum[axis][lane];
                forces[i * D + axis] = total + rest[axis];
            }
        });
}

// Repulsion (n, D) and Σ_j w_ij (n,) from all m `others`, a point's own place included: the sum over
// all pairs, in single precision by chunks of 256 and in double beyond.
template <int D>
void repel_exactly(const float *points, std::int64_t n, const float *others, std::int64_t m,
                   int threads, Poller &poller, float *forces, double *normalizers) {
    constexpr std::int64_t chunk = 256, block = 16;
    const std::int64_t padded = (m + 7) / 8 * 8;
    std::vector<float> axes[D];
    for (int axis = 0; axis < D; ++axis) {
        // Beyond the end, as far away that nothing is felt of it.
        axes[axis].assign(padded, 1e18f);
        for (std::int64_t j = 0; j < m; ++j) axes[axis][j] = others[j * D + axis];
    }
    run_tasks(
        (n + block - 1) / block, threads, poller, [] { return 0; },
        [&](int, std::int64_t task) {
            dispatch([&]() UNBEND_INLINE {
                const std::int64_t end = std::min((task + 1) * block, n);
                for (std::int64_t i = task * block; i < end; ++i) {
                    double total[D] = {}, mass = 0;
                    for (std::int64_t start = 0; start < padded; start += chunk) {
                        Eight sum[D] = {}, weight = {};
                        const std::int64_t stop = std::min(start + chunk, padded);
                        for (std::int64_t j = start; j < stop; j += 8) {
                            Eight away[D];
                            for (int axis = 0; axis < D; ++axis)
                                away[axis] = points[i * D + axis] - lanes(axes[axis].data() + j);
                            Eight square = away[0] * away[0];
                            for (int axis = 1; axis < D; ++axis) square += away[axis] * away[axis];
                            const Eight w = 1.0f / (1.0f + square);
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

}  // namespace unbend
