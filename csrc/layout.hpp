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

// The four splines around a point, their derivatives by the mesh coordinate, the first node and the
// place between it and the next.
struct Splines {
    std::int64_t node;
    float phase, weight[4], slope[4];
};

UNBEND_INLINE inline Splines splines_at(double coordinate, double origin, double spacing) {
    const double place = (coordinate - origin) / spacing;
    const double floor = std::floor(place);
    const float f = static_cast<float>(place - floor), g = 1.0f - f;
    Splines at;
    at.node = static_cast<std::int64_t>(floor);
    at.phase = f;
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

// sin 2πf for 0 <= f < 1, to three digits: no library's sine, whose last bit is its own affair.
UNBEND_INLINE inline float sine_of_turn(float f) {
    const float u = 0.5f - f, square = u * u;
    return u * (1.0f - 4.0f * square) * (6.2831853f - (16.198f - 16.01f * square) * square);
}

// −½ ∇φ at a point, from the potential φ on the mesh and the splines around the point.
template <int D>
UNBEND_INLINE inline void force_at(const Mesh<D> &mesh, const float *potential,
                                   const Splines (&at)[D], float (&force)[D]) {
    const std::int64_t nodes = mesh.nodes;
    const float scale = static_cast<float>(-0.5 / mesh.spacing);
    for (int axis = 0; axis < D; ++axis) force[axis] = 0;
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
                const float *line =
                    potential + ((at[0].node + a) * nodes + at[1].node + b) * nodes + at[2].node;
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
    for (int axis = 0; axis < D; ++axis) force[axis] *= scale;
}

// Repulsion −½ ∇φ (n, D) at each point, from the potential φ on the mesh, less the force of a point
// on itself, a sine of its place in the cell with the given amplitude.
template <int D>
void gather_forces(const float *points, std::int64_t n, const Mesh<D> &mesh, const float *potential,
                   float own_force, int threads, float *forces) {
    run_blocks(
        0, n, 256, threads_for(64.0 * n, threads), [] { return 0; },
        [&](int, std::int64_t i) UNBEND_INLINE {
            Splines at[D];
            for (int axis = 0; axis < D; ++axis)
                at[axis] = splines_at(points[i * D + axis], mesh.origin[axis], mesh.spacing);
            float force[D];
            force_at<D>(mesh, potential, at, force);
            for (int axis = 0; axis < D; ++axis)
                forces[i * D + axis] = force[axis] - own_force * sine_of_turn(at[axis].phase);
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

// One step of momentum descent with a gain for each coordinate: raised by 0.2 unless the velocity
// points uphill, else lowered to 0.8 of itself and not below 0.01. The gradient is
// pull · attraction − push · repulsion; no point moves further than `longest`.
template <int D>
void descend(const float *attraction, const float *repulsion, std::int64_t n, float pull, float push,
             float momentum, float longest, int threads, float *velocity, float *gains,
             float *points) {
    run_blocks(
        0, n, 1024, threads_for(16.0 * n, threads), [] { return 0; },
        [&](int, std::int64_t i) UNBEND_INLINE {
            float square = 0;
            for (int axis = 0; axis < D; ++axis) {
                const std::int64_t at = i * D + axis;
                const float slope = pull * attraction[at] - push * repulsion[at];
                const float before = velocity[at];
                const bool uphill = (slope > 0 && before > 0) || (slope < 0 && before < 0);
                gains[at] = uphill ? std::max(0.8f * gains[at], 0.01f) : gains[at] + 0.2f;
                velocity[at] = momentum * before - gains[at] * slope;
                square += velocity[at] * velocity[at];
            }
            const float shrink =
                square > longest * longest ? longest / std::sqrt(square) : 1.0f;
            for (int axis = 0; axis < D; ++axis) {
                velocity[i * D + axis] *= shrink;
                points[i * D + axis] += velocity[i * D + axis];
            }
        });
}

// Neighbours of a new point at which its descent may start.
constexpr std::int64_t start_candidates = 10;

// Descends Σ_j p_j log(1 + |y − y_j|²) + push · φ(y) for each of m new points alone, where y_j are
// its k neighbours in a fixed layout with the potential φ. A step goes to the minimum of a parabola
// above the attraction, at most one unit far. It starts at the neighbour whose surroundings weigh
// most, and ends when a step is shorter than 1e-4 or after `most` steps.
template <int D>
void place_points(const std::int32_t *indices, const float *weights, std::int64_t m, std::int64_t k,
                  const float *layout, const Mesh<D> &mesh, const float *potential, float push,
                  int most, int threads, Poller &poller, float *placed) {
    constexpr std::int64_t block = 64;
    run_tasks(
        (m + block - 1) / block, threads, poller, [&] { return std::vector<float>(k * D); },
        [&](std::vector<float> &near, std::int64_t task) {
            dispatch([&]() UNBEND_INLINE {
                const std::int64_t end = std::min((task + 1) * block, m);
                for (std::int64_t i = task * block; i < end; ++i) {
                    const float *p = weights + i * k;
                    for (std::int64_t j = 0; j < k; ++j)
                        for (int axis = 0; axis < D; ++axis)
                            near[j * D + axis] =
                                layout[static_cast<std::int64_t>(indices[i * k + j]) * D + axis];
                    // Σ p w, and Σ p w y along each axis.
                    const auto weigh = [&](const float *y, float (&sums)[D + 1]) UNBEND_INLINE {
                        for (float &sum : sums) sum = 0;
                        for (std::int64_t j = 0; j < k; ++j) {
                            float square = 0;
                            for (int axis = 0; axis < D; ++axis) {
                                const float away = y[axis] - near[j * D + axis];
                                square += away * away;
                            }
                            const float pull = p[j] / (1.0f + square);
                            sums[D] += pull;
                            for (int axis = 0; axis < D; ++axis)
                                sums[axis] += pull * near[j * D + axis];
                        }
                    };
                    float y[D], sums[D + 1], best = -1;
                    for (std::int64_t j = 0; j < std::min(k, start_candidates); ++j) {
                        weigh(near.data() + j * D, sums);
                        if (sums[D] > best) {
                            best = sums[D];
                            std::copy_n(near.data() + j * D, D, y);
                        }
                    }
                    for (int step = 0; step < most; ++step) {
                        weigh(y, sums);
                        Splines at[D];
                        for (int axis = 0; axis < D; ++axis) {
                            const double high =
                                mesh.origin[axis] + mesh.spacing * (mesh.nodes - 4.001);
                            const double inside = std::min(
                                std::max(static_cast<double>(y[axis]), mesh.origin[axis]), high);
                            at[axis] = splines_at(inside, mesh.origin[axis], mesh.spacing);
                        }
                        float force[D], move[D], square = 0;
                        force_at<D>(mesh, potential, at, force);
                        for (int axis = 0; axis < D; ++axis) {
                            move[axis] = (sums[axis] + push * force[axis]) / sums[D] - y[axis];
                            square += move[axis] * move[axis];
                        }
                        const float shrink = square > 1.0f ? 1.0f / std::sqrt(square) : 1.0f;
                        for (int axis = 0; axis < D; ++axis) y[axis] += shrink * move[axis];
                        if (square < 1e-8f) break;
                    }
                    std::copy_n(y, D, placed + i * D);
                }
            });
        });
    poller.rethrow();
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
