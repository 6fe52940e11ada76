// Stress-1 with monotone disparities: distances, their isotonic regression and the gradient, in four
// passes over the pairs in ascending order of dissimilarity. Coordinates stay in the first cache, so
// that their order among the objects does not matter.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "dispatch.hpp"

namespace unbend {

// Pairs of objects, and for each its distance; blocks of equal disparities with their sizes.
struct SortedPairs {
    std::int32_t *first, *second;
    std::int64_t count;
    double *distance, *mean;
    std::int32_t *size;
};

// D is the number of columns, or zero for any other.
template <int D>
UNBEND_INLINE inline void measure_pairs(const SortedPairs &pairs, const double *places,
                                        std::int64_t columns) {
    constexpr std::int64_t chunk = 256;
    const std::int64_t d = D ? D : columns;
    double square[chunk];
    for (std::int64_t start = 0; start < pairs.count; start += chunk) {
        const std::int64_t count = std::min(chunk, pairs.count - start);
        for (std::int64_t k = 0; k < count; ++k) {
            const double *one = places + d * pairs.first[start + k];
            const double *other = places + d * pairs.second[start + k];
            double sum = 0;
            for (std::int64_t c = 0; c < d; ++c) sum += (one[c] - other[c]) * (one[c] - other[c]);
            square[k] = sum;
        }
        for (std::int64_t k = 0; k < count; ++k) pairs.distance[start + k] = std::sqrt(square[k]);
    }
}

// Within ties any order is admissible: ascending distances cost nothing.
inline void sort_ties(const SortedPairs &pairs, const std::int64_t *ties, std::int64_t count) {
    struct Pair {
        double distance;
        std::int32_t first, second;
    };
    std::vector<Pair> tied;
    for (std::int64_t t = 0; t < count; ++t) {
        const std::int64_t begin = ties[2 * t], end = ties[2 * t + 1];
        // The order of the last call is often right.
        if (std::is_sorted(pairs.distance + begin, pairs.distance + end)) continue;
        tied.clear();
        for (std::int64_t k = begin; k < end; ++k)
            tied.push_back({pairs.distance[k], pairs.first[k], pairs.second[k]});
        std::sort(tied.begin(), tied.end(),
                  [](const Pair &a, const Pair &b) { return a.distance < b.distance; });
        for (std::int64_t k = begin; k < end; ++k) {
            const Pair &pair = tied[k - begin];
            pairs.distance[k] = pair.distance;
            pairs.first[k] = pair.first;
            pairs.second[k] = pair.second;
        }
    }
}

// Pools adjacent violators: blocks of the nearest distances that do not fall. Gives their number.
// Means are compared as products of sums and sizes, since every division would wait for the last.
inline std::int64_t pool_violators(const SortedPairs &pairs) {
    double *sums = pairs.mean;
    std::int32_t *sizes = pairs.size;
    const double *distance = pairs.distance;
    std::int64_t blocks = 0;
    for (std::int64_t k = 0; k < pairs.count; ++k) {
        double sum = distance[k];
        std::int32_t size = 1;
        while (blocks && sums[blocks - 1] * size >= sum * sizes[blocks - 1]) {
            --blocks;
            sum += sums[blocks];
            size += sizes[blocks];
        }
        sums[blocks] = sum;
        sizes[blocks] = size;
        ++blocks;
    }
    for (std::int64_t b = 0; b < blocks; ++b) sums[b] /= sizes[b];
    return blocks;
}

struct SquareSums {
    double residual, distances;
};

// A sum whose rounding does not grow with the number of terms (Kahan): a line search compares values.
class PreciseSum {
  public:
    UNBEND_INLINE void add(double term) {
        const double rest = term - lost_, next = sum_ + rest;
        lost_ = (next - sum_) - rest;
        sum_ = next;
    }
    double value() const { return sum_; }

  private:
    double sum_ = 0, lost_ = 0;
};

UNBEND_INLINE inline SquareSums sum_squares(const SortedPairs &pairs, std::int64_t blocks) {
    PreciseSum residuals, squares;
    const double *distance = pairs.distance;
    for (std::int64_t b = 0; b < blocks; distance += pairs.size[b], ++b) {
        double residual = 0, square = 0;
        for (std::int32_t k = 0; k < pairs.size[b]; ++k) {
            residual += (distance[k] - pairs.mean[b]) * (distance[k] - pairs.mean[b]);
            square += distance[k] * distance[k];
        }
        residuals.add(residual);
        squares.add(square);
    }
    return {residuals.value(), squares.value()};
}

// Sums 2 (d - t - f d) grad d / sum of squares, with disparities t and the stress f.
template <int D>
UNBEND_INLINE inline void add_gradient(const SortedPairs &pairs, std::int64_t blocks,
                                       const SquareSums &sums, const double *places,
                                       std::int64_t columns, double *gradient) {
    const std::int64_t d = D ? D : columns;
    const double kept = 1.0 - sums.residual / sums.distances, factor = 2.0 / sums.distances;
    std::int64_t k = 0;
    for (std::int64_t b = 0; b < blocks; ++b)
        for (const std::int64_t end = k + pairs.size[b]; k < end; ++k) {
            if (!(pairs.distance[k] > 0)) continue;
            const double pull = factor * (kept - pairs.mean[b] / pairs.distance[k]);
            const std::int64_t one = d * pairs.first[k], other = d * pairs.second[k];
            for (std::int64_t c = 0; c < d; ++c) {
                const double move = pull * (places[one + c] - places[other + c]);
                gradient[one + c] += move;
                gradient[other + c] -= move;
            }
        }
}

// Sums of squares, and the gradient of their ratio, which must be zero at first.
template <int D, typename Check>
SquareSums monotone_stress(const SortedPairs &pairs, const std::int64_t *ties, std::int64_t count,
                           const double *places, std::int64_t columns, const Check &check,
                           double *gradient) {
    dispatch([&]() UNBEND_INLINE { measure_pairs<D>(pairs, places, columns); });
    check();
    sort_ties(pairs, ties, count);
    check();
    const std::int64_t blocks = pool_violators(pairs);
    check();
    SquareSums sums{0, 0};
    dispatch([&]() UNBEND_INLINE { sums = sum_squares(pairs, blocks); });
    if (sums.distances > 0 && sums.residual < sums.distances)
        dispatch([&]() UNBEND_INLINE {
            add_gradient<D>(pairs, blocks, sums, places, columns, gradient);
        });
    return sums;
}

}  // namespace unbend
