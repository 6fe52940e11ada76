// Second moments of rows about their mean, without the rows far from it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "moments.hpp"

namespace unbend {

class NearProducts {
  public:
    // Rows more than `far` times as far from the mean as the median row are left out.
    NearProducts(const double *points, std::int64_t rows, std::int64_t columns, double far,
                 double *products)
        : points_(points),
          rows_(rows),
          columns_(columns),
          far_(far),
          products_(products),
          centre_(columns),
          shift_(columns),
          squares_(rows) {}

    // Gives the number of rows kept.
    std::int64_t run() {
        while (true) {
            guess_centre();
            gather();
            if (none_far()) break;
            for (std::int64_t c = 0; c < columns_; ++c) centre_[c] += shift_[c];
            gather();
            if (!leave_out()) break;
        }
        for (std::int64_t i = 0; i < columns_; ++i)
            for (std::int64_t j = 0; j < i; ++j)
                products_[j * columns_ + i] = products_[i * columns_ + j];
        return rows_;
    }

    // Mean fourth power of the lengths |x - m|. They are known as |x - c|, and of what the shift
    // s = m - c adds to those only the part of third moments is not; by Jensen's inequality they
    // are at least the square of the mean second power.
    double fourth() const {
        const auto n = static_cast<double>(rows_);
        double about_centre = 0, square = 0, trace = 0, along = 0;
        for (std::int64_t i = 0; i < rows_; ++i) about_centre += squares_[i] * squares_[i];
        for (std::int64_t i = 0; i < columns_; ++i) {
            square += shift_[i] * shift_[i];
            trace += products_[i * columns_ + i];
            for (std::int64_t j = 0; j < columns_; ++j)
                along += shift_[i] * products_[i * columns_ + j] * shift_[j];
        }
        const double mean = trace / n;
        const double found = (about_centre - 4 * along - 2 * square * trace) / n - square * square;
        return std::max(found, mean * mean);
    }

  private:
    static constexpr std::int64_t sample = 64;

    // The mean of a few rows from everywhere.
    void guess_centre() {
        const std::int64_t step = (rows_ + sample - 1) / sample, count = (rows_ + step - 1) / step;
        std::fill(centre_.begin(), centre_.end(), 0.0);
        for (std::int64_t i = 0; i < rows_; i += step)
            for (std::int64_t c = 0; c < columns_; ++c) centre_[c] += points_[i * columns_ + c];
        for (double &number : centre_) number /= static_cast<double>(count);
    }

    // Moments about the centre, then those about the mean, which is one shift away.
    void gather() {
        moments(points_, rows_, columns_, centre_.data(), shift_.data(), products_,
                squares_.data());
        const auto n = static_cast<double>(rows_);
        for (double &number : shift_) number /= n;
        for (std::int64_t i = 0; i < columns_; ++i)
            for (std::int64_t j = 0; j <= i; ++j)
                products_[i * columns_ + j] -= n * shift_[i] * shift_[j];
    }

    // Whether the centre was near enough to the mean to show that no row is far from it.
    bool none_far() const {
        double square = 0, trace = 0, largest = 0;
        for (std::int64_t c = 0; c < columns_; ++c) {
            square += shift_[c] * shift_[c];
            trace += products_[c * columns_ + c];
        }
        // Products lose one bit at most where the mean is nearer than the rows are.
        if (!(static_cast<double>(rows_) * square <= trace)) return false;
        const double gap = std::sqrt(square);
        for (std::int64_t i = 0; i < rows_; ++i) largest = std::max(largest, squares_[i]);
        // If more than half of the rows are farther than this, so is the median.
        const double reach = (std::sqrt(largest) + gap) / far_ + gap;
        std::int64_t beyond = 0;
        for (std::int64_t i = 0; i < rows_; ++i) beyond += squares_[i] > reach * reach;
        return beyond > rows_ / 2;
    }

    // Keeps the rows near the centre, which is the mean; tells whether any is far from it.
    bool leave_out() {
        const double bound = far_ * far_ * median();
        std::vector<double> near;
        for (std::int64_t i = 0; i < rows_; ++i)
            if (squares_[i] <= bound)
                near.insert(near.end(), points_ + i * columns_, points_ + (i + 1) * columns_);
        const std::int64_t count = static_cast<std::int64_t>(near.size()) / columns_;
        if (count == rows_ || count == 0) return false;
        kept_ = std::move(near);
        points_ = kept_.data();
        rows_ = count;
        return true;
    }

    double median() const {
        std::vector<double> sorted(squares_.begin(), squares_.begin() + rows_);
        const auto middle = sorted.begin() + rows_ / 2;
        std::nth_element(sorted.begin(), middle, sorted.end());
        if (rows_ % 2 == 1) return *middle;
        return (*middle + *std::max_element(sorted.begin(), middle)) / 2;
    }

    const double *points_;
    std::int64_t rows_, columns_;
    double far_;
    double *products_;
    std::vector<double> centre_, shift_, squares_, kept_;
};

}  // namespace unbend
