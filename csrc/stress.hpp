// Stress of a configuration and its gradient, in one pass over the pairs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "dispatch.hpp"
#include "pair_distances.hpp"
#include "poll.hpp"
#include "simd_wide.hpp"

namespace unbend {

// What is summed over pairs with dissimilarity δ at distance d.
enum class Loss {
    raw,      // w (d − δ)²
    sstress,  // w (d² − δ²)²
    sammon,   // w (d − δ)² / δ, nothing where δ = 0
};

// Dissimilarities of the pairs i < j, row after row; no weights means that all are one.
template <typename Real>
struct Pairs {
    std::int64_t n;
    const Real *dissimilarity;
    const Real *weight;

    // Place of the pair (i, i + 1).
    std::int64_t row(std::int64_t i) const { return i * n - i * (i + 1) / 2; }
};

// Rows are taken in blocks, columns in chunks that stay in the first cache with all that belongs
// to them. Each pair is read once and moves both of its ends: those of a block are summed in
// `Real` and then in double. Strips of rows are fixed by n alone and summed in their order, so the
// number of threads does not show.
template <typename Real, Loss loss>
class StressSum {
  public:
    // `coordinates` and `gradient` are (n, d); `spread` (n,), if any, gets each object's sum.
    StressSum(const Pairs<Real> &pairs, const double *coordinates, std::int64_t d)
        : pairs_(pairs), d_(d), places_(d * pairs.n) {
        for (std::int64_t i = 0; i < pairs.n; ++i)
            for (std::int64_t k = 0; k < d; ++k)
                places_[k * pairs.n + i] = static_cast<Real>(coordinates[i * d + k]);
    }

    double run(int threads, Poller &poller, double *gradient, double *spread) const {
        const std::int64_t n = pairs_.n, width = d_ + (spread != nullptr);
        std::vector<std::vector<double>> sums(strips);
        double totals[strips] = {};
        run_tasks(
            strips, threads, poller, [&] { return Workspace(width); },
            [&](Workspace &workspace, std::int64_t strip) {
                const std::int64_t first = border(strip), last = border(strip + 1);
                sums[strip].assign((n - first) * width, 0.0);
                dispatch([&]() UNBEND_INLINE {
                    for (std::int64_t row = first; row < last; row += block)
                        totals[strip] += rows(row, std::min(row + block, last), first, width,
                                              workspace, sums[strip].data());
                });
            });
        poller.rethrow();
        return gather(sums, totals, width, gradient, spread);
    }

  private:
    static constexpr std::int64_t strips = 16, block = 32, chunk = 1024, two_rows = 2;

    struct Workspace {
        explicit Workspace(std::int64_t width) : moved(width * chunk) {}
        Real square[chunk], pull[chunk], share[chunk];
        std::vector<Real> moved;
    };

    std::int64_t border(std::int64_t strip) const { return strip_border(pairs_.n, strip, strips); }

    // Pairs of some rows with all later ones; each column of `sums` begins at the row `origin`.
    UNBEND_INLINE double rows(std::int64_t first, std::int64_t last, std::int64_t origin,
                              std::int64_t width, Workspace &workspace, double *sums) const {
        const std::int64_t rest = pairs_.n - origin;
        double total = 0;
        for (std::int64_t start = first + 1; start < pairs_.n; start += chunk) {
            const std::int64_t end = std::min(start + chunk, pairs_.n);
            std::fill(workspace.moved.begin(), workspace.moved.end(), Real(0));
            std::int64_t i = first;
            if (d_ == 2 && width == 2)
                for (; i + two_rows <= last; i += two_rows)
                    total += pairs_.weight == nullptr
                                 ? planar<false>(i, start, end, workspace, sums + (i - origin), rest)
                                 : planar<true>(i, start, end, workspace, sums + (i - origin), rest);
            for (; i < last; ++i) {
                const std::int64_t from = std::max(start, i + 1);
                if (from < end)
                    total += part(i, from, end - from, from - start, width, workspace,
                                  sums + (i - origin), rest);
            }
            for (std::int64_t k = 0; k < width; ++k) {
                const Real *moved = workspace.moved.data() + k * chunk;
                double *sum = sums + k * rest + (start - origin);
#pragma omp simd
                for (std::int64_t j = 0; j < end - start; ++j) sum[j] += moved[j];
            }
        }
        return total;
    }

    // Pairs of row i with `size` columns; `moved` counts from the start of the chunk, and the
    // columns of the row's own sums are `rest` apart.
    UNBEND_INLINE double part(std::int64_t i, std::int64_t column, std::int64_t size,
                              std::int64_t at, std::int64_t width, Workspace &workspace,
                              double *own, std::int64_t rest) const {
        Real *square = workspace.square;
        for (std::int64_t k = 0; k < d_; ++k) {
            const Real *place = places_.data() + k * pairs_.n;
            const Real here = place[i];
            if (k == 0)
                for (std::int64_t j = 0; j < size; ++j) {
                    const Real away = here - place[column + j];
                    square[j] = away * away;
                }
            else
                for (std::int64_t j = 0; j < size; ++j) {
                    const Real away = here - place[column + j];
                    square[j] += away * away;
                }
        }
        const std::int64_t first = pairs_.row(i) + column - i - 1;
        const double total = pairs_.weight == nullptr ? pulls<false>(first, size, workspace)
                                                      : pulls<true>(first, size, workspace);
        for (std::int64_t k = 0; k < d_; ++k) own[k * rest] += move(i, k, column, size, at, workspace);
        if (width > d_) {
            Real *spread = workspace.moved.data() + d_ * chunk + at;
            for (std::int64_t j = 0; j < size; ++j) spread[j] += workspace.share[j];
            own[d_ * rest] += total;
        }
        return total;
    }

    // One pair, or several side by side: the share in the stress, and half the derivative by the
    // distance over the distance.
    template <typename Number>
    struct Pair {
        Number share, pull;
    };

    template <typename Number>
    UNBEND_INLINE static Pair<Number> pair(Number square, Number target, Number w) {
        if constexpr (loss == Loss::sstress) {
            const Number off = square - target * target;
            return {w * off * off, 2 * w * off};
        } else {
            // Of two objects in one place neither is moved, however strong the pull.
            const Number least = Number{} + Real(1e-18);
            if constexpr (loss == Loss::sammon)
                w = target > 0 ? w / (target > least ? target : least) : Number{};
            const Number distance = root(square), off = distance - target;
            return {w * off * off, w * off / (distance > least ? distance : least)};
        }
    }

    // Planes: two rows at once with the columns from `start` to `end`. Everything about a pair
    // stays in registers, and the next rows are asked for: they begin where no prefetcher guesses.
    template <bool weighted>
    UNBEND_INLINE double planar(std::int64_t i, std::int64_t start, std::int64_t end,
                                Workspace &workspace, double *own, std::int64_t rest) const {
        using Lanes = typename Side<Real>::Lanes;
        constexpr std::int64_t side = Side<Real>::count;
        const std::int64_t n = pairs_.n, from = std::max(start, i + two_rows);
        const std::int64_t size = end > from ? (end - from) / side * side : 0;
        Real *moved = workspace.moved.data() + (from - start);
        const Real *x = places_.data() + from, *y = x + n;
        const std::int64_t first[2] = {pairs_.row(i) + from - i - 1,
                                       pairs_.row(i + 1) + from - i - 2};
        const Real here_x[2] = {places_[i], places_[i + 1]};
        const Real here_y[2] = {places_[n + i], places_[n + i + 1]};
        const Real *target[2] = {pairs_.dissimilarity + first[0], pairs_.dissimilarity + first[1]};
        const Real *weights = weighted ? pairs_.weight : pairs_.dissimilarity;
        const Real *weight[2] = {weights + first[0], weights + first[1]};
        const std::int64_t further = 2 * (n - i) - 5;
        Lanes total{}, own_x[2] = {}, own_y[2] = {};
        for (std::int64_t j = 0; j < size; j += side) {
            const Lanes there_x = lanes(x + j), there_y = lanes(y + j);
            Lanes moved_x = load_lanes<Lanes>(moved + j);
            Lanes moved_y = load_lanes<Lanes>(moved + chunk + j);
            for (int r = 0; r < 2; ++r) {
                __builtin_prefetch(target[r] + j + further);
                const Lanes away_x = here_x[r] - there_x, away_y = here_y[r] - there_y;
                const auto one = pair<Lanes>(away_x * away_x + away_y * away_y,
                                             lanes(target[r] + j),
                                             weighted ? lanes(weight[r] + j) : Lanes{} + Real(1));
                total += one.share;
                own_x[r] += one.pull * away_x;
                own_y[r] += one.pull * away_y;
                moved_x -= one.pull * away_x;
                moved_y -= one.pull * away_y;
            }
            store_lanes(moved + j, moved_x);
            store_lanes(moved + chunk + j, moved_y);
        }
        double sum = sum_of(total);
        for (int r = 0; r < 2; ++r) {
            own[r] += sum_of(own_x[r]);
            own[rest + r] += sum_of(own_y[r]);
            // What is left: at the diagonal, and beyond the last whole vector.
            for (const auto &[a, b] : {std::pair(std::max(start, i + r + 1), std::min(from, end)),
                                       std::pair(from + size, end)})
                if (a < b) sum += part(i + r, a, b - a, a - start, 2, workspace, own + r, rest);
        }
        return sum;
    }

    // Turns squared distances into shares and pulls.
    template <bool weighted>
    UNBEND_INLINE double pulls(std::int64_t first, std::int64_t size, Workspace &workspace) const {
        const Real *dissimilarity = pairs_.dissimilarity + first;
        const Real *weight = weighted ? pairs_.weight + first : nullptr;
        Real total = 0;
#pragma omp simd reduction(+ : total)
        for (std::int64_t j = 0; j < size; ++j) {
            const auto one = pair<Real>(workspace.square[j], dissimilarity[j],
                                        weighted ? weight[j] : Real(1));
            workspace.pull[j] = one.pull;
            workspace.share[j] = one.share;
            total += one.share;
        }
        return static_cast<double>(total);
    }

    // Adds one coordinate of the pulls to the columns; returns what they add to the row.
    UNBEND_INLINE double move(std::int64_t i, std::int64_t k, std::int64_t column,
                              std::int64_t size, std::int64_t at, Workspace &workspace) const {
        const Real *place = places_.data() + k * pairs_.n;
        const Real here = place[i];
        Real *moved = workspace.moved.data() + k * chunk + at;
        Real own = 0;
#pragma omp simd reduction(+ : own)
        for (std::int64_t j = 0; j < size; ++j) {
            const Real moves = workspace.pull[j] * (here - place[column + j]);
            moved[j] -= moves;
            own += moves;
        }
        return static_cast<double>(own);
    }

    double gather(const std::vector<std::vector<double>> &sums, const double (&totals)[strips],
                  std::int64_t width, double *gradient, double *spread) const {
        std::fill(gradient, gradient + pairs_.n * d_, 0.0);
        if (spread) std::fill(spread, spread + pairs_.n, 0.0);
        double total = 0;
        for (std::int64_t strip = 0; strip < strips; ++strip) {
            total += totals[strip];
            const std::int64_t first = border(strip);
            const std::int64_t rest = pairs_.n - first;
            for (std::int64_t k = 0; k < width; ++k) {
                const double *sum = sums[strip].data() + k * rest;
                for (std::int64_t i = first; i < pairs_.n; ++i)
                    if (k < d_)
                        gradient[i * d_ + k] += 2 * sum[i - first];
                    else
                        spread[i] += sum[i - first];
            }
        }
        return total;
    }

    Pairs<Real> pairs_;
    std::int64_t d_;
    std::vector<Real> places_;
};

// Stress of a configuration (n, d); fills its gradient and, if asked for, each object's sum.
template <typename Real>
double stress(const Pairs<Real> &pairs, Loss loss, const double *coordinates, std::int64_t d,
              int threads, const std::function<void()> &poll, double *gradient, double *spread) {
    Poller poller(poll);
    threads = threads_for(8.0 * pairs.row(pairs.n), threads);
    if (loss == Loss::raw)
        return StressSum<Real, Loss::raw>(pairs, coordinates, d)
            .run(threads, poller, gradient, spread);
    if (loss == Loss::sstress)
        return StressSum<Real, Loss::sstress>(pairs, coordinates, d)
            .run(threads, poller, gradient, spread);
    return StressSum<Real, Loss::sammon>(pairs, coordinates, d)
        .run(threads, poller, gradient, spread);
}

}  // namespace unbend
