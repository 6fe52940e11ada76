// New points in a fixed layout.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "dispatch.hpp"
#include "poll.hpp"

namespace unbend {

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
                    float y[D] = {}, sums[D + 1], best = -1;
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

}  // namespace unbend
