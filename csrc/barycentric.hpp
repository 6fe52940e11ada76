// New points written by the stored ones near them, and what these stand for combined alike.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "poll.hpp"
#include "ridge_four.hpp"

namespace unbend {

// Stored points (rows, columns) and values (rows, width) that belong to them.
template <typename Number>
struct Stored {
    const Number *points;
    const double *values;
    std::int64_t columns, width;
};

// Four new points at once. Weights w of neighbours at differences d_j from a point solve
// (G + ridge) w = 1 up to a factor, with G = D D' and ridge = reg * trace(G). There are more
// neighbours than columns, so the small matrix is solved: w = 1 - D (D'D + ridge)^-1 D'1. The
// ridge bounds the condition number, and with it what the subtraction loses, by 1 / reg.
template <typename Number>
class BarycentricFour {
  public:
    BarycentricFour(const Stored<Number> &stored, std::int64_t count)
        : stored_(stored), count_(count), differences_(count * stored.columns),
          sums_(stored.columns), products_(stored.columns * stored.columns), weights_(count) {}

    // Places points[lane] by its neighbours; a lane that is singular to rounding becomes NaN.
    UNBEND_INLINE void place(const double *const points[4], const std::int32_t *const near[4],
                             double reg, double *const placed[4]) {
        subtract(points, near);
        sum_up();
        solve(reg);
        weigh();
        for (int lane = 0; lane < 4; ++lane) combine(lane, near[lane], placed[lane]);
    }

  private:
    using Lanes = Four<double>;

    UNBEND_INLINE void subtract(const double *const points[4], const std::int32_t *const near[4]) {
        const std::int64_t columns = stored_.columns;
        for (std::int64_t j = 0; j < count_; ++j) {
            const Number *row[4];
            for (int i = 0; i < 4; ++i) row[i] = stored_.points + near[i][j] * columns;
            for (std::int64_t c = 0; c < columns; ++c) {
                double lane[4];
                for (int i = 0; i < 4; ++i) lane[i] = row[i][c] - points[i][c];
                differences_[j * columns + c] = Lanes::load(lane);
            }
        }
    }

    // D'1 and the lower half of D'D.
    UNBEND_INLINE void sum_up() {
        const std::int64_t columns = stored_.columns;
        for (std::int64_t a = 0; a < columns; ++a) {
            Lanes sum = Lanes::all(0);
            for (std::int64_t j = 0; j < count_; ++j) sum = sum + differences_[j * columns + a];
            sums_[a] = sum;
            for (std::int64_t b = 0; b <= a; ++b) {
                Lanes product = Lanes::all(0);
                for (std::int64_t j = 0; j < count_; ++j)
                    product = product +
                              differences_[j * columns + a] * differences_[j * columns + b];
                products_[a * columns + b] = product;
            }
        }
    }

    // (D'D + ridge) z = D'1, z in the place of the sums.
    UNBEND_INLINE void solve(double reg) {
        const std::int64_t columns = stored_.columns;
        add_ridge(products_.data(), columns, reg);
        factor_ldl(products_.data(), columns);
        substitute_ldl(products_.data(), columns, sums_.data());
    }

    UNBEND_INLINE void weigh() {
        const std::int64_t columns = stored_.columns;
        total_ = Lanes::all(0);
        for (std::int64_t j = 0; j < count_; ++j) {
            Lanes weight = Lanes::all(1);
            for (std::int64_t c = 0; c < columns; ++c)
                weight = weight - differences_[j * columns + c] * sums_[c];
            weights_[j] = weight;
            total_ = total_ + weight;
        }
    }

    UNBEND_INLINE void combine(int lane, const std::int32_t *near, double *placed) const {
        const double total = total_.pack[lane];
        for (std::int64_t c = 0; c < stored_.width; ++c) {
            double sum = 0;
            for (std::int64_t j = 0; j < count_; ++j)
                sum += weights_[j].pack[lane] * stored_.values[near[j] * stored_.width + c];
            placed[c] = sum / total;
        }
    }

    const Stored<Number> &stored_;
    std::int64_t count_;
    std::vector<Lanes> differences_, sums_, products_, weights_;
    Lanes total_ = Lanes::all(0);
};

// Places `count` points (count, columns) by their k neighbours each, to (count, width).
template <typename Number>
void place_barycentric(const Stored<Number> &stored, const double *points,
                       const std::int32_t *near, std::int64_t count, std::int64_t k, double reg,
                       int threads, double *placed) {
    run_blocks(0, (count + 3) / 4, 16, threads,
               [&] { return BarycentricFour<Number>(stored, k); },
               [&](BarycentricFour<Number> &four, std::int64_t group) UNBEND_INLINE {
                   const double *rows[4];
                   const std::int32_t *neighbors[4];
                   double *results[4];
                   for (std::int64_t lane = 0; lane < 4; ++lane) {
                       const std::int64_t i = std::min(4 * group + lane, count - 1);
                       rows[lane] = points + i * stored.columns;
                       neighbors[lane] = near + i * k;
                       results[lane] = placed + i * stored.width;
                   }
                   four.place(rows, neighbors, reg, results);
               });
}

// Weighted sums of values (rows, width) over k neighbours of each of `count` points.
inline void combine_rows(const double *values, std::int64_t width, const std::int32_t *near,
                         const double *weights, std::int64_t count, std::int64_t k, int threads,
                         double *sums) {
    run_blocks(0, count, 64, threads, [] { return 0; }, [&](int, std::int64_t i) UNBEND_INLINE {
        for (std::int64_t c = 0; c < width; ++c) {
            double sum = 0;
            for (std::int64_t j = 0; j < k; ++j)
                sum += weights[i * k + j] * values[near[i * k + j] * width + c];
            sums[i * width + c] = sum;
        }
    });
}

}  // namespace unbend
