// Weights that write the first point of each neighbourhood by the others: four at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "poll.hpp"
#include "ridge_four.hpp"

namespace unbend {

// Room for four neighbourhoods of `others` + 1 points, one in each lane.
class WeightsOfFour {
  public:
    WeightsOfFour(std::int64_t others, std::int64_t columns)
        : others_(others),
          columns_(columns),
          differences_(others * columns),
          gram_(others * others),
          weights_(others) {}

    // Solves (G + ridge) w = 1 for neighbourhoods block[0..3], G the Gram matrix of the differences
    // to the first point; lanes whose matrix is singular to rounding become NaN.
    UNBEND_INLINE void solve(const double *const block[4], double reg) {
        subtract(block);
        fill_gram();
        add_ridge(gram_.data(), others_, reg);
        factor_ldl(gram_.data(), others_);
        std::fill(weights_.begin(), weights_.end(), Lanes::all(1));
        substitute_ldl(gram_.data(), others_, weights_.data());
        normalize();
    }

    UNBEND_INLINE void write(int lane, double *weights) const {
        for (std::int64_t j = 0; j < others_; ++j) weights[j] = weights_[j].pack[lane];
    }

  private:
    using Lanes = Four<double>;

    UNBEND_INLINE void subtract(const double *const block[4]) {
        for (std::int64_t j = 0; j < others_; ++j)
            for (std::int64_t c = 0; c < columns_; ++c) {
                double lane[4];
                for (int i = 0; i < 4; ++i)
                    lane[i] = block[i][(j + 1) * columns_ + c] - block[i][c];
                differences_[j * columns_ + c] = Lanes::load(lane);
            }
    }

    // The lower half of G.
    UNBEND_INLINE void fill_gram() {
        for (std::int64_t i = 0; i < others_; ++i)
            for (std::int64_t j = 0; j <= i; ++j) {
                Lanes sum = Lanes::all(0);
                for (std::int64_t c = 0; c < columns_; ++c)
                    sum = sum + differences_[i * columns_ + c] * differences_[j * columns_ + c];
                gram_[i * others_ + j] = sum;
            }
    }

    UNBEND_INLINE void normalize() {
        Lanes total = Lanes::all(0);
        for (std::int64_t i = others_ - 1; i >= 0; --i) total = total + weights_[i];
        for (std::int64_t i = 0; i < others_; ++i) weights_[i] = weights_[i] / total;
    }

    std::int64_t others_, columns_;
    std::vector<Lanes> differences_, gram_, weights_;
};

// Weights (count, points - 1) of neighbourhoods (count, points, columns), summing to one.
inline void barycentric_weights(const double *coordinates, std::int64_t count, std::int64_t points,
                                std::int64_t columns, double reg, int threads, double *weights) {
    const std::int64_t others = points - 1;
    run_blocks(0, (count + 3) / 4, 16, threads, [&] { return WeightsOfFour(others, columns); },
               [&](WeightsOfFour &four, std::int64_t group) UNBEND_INLINE {
                   const std::int64_t first = 4 * group;
                   const double *block[4];
                   for (std::int64_t i = 0; i < 4; ++i)
                       block[i] = coordinates + std::min(first + i, count - 1) * points * columns;
                   four.solve(block, reg);
                   for (std::int64_t i = first; i < std::min(first + 4, count); ++i)
                       four.write(static_cast<int>(i - first), weights + i * others);
               });
}

}  // namespace unbend
