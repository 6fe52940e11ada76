// k-means of rows of few columns: greedy k-means++ (Arthur and Vassilvitskii, 2007) from given random numbers, then
// Lloyd's iteration. Rows lie column by column, so that several of them are compared with a center at once, and
// row by row, so that means are summed by vectors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "dispatch.hpp"
#include "poll.hpp"
#include "simd_memory.hpp"

namespace unbend {

struct Clustering {
    double inertia = std::numeric_limits<double>::infinity();
    std::int64_t iterations = 0;
    std::vector<double> centers;
};

class KMeans {
  public:
    KMeans(const double *rows, std::int64_t n, std::int64_t columns, std::int64_t clusters)
        : n_(n), stride_((n + block - 1) / block * block), d_(columns), k_(clusters),
          width_((columns + together - 1) / together * together), turned_(stride_ * columns, 0.0),
          rows_(n * width_, 0.0), nearest_(stride_), label_(stride_), sums_(clusters * width_) {
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t c = 0; c < columns; ++c)
                turned_[c * stride_ + i] = rows_[i * width_ + c] = rows[i * columns + c];
    }

    // One run. `numbers` (clusters, trials) are uniform in [0, 1); `tolerance` is the sum of the
    // squared moves of the centers at which the iteration stops.
    Clustering run(const double *numbers, std::int64_t trials, std::int64_t most, double tolerance,
                   Poller &poller) {
        Clustering found;
        found.centers = seed(numbers, trials);
        std::vector<double> next(k_ * d_);
        for (found.iterations = 1; found.iterations <= most && !poller.stopped(); ++found.iterations) {
            assign(found.centers);
            means(found.centers, next);
            double moved = 0;
            for (std::int64_t c = 0; c < k_ * d_; ++c)
                moved += (next[c] - found.centers[c]) * (next[c] - found.centers[c]);
            found.centers.swap(next);
            if (moved <= tolerance) break;
        }
        found.iterations = std::min(found.iterations, most);
        assign(found.centers);
        found.inertia = 0;
        for (std::int64_t i = 0; i < n_; ++i) found.inertia += nearest_[i];
        return found;
    }

  private:
    typedef double Four __attribute__((vector_size(32)));
    // A block stays in registers while it is compared with a point.
    static constexpr std::int64_t block = 32, together = 4;
    static constexpr int fours = block / 4;

    // Squared distances of a block of rows to a point.
    UNBEND_INLINE void measure(const double *point, std::int64_t first, Four (&squares)[fours]) const {
        for (int f = 0; f < fours; ++f) squares[f] = Four{};
        for (std::int64_t c = 0; c < d_; ++c) {
            const double *column = turned_.data() + c * stride_ + first;
            for (int f = 0; f < fours; ++f) {
                const Four difference = load_lanes<Four>(column + 4 * f) - point[c];
                squares[f] += difference * difference;
            }
        }
    }

    void copy_row(std::int64_t i, double *center) const {
        for (std::int64_t c = 0; c < d_; ++c) center[c] = turned_[c * stride_ + i];
    }

    // Each center is, of some rows drawn with probabilities proportional to their squared distances
    // from the centers so far, the one that lowers their sum most.
    std::vector<double> seed(const double *numbers, std::int64_t trials) {
        std::vector<double> centers(k_ * d_), candidates(trials * d_), others(trials * stride_);
        // Sums of the distances up to each row: those of a trial are drawn from if it is chosen.
        std::vector<double> sums(trials * stride_), sum(stride_);
        copy_row(std::min(static_cast<std::int64_t>(numbers[0] * n_), n_ - 1), centers.data());
        std::fill(nearest_.begin(), nearest_.end(), std::numeric_limits<double>::infinity());
        lower(centers.data(), nearest_.data());
        add_up(nearest_.data(), 1, sum.data());
        for (std::int64_t k = 1; k < k_; ++k) {
            for (std::int64_t t = 0; t < trials; ++t) {
                const double at = numbers[k * trials + t] * sum[n_ - 1];
                const std::int64_t drawn = std::upper_bound(sum.begin(), sum.begin() + n_, at) - sum.begin();
                copy_row(std::min(drawn, n_ - 1), &candidates[t * d_]);
                lower(&candidates[t * d_], &others[t * stride_]);
            }
            add_up(others.data(), trials, sums.data());
            std::int64_t best = 0;
            for (std::int64_t t = 1; t < trials; ++t)
                if (sums[t * stride_ + n_ - 1] < sums[best * stride_ + n_ - 1]) best = t;
            std::copy_n(&candidates[best * d_], d_, &centers[k * d_]);
            std::copy_n(&others[best * stride_], n_, nearest_.begin());
            std::copy_n(&sums[best * stride_], n_, sum.begin());
        }
        return centers;
    }

    // Squared distances of all rows to the nearer of a point and the centers so far.
    void lower(const double *point, double *squares) const {
        dispatch([&]() UNBEND_INLINE {
            for (std::int64_t first = 0; first < stride_; first += block) {
                Four own[fours];
                measure(point, first, own);
                for (int f = 0; f < fours; ++f) {
                    const Four known = load_lanes<Four>(&nearest_[first + 4 * f]);
                    store_lanes(squares + first + 4 * f, own[f] < known ? own[f] : known);
                }
            }
        });
    }

    // Running sums of several lists of numbers, four at a time: each waits for its last addition.
    void add_up(const double *lists, std::int64_t count, double *sums) const {
        std::int64_t t = 0;
        for (; t + 4 <= count; t += 4) add_up_some<4>(lists + t * stride_, sums + t * stride_);
        if (t + 2 <= count) {
            add_up_some<2>(lists + t * stride_, sums + t * stride_);
            t += 2;
        }
        if (t < count) add_up_some<1>(lists + t * stride_, sums + t * stride_);
    }

    template <int lists>
    void add_up_some(const double *numbers, double *sums) const {
        double sum[lists] = {};
        for (std::int64_t i = 0; i < n_; ++i)
            for (int t = 0; t < lists; ++t) sums[t * stride_ + i] = sum[t] += numbers[t * stride_ + i];
    }

    // The nearest center of each row, the first of those equally near, and its squared distance.
    void assign(const std::vector<double> &centers) {
        dispatch([&]() UNBEND_INLINE {
            for (std::int64_t first = 0; first < stride_; first += block) {
                Four least[fours], which[fours] = {}, squares[fours];
                measure(centers.data(), first, least);
                for (std::int64_t k = 1; k < k_; ++k) {
                    measure(centers.data() + k * d_, first, squares);
                    const Four own = Four{} + static_cast<double>(k);
                    for (int f = 0; f < fours; ++f) {
                        which[f] = squares[f] < least[f] ? own : which[f];
                        least[f] = squares[f] < least[f] ? squares[f] : least[f];
                    }
                }
                for (int f = 0; f < fours; ++f) {
                    store_lanes(&nearest_[first + 4 * f], least[f]);
                    for (int i = 0; i < 4; ++i)
                        label_[first + 4 * f + i] = static_cast<std::int32_t>(which[f][i]);
                }
            }
        });
    }

    // Means of the rows of each center; a center without rows moves to the row farthest from its own.
    void means(const std::vector<double> &before, std::vector<double> &after) {
        std::vector<std::int64_t> count(k_, 0);
        for (std::int64_t i = 0; i < n_; ++i) ++count[label_[i]];
        for (std::int64_t k = 0; k < k_; ++k) {
            if (count[k] > 0) continue;
            const std::int64_t far = std::max_element(nearest_.begin(), nearest_.begin() + n_) - nearest_.begin();
            if (!(nearest_[far] > 0)) continue;   // fewer distinct rows than clusters
            --count[label_[far]];
            label_[far] = static_cast<std::int32_t>(k);
            nearest_[far] = 0;
            count[k] = 1;
        }
        sum_rows();
        for (std::int64_t k = 0; k < k_; ++k)
            for (std::int64_t c = 0; c < d_; ++c)
                after[k * d_ + c] = count[k] > 0 ? sums_[k * width_ + c] / static_cast<double>(count[k])
                                                 : before[k * d_ + c];
    }

    // Sums of the rows of each center, in the order of the rows.
    void sum_rows() {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        dispatch([&]() UNBEND_INLINE {
            for (std::int64_t i = 0; i < n_; ++i) {
                double *sum = &sums_[label_[i] * width_];
                const double *row = &rows_[i * width_];
                for (std::int64_t c = 0; c < width_; c += together) {
                    double part[together];
                    for (std::int64_t q = 0; q < together; ++q) part[q] = sum[c + q] + row[c + q];
                    for (std::int64_t q = 0; q < together; ++q) sum[c + q] = part[q];
                }
            }
        });
    }

    const std::int64_t n_, stride_, d_, k_, width_;
    std::vector<double> turned_, rows_, nearest_;
    std::vector<std::int32_t> label_;
    std::vector<double> sums_;
};

// The best of several runs, the first of those equally good. Threads share the runs.
inline Clustering kmeans(const double *rows, std::int64_t n, std::int64_t columns, std::int64_t clusters,
                         const double *numbers, std::int64_t runs, std::int64_t trials,
                         std::int64_t most, double tolerance, int threads,
                         const std::function<void()> &poll) {
    Poller poller(poll);
    std::vector<Clustering> found(runs);
    // A run compares all rows with all centers several times.
    const double operations = 16.0 * static_cast<double>(n * columns * clusters * runs);
    run_tasks(runs, threads_for(operations, threads), poller,
              [&] { return KMeans(rows, n, columns, clusters); },
              [&](KMeans &means, std::int64_t r) {
                  found[r] = means.run(numbers + r * clusters * trials, trials, most, tolerance, poller);
              });
    poller.rethrow();
    Clustering best;
    for (Clustering &one : found)
        if (one.inertia < best.inertia) best = std::move(one);
    return best;
}

}  // namespace unbend
