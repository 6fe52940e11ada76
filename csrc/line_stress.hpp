// Regression of the distances of all pairs on several dissimilarities of each pair, by lines.
//
// Distances are computed again in each pass: to store and to read them would take longer. Sums over
// strips of rows have one order, so the number of threads does not show.
#pragma once

#include <cstdint>
#include <vector>

#include "pair_distances.hpp"
#include "precise_sum.hpp"

namespace unbend {

// One matrix: dissimilarities of the pairs, and their weights (none: all are one).
template <typename Real>
struct LinePart {
    const Real *given, *weight;
};

// d̂ = max(intercept + slope δ, 0).
struct FittedLine {
    double intercept, slope;
};

template <typename Real>
class LineStress {
  public:
    LineStress(const std::vector<LinePart<Real>> &parts, const PairRows &rows, int threads,
               const std::function<void()> &poll)
        : parts_(parts),
          rows_(rows),
          threads_(threads_for(4.0 * rows.count() * rows.count() * parts.size(), threads)),
          poller_(poll) {}

    // What a line of each matrix is computed from: Σ w d, Σ w (δ − center) d and Σ w d², with its
    // weights w and dissimilarities δ.
    std::vector<double> sums(const double *centers) {
        return over_strips<3>([&](std::int64_t k, std::int64_t pair, std::int64_t size,
                                  Workspace &space, double (&terms)[3]) UNBEND_INLINE {
            const Real *given = parts_[k].given + pair, *weight = parts_[k].weight;
            if (weight)
                add_sums(given, centers[k], space, size, Listed{weight + pair}, terms);
            else
                add_sums(given, centers[k], space, size, Unit{}, terms);
        });
    }

    // Residuals Σ w (d − d̂)² of each matrix; `targets` gets the mean of d̂ by the weights.
    std::vector<double> residuals(const std::vector<FittedLine> &lines, Real *targets) {
        return over_strips<1>([&](std::int64_t k, std::int64_t pair, std::int64_t size,
                                  Workspace &space, double (&terms)[1]) UNBEND_INLINE {
            if (k == 0) std::fill_n(space.mean, size, 0.0), std::fill_n(space.weight, size, 0.0);
            const Real *given = parts_[k].given + pair, *weight = parts_[k].weight;
            if (weight)
                add_residuals(given, lines[k], space, size, Listed{weight + pair}, terms);
            else
                add_residuals(given, lines[k], space, size, Unit{}, terms);
            if (k + 1 == static_cast<std::int64_t>(parts_.size()))
                for (std::int64_t j = 0; j < size; ++j)
                    targets[pair + j] = static_cast<Real>(
                        space.weight[j] > 0 ? space.mean[j] / space.weight[j] : 0.0);
        });
    }

  private:
    static constexpr std::int64_t strips = 16;

    struct Workspace {
        double distance[PairRows::chunk], mean[PairRows::chunk], weight[PairRows::chunk];
    };

    struct Unit {
        UNBEND_INLINE double operator()(std::int64_t) const { return 1.0; }
    };
    struct Listed {
        const Real *weight;
        UNBEND_INLINE double operator()(std::int64_t j) const { return weight[j]; }
    };

    template <typename Weight>
    UNBEND_INLINE static void add_sums(const Real *given, double center, const Workspace &space,
                                       std::int64_t size, const Weight &weight,
                                       double (&terms)[3]) {
        double sum = 0, product = 0, square = 0;
#pragma omp simd reduction(+ : sum, product, square)
        for (std::int64_t j = 0; j < size; ++j) {
            const double distance = space.distance[j], weighed = weight(j) * distance;
            sum += weighed;
            product += weighed * (given[j] - center);
            square += weighed * distance;
        }
        terms[0] = sum;
        terms[1] = product;
        terms[2] = square;
    }

    template <typename Weight>
    UNBEND_INLINE static void add_residuals(const Real *given, const FittedLine &line,
                                            Workspace &space, std::int64_t size,
                                            const Weight &weight, double (&terms)[1]) {
        double sum = 0;
        const double intercept = line.intercept, slope = line.slope;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t j = 0; j < size; ++j) {
            const double along = intercept + slope * given[j], target = along > 0 ? along : 0.0;
            const double off = space.distance[j] - target, w = weight(j);
            sum += w * off * off;
            space.mean[j] += w * target;
            space.weight[j] += w;
        }
        terms[0] = sum;
    }

    // Calls add(k, pair, size, workspace, terms) for the matrices k of each run of pairs, whose
    // distances the workspace has; gives the sums of the terms, matrix after matrix.
    template <int T, typename Add>
    std::vector<double> over_strips(const Add &add) {
        const std::int64_t count = static_cast<std::int64_t>(parts_.size());
        std::vector<std::vector<PreciseSum>> sums(strips, std::vector<PreciseSum>(T * count));
        run_tasks(strips, threads_, poller_, [] { return Workspace{}; },
                  [&](Workspace &space, std::int64_t strip) {
                      PreciseSum *own = sums[strip].data();
                      dispatch([&]() UNBEND_INLINE {
                          rows_.visit_strip(strip, strips,
                                            [&](std::int64_t i, std::int64_t column,
                                                std::int64_t size) UNBEND_INLINE {
                              rows_.measure(i, column, size, space.distance);
                              const std::int64_t pair = rows_.first_pair(i) + column - i - 1;
                              for (std::int64_t k = 0; k < count; ++k) {
                                  double terms[T];
                                  add(k, pair, size, space, terms);
                                  for (int t = 0; t < T; ++t) own[T * k + t].add(terms[t]);
                              }
                          });
                      });
                  });
        poller_.rethrow();
        std::vector<double> total(T * count);
        for (std::int64_t e = 0; e < T * count; ++e) {
            PreciseSum sum;
            for (const auto &own : sums) sum.add(own[e].value());
            total[e] = sum.value();
        }
        return total;
    }

    const std::vector<LinePart<Real>> &parts_;
    const PairRows &rows_;
    const int threads_;
    Poller poller_;
};

}  // namespace unbend
