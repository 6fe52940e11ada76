// k-means of rows of few columns: greedy k-means++ (Arthur and Vassilvitskii, 2007) from given random numbers, then
// Lloyd's iteration. Rows lie column by column, so that several of them are compared with a center at once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "dispatch.hpp"
#include "poll.hpp"

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
          turned_(stride_ * columns, 0.0), nearest_(stride_), other_(stride_), label_(stride_) {
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t c = 0; c < columns; ++c) turned_[c * stride_ + i] = rows[i * columns + c];
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
    static constexpr std::int64_t block = 32;

    // Squared distances of all rows to a point.
    void distances(const double *point, std::vector<double> &squares) const {
        dispatch([&]() UNBEND_INLINE {
            for (std::int64_t first = 0; first < stride_; first += block) measure(point, first, &squares[first]);
        });
    }

    UNBEND_INLINE void measure(const double *point, std::int64_t first, double *squares) const {
        double sum[block] = {};
        for (std::int64_t c = 0; c < d_; ++c) {
            const double *column = turned_.data() + c * stride_ + first;
            for (std::int64_t i = 0; i < block; ++i) {
                const double difference = column[i] - point[c];
                sum[i] += difference * difference;
            }
        }
        std::copy(sum, sum + block, squares);
    }

    void copy_row(std::int64_t i, double *center) const {
        for (std::int64_t c = 0; c < d_; ++c) center[c] = turned_[c * stride_ + i];
    }

    // Each center is, of some rows drawn with probabilities proportional to their squared distances
    // from the centers so far, the one that lowers their sum most.
    std::vector<double> seed(const double *numbers, std::int64_t trials) {
        std::vector<double> centers(k_ * d_), candidate(d_), best(stride_);
        copy_row(std::min(static_cast<std::int64_t>(numbers[0] * n_), n_ - 1), centers.data());
        distances(centers.data(), nearest_);
        for (std::int64_t k = 1; k < k_; ++k) {
            double total = 0, least = std::numeric_limits<double>::infinity();
            for (std::int64_t i = 0; i < n_; ++i) total += nearest_[i];
            for (std::int64_t t = 0; t < trials; ++t) {
                copy_row(draw(numbers[k * trials + t] * total), candidate.data());
                distances(candidate.data(), other_);
                double sum = 0;
                for (std::int64_t i = 0; i < n_; ++i) {
                    other_[i] = std::min(other_[i], nearest_[i]);
                    sum += other_[i];
                }
                if (sum < least) {
                    least = sum;
                    std::copy(candidate.begin(), candidate.end(), centers.begin() + k * d_);
                    best.swap(other_);
                }
            }
            nearest_.swap(best);
        }
        return centers;
    }

    std::int64_t draw(double at) const {
        double sum = 0;
        for (std::int64_t i = 0; i < n_; ++i)
            if ((sum += nearest_[i]) > at) return i;
        return n_ - 1;
    }

    // The nearest center of each row, the first of those equally near, and its squared distance.
    void assign(const std::vector<double> &centers) {
        dispatch([&]() UNBEND_INLINE {
            for (std::int64_t first = 0; first < stride_; first += block) {
                double least[block], which[block] = {}, squares[block];
                measure(centers.data(), first, least);
                for (std::int64_t k = 1; k < k_; ++k) {
                    measure(centers.data() + k * d_, first, squares);
                    for (std::int64_t i = 0; i < block; ++i) {
                        which[i] = squares[i] < least[i] ? static_cast<double>(k) : which[i];
                        least[i] = squares[i] < least[i] ? squares[i] : least[i];
                    }
                }
                std::copy(least, least + block, nearest_.begin() + first);
                for (std::int64_t i = 0; i < block; ++i)
                    label_[first + i] = static_cast<std::int32_t>(which[i]);
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
        std::fill(after.begin(), after.end(), 0.0);
        for (std::int64_t c = 0; c < d_; ++c) {
            const double *column = turned_.data() + c * stride_;
            for (std::int64_t i = 0; i < n_; ++i) after[label_[i] * d_ + c] += column[i];
        }
        for (std::int64_t k = 0; k < k_; ++k)
            for (std::int64_t c = 0; c < d_; ++c)
                after[k * d_ + c] = count[k] > 0 ? after[k * d_ + c] / static_cast<double>(count[k])
                                                 : before[k * d_ + c];
    }

    const std::int64_t n_, stride_, d_, k_;
    std::vector<double> turned_, nearest_, other_;
    std::vector<std::int32_t> label_;
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
