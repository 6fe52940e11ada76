// Forces of a neighbour embedding: attraction along a sparse graph, repulsion between all points.
//
// With w = 1 / (1 + |y_i − y_j|²), the attraction of point i is Σ_j p_ij w_ij (y_i − y_j) and its
// repulsion Σ_j w_ij² (y_i − y_j) = −½ ∇ Σ_j w_ij: the gradient of one potential. On a mesh the
// density is spread by cubic B-splines, convolved by FFT (by the caller), and the potential is
// interpolated by the same splines, differentiated analytically.
//
// In three dimensions layouts fill little of a mesh, and Barnes and Hut's tree takes its place.
//
// Every sum has one order, whatever the number of threads or the instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
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
                        } else {
                            float *line = plane + at[1].node;
                            for (int b = 0; b < 4; ++b) line[b] += across * at[1].weight[b];
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
        } else {
            const float *line = potential + (at[0].node + a) * nodes + at[1].node;
            float along = 0, tilt = 0;
            for (int b = 0; b < 4; ++b) {
                along += line[b] * at[1].weight[b];
                tilt += line[b] * at[1].slope[b];
            }
            force[0] += at[0].slope[a] * along;
            force[1] += at[0].weight[a] * tilt;
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

// Repulsion of a layout on any point, from its potential on a mesh. Beyond the mesh it is that of the
// nearest place inside.
template <int D>
struct MeshField {
    Mesh<D> mesh;
    const float *potential;

    UNBEND_INLINE inline void force(const float (&y)[D], float (&force)[D]) const {
        Splines at[D];
        for (int axis = 0; axis < D; ++axis) {
            const double low = mesh.origin[axis];
            const double high = low + mesh.spacing * (mesh.nodes - 4.001);
            const double inside = std::min(std::max(static_cast<double>(y[axis]), low), high);
            at[axis] = splines_at(inside, low, mesh.spacing);
        }
        force_at<D>(mesh, potential, at, force);
    }
};

// Moves bit b of a number to bit b · D: 31 bits in two dimensions, 21 in three.
template <int D>
inline std::uint64_t spread_bits(std::uint64_t x) {
    if constexpr (D == 2) {
        x = (x | x << 16) & 0x0000FFFF0000FFFFull;
        x = (x | x << 8) & 0x00FF00FF00FF00FFull;
        x = (x | x << 4) & 0x0F0F0F0F0F0F0F0Full;
        x = (x | x << 2) & 0x3333333333333333ull;
        x = (x | x << 1) & 0x5555555555555555ull;
    } else if constexpr (D == 3) {
        x = (x | x << 32) & 0x001F00000000FFFFull;
        x = (x | x << 16) & 0x001F0000FF0000FFull;
        x = (x | x << 8) & 0x100F00F00F00F00Full;
        x = (x | x << 4) & 0x10C30C30C30C30C3ull;
        x = (x | x << 2) & 0x1249249249249249ull;
    }
    return x;
}

// Points of a layout in cells that are halved along every axis until they hold few of them. Nodes
// are in depth-first order; `skip` is the next one outside of a node.
template <int D>
class Tree {
  public:
    static constexpr std::int64_t leaf_size = 8;

    Tree(const float *points, std::int64_t n, float opening) : opening_(opening) {
        constexpr int bits = D == 3 ? 21 : 31;
        float low[D], width = 0;
        for (int axis = 0; axis < D; ++axis) {
            float high = points[axis];
            low[axis] = high;
            for (std::int64_t i = 1; i < n; ++i) {
                low[axis] = std::min(low[axis], points[i * D + axis]);
                high = std::max(high, points[i * D + axis]);
            }
            width = std::max(width, high - low[axis]);
        }
        const double scale = width > 0 ? ((std::int64_t(1) << bits) - 1) / double(width) : 0.0;
        std::vector<std::pair<std::uint64_t, std::int32_t>> keys(n);
        for (std::int64_t i = 0; i < n; ++i) {
            std::uint64_t key = 0;
            for (int axis = 0; axis < D; ++axis) {
                // The width is rounded: the last point may lie a little beyond it.
                const auto cell = std::min(
                    static_cast<std::uint64_t>((double(points[i * D + axis]) - low[axis]) * scale),
                    (std::uint64_t(1) << bits) - 1);
                key |= spread_bits<D>(cell) << axis;
            }
            keys[i] = {key, static_cast<std::int32_t>(i)};
        }
        std::sort(keys.begin(), keys.end());
        order.resize(n);
        sorted.resize(n * D);
        for (std::int64_t i = 0; i < n; ++i) {
            order[i] = keys[i].second;
            std::copy_n(points + std::int64_t(order[i]) * D, D, sorted.data() + i * D);
        }
        split(keys, 0, n, bits - 1, width);
    }

    // Adds Σ w² (y − y_j) and Σ w for eight points at once: a node is opened if one of them needs it.
    UNBEND_INLINE inline void repel(const Eight (&y)[D], Eight (&force)[D], Eight &mass) const {
        std::size_t node = 0;
        while (node < skip_.size()) {
            const Node &here = nodes_[node];
            Eight away[D], square = {};
            for (int axis = 0; axis < D; ++axis) {
                away[axis] = y[axis] - here.center[axis];
                square += away[axis] * away[axis];
            }
            const Eight reach = here.reach + 0.0f * square;
            if (!any_of(reach >= square)) {
                const Eight w = 1.0f / (1.0f + square), many = here.count * w;
                mass += many;
                for (int axis = 0; axis < D; ++axis) force[axis] += many * w * away[axis];
                node = skip_[node];
            } else {
                for (std::int64_t j = here.begin; j < here.end; ++j) {
                    Eight apart[D], between = {};
                    for (int axis = 0; axis < D; ++axis) {
                        apart[axis] = y[axis] - sorted[j * D + axis];
                        between += apart[axis] * apart[axis];
                    }
                    const Eight w = 1.0f / (1.0f + between);
                    mass += w;
                    for (int axis = 0; axis < D; ++axis) force[axis] += w * w * apart[axis];
                }
                ++node;
            }
        }
    }

    UNBEND_INLINE inline void force(const float (&y)[D], float (&force)[D]) const {
        Eight place[D], sum[D] = {}, mass = {};
        for (int axis = 0; axis < D; ++axis) place[axis] = y[axis] + Eight{};
        repel(place, sum, mass);
        for (int axis = 0; axis < D; ++axis) force[axis] = sum[axis][0];
    }

    std::vector<std::int32_t> order;
    std::vector<float> sorted;

  private:
    // Points begin .. end are those of a leaf; `reach` is the squared distance from which on the
    // node counts as one point.
    struct Node {
        float center[D], count, reach;
        std::int64_t begin, end;
    };

    void split(const std::vector<std::pair<std::uint64_t, std::int32_t>> &keys, std::int64_t begin,
               std::int64_t end, int bit, float width) {
        const std::size_t node = nodes_.size();
        const bool leaf = end - begin <= leaf_size || bit < 0;
        nodes_.push_back({});
        skip_.push_back(0);
        double sum[D] = {};
        for (std::int64_t i = begin; i < end; ++i)
            for (int axis = 0; axis < D; ++axis) sum[axis] += sorted[i * D + axis];
        Node &here = nodes_[node];
        for (int axis = 0; axis < D; ++axis)
            here.center[axis] = static_cast<float>(sum[axis] / (end - begin));
        here.count = static_cast<float>(end - begin);
        here.reach = width / opening_ * (width / opening_);
        here.begin = begin;
        here.end = leaf ? end : begin;
        for (std::int64_t from = begin; !leaf && from < end;) {
            const std::uint64_t cell = keys[from].first >> (bit * D);
            std::int64_t to = from + 1;
            while (to < end && keys[to].first >> (bit * D) == cell) ++to;
            split(keys, from, to, bit - 1, width / 2);
            from = to;
        }
        skip_[node] = nodes_.size();
    }

    float opening_;
    std::vector<Node> nodes_;
    std::vector<std::size_t> skip_;
};

// Repulsion (n, D) and Σ_j w_ij (n,), a point's own place included, by Barnes and Hut: a cell counts
// as one point from the distance width / opening on.
template <int D>
void repel_by_tree(const float *points, std::int64_t n, float opening, int threads, float *forces,
                   double *normalizers) {
    const Tree<D> tree(points, n, opening);
    run_blocks(
        0, (n + 7) / 8, 8, threads_for(2000.0 * n, threads), [] { return 0; },
        [&](int, std::int64_t packet) UNBEND_INLINE {
            const std::int64_t from = packet * 8;
            Eight y[D], force[D] = {}, mass = {};
            for (int lane = 0; lane < 8; ++lane) {
                const std::int64_t i = std::min(from + lane, n - 1);
                for (int axis = 0; axis < D; ++axis) y[axis][lane] = tree.sorted[i * D + axis];
            }
            tree.repel(y, force, mass);
            for (int lane = 0; lane < 8 && from + lane < n; ++lane) {
                const std::int64_t i = tree.order[from + lane];
                normalizers[i] = mass[lane];
                for (int axis = 0; axis < D; ++axis) forces[i * D + axis] = force[axis][lane];
            }
        });
}

// Neighbours of a new point at which its descent may start.
constexpr std::int64_t start_candidates = 10;

// Descends Σ_j p_j log(1 + |y − y_j|²) + push · φ(y) for each of m new points alone, where y_j are
// its k neighbours in a fixed layout whose repulsion −½ ∇φ is that of `field`. A step goes to the
// minimum of a parabola above the attraction, at most one unit far. It starts at the neighbour whose
// surroundings weigh most, and ends when a step is shorter than 1e-4 or after `most` steps.
template <int D, typename Field>
void place_points(const std::int32_t *indices, const float *weights, std::int64_t m, std::int64_t k,
                  const float *layout, const Field &field, float push, int most, int threads,
                  Poller &poller, float *placed) {
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
                        float force[D], move[D], square = 0;
                        field.force(y, force);
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
