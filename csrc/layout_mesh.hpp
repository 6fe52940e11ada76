// Repulsion of a layout on a mesh: the density spread by cubic B-splines, and the potential, which the
// caller convolves by FFT, interpolated by the same splines and differentiated analytically.
//
// Every sum has one order, whatever the number of threads or the instruction set.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "dispatch.hpp"
#include "poll.hpp"
#include "simd_memory.hpp"

namespace unbend {

// A regular mesh of `nodes` per axis; node 0 is at `origin`.
template <int D>
struct Mesh {
    std::int64_t nodes;
    double origin[D], spacing;

    // Coordinate along an axis, in units of the spacing.
    UNBEND_INLINE double place(double coordinate, int axis) const {
        return (coordinate - origin[axis]) * (1.0 / spacing);
    }
};

// Four floats side by side, as many as splines reach a point.
typedef float Quartet __attribute__((vector_size(16)));

UNBEND_INLINE inline Quartet quartet(const float *numbers) { return load_lanes<Quartet>(numbers); }
UNBEND_INLINE inline float sum_of_four(const Quartet &numbers) {
    return (numbers[0] + numbers[2]) + (numbers[1] + numbers[3]);
}

// The four splines around a point, their derivatives by the mesh coordinate, the first node and the
// place between it and the next.
struct Splines {
    std::int64_t node;
    float phase;
    Quartet weight, slope;
};

UNBEND_INLINE inline Splines splines_at(double place) {
    // No place is negative.
    const std::int64_t node = static_cast<std::int64_t>(place);
    const float f = static_cast<float>(place - static_cast<double>(node)), g = 1.0f - f;
    const float ff = f * f;
    const Quartet weight = {g * g * g, (3.0f * f - 6.0f) * ff + 4.0f,
                            ((-3.0f * f + 3.0f) * f + 3.0f) * f + 1.0f, ff * f};
    const Quartet slope = {-0.5f * g * g, (1.5f * f - 2.0f) * f, (-1.5f * f + 1.0f) * f + 0.5f,
                           0.5f * ff};
    return {node, f, weight * (1.0f / 6.0f), slope};
}

// Adds the splines of a point to the rows low .. high of the density that they reach.
template <int D>
UNBEND_INLINE inline void spread_point(const float *point, const Mesh<D> &mesh, std::int64_t low,
                                       std::int64_t high, float *density) {
    Splines at[D];
    for (int axis = 0; axis < D; ++axis) at[axis] = splines_at(mesh.place(point[axis], axis));
    for (std::int64_t a = low; a < high; ++a) {
        const float across = at[0].weight[a - at[0].node];
        if constexpr (D == 1) {
            density[a] += across;
        } else {
            float *line = density + a * mesh.nodes + at[1].node;
            store_lanes(line, quartet(line) + across * at[1].weight);
        }
    }
}

// Rows of the mesh that one task fills.
constexpr std::int64_t mesh_stripe = 16;

// Numbers of the points in the order of their row of the mesh, then of their number; those of row r
// begin at first[r]. Each thread counts and places the points of a part, so the order is one.
template <int D>
void sort_by_row(const float *points, std::int64_t n, const Mesh<D> &mesh, int threads,
                 std::int64_t *first, std::int32_t *order) {
    const std::unique_ptr<std::int32_t[]> row(new std::int32_t[n]);
    std::vector<std::int64_t> next(threads * mesh.nodes, 0);
    const auto nothing = [] { return 0; };
    run_tasks(threads, threads, nothing, [&](int, std::int64_t part) {
        std::int64_t *const count = next.data() + part * mesh.nodes;
        for (std::int64_t i = part * n / threads; i < (part + 1) * n / threads; ++i) {
            row[i] = static_cast<std::int32_t>(mesh.place(points[i * D], 0));
            ++count[row[i]];
        }
    });
    std::int64_t total = 0;
    for (std::int64_t r = 0; r < mesh.nodes; ++r) {
        first[r] = total;
        for (int part = 0; part < threads; ++part)
            total += std::exchange(next[part * mesh.nodes + r], total);
    }
    first[mesh.nodes] = total;
    run_tasks(threads, threads, nothing, [&](int, std::int64_t part) {
        std::int64_t *const place = next.data() + part * mesh.nodes;
        for (std::int64_t i = part * n / threads; i < (part + 1) * n / threads; ++i)
            order[place[row[i]]++] = static_cast<std::int32_t>(i);
    });
}

// Adds every point's splines to the density (nodes^D). Points are taken in the order of their first
// node, then of their number, so each node sums in one order.
template <int D>
void spread_density(const float *points, std::int64_t n, const Mesh<D> &mesh, int threads,
                    float *density) {
    const std::int64_t nodes = mesh.nodes;
    std::int64_t layer = 1;
    for (int axis = 1; axis < D; ++axis) layer *= nodes;
    threads = threads_for(64.0 * n, limit_threads(threads));
    std::vector<std::int64_t> first(nodes + 1, 0);
    const std::unique_ptr<std::int32_t[]> order(new std::int32_t[n]);
    sort_by_row<D>(points, n, mesh, threads, first.data(), order.get());
    const std::int64_t stripes = (nodes + mesh_stripe - 1) / mesh_stripe;
    run_tasks(
        stripes, threads, [] { return 0; },
        [&](int, std::int64_t stripe) {
            const std::int64_t from = stripe * mesh_stripe;
            const std::int64_t to = std::min(from + mesh_stripe, nodes);
            std::fill(density + from * layer, density + to * layer, 0.0f);
            dispatch([&]() UNBEND_INLINE {
                for (std::int64_t r = std::max<std::int64_t>(0, from - 3); r < to; ++r)
                    for (std::int64_t place = first[r]; place < first[r + 1]; ++place)
                        spread_point<D>(points + static_cast<std::int64_t>(order[place]) * D, mesh,
                                        std::max(from, r), std::min(to, r + 4), density);
            });
        });
}

// Multiplies the waves of a density, complex numbers, by the factors of the potential, and returns
// the sum of their squares times the factors of the sum over pairs.
inline double convolve(float *waves, const float *for_potential, const float *for_sums,
                       std::int64_t count, int threads) {
    constexpr std::int64_t block = 8192;
    std::vector<double> sums((count + block - 1) / block);
    run_tasks(
        static_cast<std::int64_t>(sums.size()), threads_for(8.0 * count, threads),
        [] { return 0; },
        [&](int, std::int64_t task) {
            dispatch([&]() UNBEND_INLINE {
                double partial[8] = {};
                const std::int64_t end = std::min((task + 1) * block, count);
                for (std::int64_t i = task * block; i < end; ++i) {
                    float &real = waves[2 * i], &imaginary = waves[2 * i + 1];
                    const double power = real * real + imaginary * imaginary;
                    partial[i % 8] += power * for_sums[i];
                    real *= for_potential[i];
                    imaginary *= for_potential[i];
                }
                double total = 0;
                for (double sum : partial) total += sum;
                sums[task] = total;
            });
        });
    double total = 0;
    for (double sum : sums) total += sum;
    return total;
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
    const float scale = static_cast<float>(-0.5 / mesh.spacing);
    if constexpr (D == 1) {
        force[0] = scale * sum_of_four(at[0].slope * quartet(potential + at[0].node));
    } else {
        Quartet tilt = {}, level = {};
        for (int a = 0; a < 4; ++a) {
            const Quartet line = quartet(potential + (at[0].node + a) * mesh.nodes + at[1].node);
            tilt += at[0].slope[a] * line;
            level += at[0].weight[a] * line;
        }
        force[0] = scale * sum_of_four(tilt * at[1].weight);
        force[1] = scale * sum_of_four(level * at[1].slope);
    }
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
                at[axis] = splines_at(mesh.place(points[i * D + axis], axis));
            float force[D];
            force_at<D>(mesh, potential, at, force);
            for (int axis = 0; axis < D; ++axis)
                forces[i * D + axis] = force[axis] - own_force * sine_of_turn(at[axis].phase);
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
            at[axis] = splines_at(mesh.place(inside, axis));
        }
        force_at<D>(mesh, potential, at, force);
    }
};

}  // namespace unbend
