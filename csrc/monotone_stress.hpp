// Stress-1 with monotone disparities: distances, their isotonic regression and the gradient, in passes
// over the pairs in ascending order of dissimilarity. Coordinates stay in the first cache, so that
// their order among the objects does not matter. Pairs are cut into parts that their number fixes:
// threads share them, and sums over parts have one order, so the number of threads does not show.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "dispatch.hpp"
#include "poll.hpp"
#include "precise_sum.hpp"

namespace unbend {

// Pairs of objects, and for each its distance; blocks of equal disparities, the sum of their
// distances and the first pair of each.
struct SortedPairs {
    std::int32_t *first, *second;
    std::int64_t count;
    double *distance, *sum;
    std::int64_t *start;

    static constexpr std::int64_t most_parts = 16, fewest_pairs = 4096;

    std::int64_t parts() const {
        return std::clamp<std::int64_t>(count / fewest_pairs, 1, most_parts);
    }
    std::int64_t border(std::int64_t part) const { return count * part / parts(); }
};

// D is the number of columns, or zero for any other.
template <int D>
UNBEND_INLINE inline void measure_pairs(const SortedPairs &pairs, std::int64_t first,
                                        std::int64_t last, const double *places,
                                        std::int64_t columns) {
    constexpr std::int64_t chunk = 256;
    const std::int64_t d = D ? D : columns;
    double square[chunk];
    for (std::int64_t start = first; start < last; start += chunk) {
        const std::int64_t count = std::min(chunk, last - start);
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
struct TiedPairs {
    struct Pair {
        double distance;
        std::int32_t first, second;
    };
    std::vector<Pair> sorted;

    void sort(const SortedPairs &pairs, std::int64_t begin, std::int64_t end) {
        // The order of the last call is often right.
        if (std::is_sorted(pairs.distance + begin, pairs.distance + end)) return;
        sorted.clear();
        for (std::int64_t k = begin; k < end; ++k)
            sorted.push_back({pairs.distance[k], pairs.first[k], pairs.second[k]});
        std::sort(sorted.begin(), sorted.end(),
                  [](const Pair &a, const Pair &b) { return a.distance < b.distance; });
        for (std::int64_t k = begin; k < end; ++k) {
            const Pair &pair = sorted[k - begin];
            pairs.distance[k] = pair.distance;
            pairs.first[k] = pair.first;
            pairs.second[k] = pair.second;
        }
    }
};

// Blocks of the nearest distances that do not fall, pooled from adjacent violators.
class Blocks {
  public:
    // Blocks of `pairs` are stored from `first` on.
    Blocks(const SortedPairs &pairs, std::int64_t first)
        : sums_(pairs.sum + first), starts_(pairs.start + first) {}

    std::int64_t count() const { return count_; }

    // Adds a block [start, end) after the last; tells whether it stands alone. Means are compared as
    // products of sums and sizes, since every division would wait for the last.
    UNBEND_INLINE bool push(double sum, std::int64_t start, std::int64_t end) {
        bool alone = true;
        while (count_ && sums_[count_ - 1] * static_cast<double>(end - start) >=
                             sum * static_cast<double>(start - starts_[count_ - 1])) {
            --count_;
            sum += sums_[count_];
            start = starts_[count_];
            alone = false;
        }
        sums_[count_] = sum;
        starts_[count_] = start;
        ++count_;
        return alone;
    }

    // Adds the blocks of the part that ends at `end`: once one stands alone, so do those after it.
    void append(const Blocks &part, std::int64_t end) {
        std::int64_t b = 0;
        for (bool alone = false; b < part.count_ && !alone; ++b)
            alone = push(part.sums_[b], part.starts_[b],
                         b + 1 < part.count_ ? part.starts_[b + 1] : end);
        std::copy(part.sums_ + b, part.sums_ + part.count_, sums_ + count_);
        std::copy(part.starts_ + b, part.starts_ + part.count_, starts_ + count_);
        count_ += part.count_ - b;
    }

  private:
    double *sums_;
    std::int64_t *starts_, count_ = 0;
};

inline void pool_pairs(const SortedPairs &pairs, std::int64_t first, std::int64_t last,
                       Blocks &blocks) {
    for (std::int64_t k = first; k < last; ++k) blocks.push(pairs.distance[k], k, k + 1);
}

// Calls visit(mean, first, last) with the pairs of each block from `first` to `last`.
template <typename Visit>
UNBEND_INLINE inline void each_block(const SortedPairs &pairs, std::int64_t blocks,
                                     std::int64_t first, std::int64_t last, const Visit &visit) {
    const std::int64_t *starts = pairs.start;
    std::int64_t b = std::upper_bound(starts, starts + blocks, first) - starts - 1;
    for (std::int64_t k = first; k < last; ++b) {
        const std::int64_t end = b + 1 < blocks ? starts[b + 1] : pairs.count;
        const std::int64_t stop = std::min(end, last);
        visit(pairs.sum[b] / static_cast<double>(end - starts[b]), k, stop);
        k = stop;
    }
}

struct SquareSums {
    double residual, distances;
};

UNBEND_INLINE inline SquareSums sum_squares(const SortedPairs &pairs, std::int64_t blocks,
                                            std::int64_t first, std::int64_t last) {
    PreciseSum residuals, squares;
    each_block(pairs, blocks, first, last,
               [&](double mean, std::int64_t from, std::int64_t to) UNBEND_INLINE {
                   double residual = 0, square = 0;
                   for (std::int64_t k = from; k < to; ++k) {
                       const double distance = pairs.distance[k];
                       residual += (distance - mean) * (distance - mean);
                       square += distance * distance;
                   }
                   residuals.add(residual);
                   squares.add(square);
               });
    return {residuals.value(), squares.value()};
}

// Sums 2 (d - t - f d) grad d / sum of squares, with disparities t and the stress f.
template <int D>
UNBEND_INLINE inline void add_gradient(const SortedPairs &pairs, std::int64_t blocks,
                                       std::int64_t first, std::int64_t last,
                                       const SquareSums &sums, const double *places,
                                       std::int64_t columns, double *gradient) {
    const std::int64_t d = D ? D : columns;
    const double kept = 1.0 - sums.residual / sums.distances, factor = 2.0 / sums.distances;
    each_block(pairs, blocks, first, last,
               [&](double mean, std::int64_t from, std::int64_t to) UNBEND_INLINE {
                   for (std::int64_t k = from; k < to; ++k) {
                       if (!(pairs.distance[k] > 0)) continue;
                       const double pull = factor * (kept - mean / pairs.distance[k]);
                       const std::int64_t one = d * pairs.first[k], other = d * pairs.second[k];
                       for (std::int64_t c = 0; c < d; ++c) {
                           const double move = pull * (places[one + c] - places[other + c]);
                           gradient[one + c] += move;
                           gradient[other + c] -= move;
                       }
                   }
               });
}

// Sums of squares, and the gradient of their ratio, which must be zero at first.
template <int D>
class MonotoneStress {
  public:
    // `ties` has begin and end of `tied` sets of pairs; `places` and the gradient are (n, columns).
    MonotoneStress(const SortedPairs &pairs, const std::int64_t *ties, std::int64_t tied,
                   const double *places, std::int64_t n, std::int64_t columns, int threads,
                   const std::function<void()> &poll)
        : pairs_(pairs),
          ties_(ties),
          tied_(tied),
          places_(places),
          numbers_(n * columns),
          columns_(columns),
          threads_(threads_for(20.0 * pairs.count, threads)),
          poller_(poll) {}

    // The sums, and the number of blocks.
    std::pair<SquareSums, std::int64_t> run(double *gradient) {
        const std::int64_t blocks = pool();
        const SquareSums sums = sum(blocks);
        if (sums.distances > 0 && sums.residual < sums.distances) descend(blocks, sums, gradient);
        return {sums, blocks};
    }

  private:
    struct Nothing {};

    // Runs body(part, first pair, last pair) for all parts.
    template <typename Body>
    void each_part(const Body &body) {
        run_tasks(pairs_.parts(), threads_, poller_, [] { return Nothing{}; },
                  [&](Nothing &, std::int64_t part) {
                      body(part, pairs_.border(part), pairs_.border(part + 1));
                  });
        poller_.rethrow();
    }

    void measure(std::int64_t first, std::int64_t last) const {
        dispatch([&]() UNBEND_INLINE { measure_pairs<D>(pairs_, first, last, places_, columns_); });
    }

    // Distances and blocks; gives the number of these.
    std::int64_t pool() {
        std::vector<Blocks> blocks;
        for (std::int64_t part = 0; part < pairs_.parts(); ++part)
            blocks.emplace_back(pairs_, pairs_.border(part));
        if (tied_) {
            each_part([&](std::int64_t, std::int64_t first, std::int64_t last) {
                measure(first, last);
            });
            run_tasks(tied_, threads_, poller_, [] { return TiedPairs{}; },
                      [&](TiedPairs &tie, std::int64_t t) {
                          tie.sort(pairs_, ties_[2 * t], ties_[2 * t + 1]);
                      });
            poller_.rethrow();
        }
        each_part([&](std::int64_t part, std::int64_t first, std::int64_t last) {
            if (!tied_) measure(first, last);
            pool_pairs(pairs_, first, last, blocks[part]);
        });
        for (std::int64_t part = 1; part < pairs_.parts(); ++part)
            blocks[0].append(blocks[part], pairs_.border(part + 1));
        return blocks[0].count();
    }

    SquareSums sum(std::int64_t blocks) {
        std::vector<SquareSums> sums(pairs_.parts());
        each_part([&](std::int64_t part, std::int64_t first, std::int64_t last) {
            dispatch([&]() UNBEND_INLINE { sums[part] = sum_squares(pairs_, blocks, first, last); });
        });
        PreciseSum residual, distances;
        for (const SquareSums &part : sums) {
            residual.add(part.residual);
            distances.add(part.distances);
        }
        return {residual.value(), distances.value()};
    }

    void descend(std::int64_t blocks, const SquareSums &sums, double *gradient) {
        std::vector<std::vector<double>> moves(pairs_.parts());
        each_part([&](std::int64_t part, std::int64_t first, std::int64_t last) {
            moves[part].assign(numbers_, 0.0);
            dispatch([&]() UNBEND_INLINE {
                add_gradient<D>(pairs_, blocks, first, last, sums, places_, columns_,
                                moves[part].data());
            });
        });
        for (const std::vector<double> &part : moves)
            for (std::int64_t k = 0; k < numbers_; ++k) gradient[k] += part[k];
    }

    const SortedPairs pairs_;
    const std::int64_t *const ties_, tied_;
    const double *const places_;
    const std::int64_t numbers_, columns_;
    const int threads_;
    Poller poller_;
};

}  // namespace unbend
