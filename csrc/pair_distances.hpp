// Euclidean distances of all pairs i < j of rows, row after row, and strips of rows that threads share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "dispatch.hpp"
#include "poll.hpp"

namespace unbend {

// First row of a strip of pairs i < j: all strips have about the same number of pairs.
inline std::int64_t strip_border(std::int64_t n, std::int64_t strip, std::int64_t strips) {
    const double left = 1.0 - static_cast<double>(strip) / static_cast<double>(strips);
    return n - static_cast<std::int64_t>(std::ceil(std::sqrt(left) * static_cast<double>(n)));
}

// Rows with their columns one after the other, so that vectors hold neighbouring rows.
class PairRows {
  public:
    // Columns of one call that stay in cache with their distances, and rows that use them in turn.
    static constexpr std::int64_t chunk = 1024, block = 16;

    PairRows(const double *rows, std::int64_t n, std::int64_t d) : n_(n), d_(d), places_(n * d) {
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t k = 0; k < d; ++k) places_[k * n + i] = rows[i * d + k];
    }

    std::int64_t count() const { return n_; }

    // Place of the pair (i, i + 1).
    std::int64_t first_pair(std::int64_t i) const { return i * n_ - i * (i + 1) / 2; }

    // Distances of row i to `size` others, at most a chunk.
    UNBEND_INLINE void measure(std::int64_t i, std::int64_t column, std::int64_t size,
                               double *distance) const {
        std::fill_n(distance, size, 0.0);
        for (std::int64_t k = 0; k < d_; ++k) {
            const double *place = places_.data() + k * n_ + column, here = places_[k * n_ + i];
#pragma omp simd
            for (std::int64_t j = 0; j < size; ++j)
                distance[j] += (here - place[j]) * (here - place[j]);
        }
        std::int64_t lost = 0;
#pragma omp simd reduction(+ : lost)
        for (std::int64_t j = 0; j < size; ++j) {
            distance[j] = std::sqrt(distance[j]);
            lost += is_lost(distance[j]);
        }
        // Only those: each distance follows from its two rows alone, so that equal rows have equal ones.
        for (std::int64_t j = 0; lost && j < size; ++j)
            if (is_lost(distance[j])) distance[j] = scaled(i, column + j);
    }

    // Calls visit(i, column, size) for the pairs of a strip, in an order that does not depend on threads.
    template <typename Visit>
    UNBEND_INLINE void visit_strip(std::int64_t strip, std::int64_t strips, const Visit &visit) const {
        const std::int64_t last = strip_border(n_, strip + 1, strips);
        for (std::int64_t row = strip_border(n_, strip, strips); row < last; row += block)
            for (std::int64_t start = row + 1; start < n_; start += chunk)
                for (std::int64_t i = row; i < std::min(row + block, last); ++i) {
                    const std::int64_t from = std::max(start, i + 1);
                    const std::int64_t end = std::min(start + chunk, n_);
                    if (from < end) visit(i, from, end - from);
                }
    }

  private:
    // Whether the square has lost digits to underflow, or overflowed.
    UNBEND_INLINE static bool is_lost(double distance) {
        return !(distance >= 1e-145 && distance <= 1e150);
    }

    // The distance by differences relative to the largest.
    double scaled(std::int64_t i, std::int64_t j) const {
        double largest = 0, sum = 0;
        for (std::int64_t k = 0; k < d_; ++k)
            largest = std::max(largest, std::abs(places_[k * n_ + i] - places_[k * n_ + j]));
        if (largest == 0) return 0.0;
        for (std::int64_t k = 0; k < d_; ++k) {
            const double share = (places_[k * n_ + i] - places_[k * n_ + j]) / largest;
            sum += share * share;
        }
        return largest * std::sqrt(sum);
    }

    std::int64_t n_, d_;
    std::vector<double> places_;
};

// Fills the distances of all pairs of rows (n, d).
template <typename Real>
void pair_distances(const double *rows, std::int64_t n, std::int64_t d, int threads,
                    const std::function<void()> &poll, Real *distances) {
    struct Workspace {
        double distance[PairRows::chunk];
    };
    constexpr std::int64_t strips = 64;
    const PairRows pairs(rows, n, d);
    Poller poller(poll);
    run_tasks(strips, threads_for(0.5 * n * n * d, threads), poller, [] { return Workspace{}; },
              [&](Workspace &workspace, std::int64_t strip) {
                  dispatch([&]() UNBEND_INLINE {
                      pairs.visit_strip(strip, strips,
                                        [&](std::int64_t i, std::int64_t column,
                                            std::int64_t size) UNBEND_INLINE {
                          pairs.measure(i, column, size, workspace.distance);
                          Real *out = distances + pairs.first_pair(i) + column - i - 1;
                          for (std::int64_t j = 0; j < size; ++j)
                              out[j] = static_cast<Real>(workspace.distance[j]);
                      });
                  });
              });
    poller.rethrow();
}

}  // namespace unbend
