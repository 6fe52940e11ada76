// Rows of a group packed for products of matrices, which tell cheaply that two rows are far apart.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "nn_lists.hpp"
#include "offer.hpp"

namespace unbend {

// Members of a group relative to a point among them, in panels. Squares are reduced by a bound of the
// rounding, so that a_i + b_j - 2 x_i y_j is at most the key of the two rows: the product errs by
// less than d u |a||b|, differences from the common point by 4 u, sums by 4 u and the key itself by
// 32 u, each relative to |a|² + |b|².
class PackedGroup {
  public:
    PackedGroup(const float *rows, std::int64_t columns)
        : rows_(rows), columns_(columns),
          share_(1.0f - 1.01f * static_cast<float>(columns + 48) *
                            std::numeric_limits<float>::epsilon() / 2),
          least_(static_cast<float>(columns + 1) * std::numeric_limits<float>::min()) {}

    UNBEND_INLINE void pack(const std::int32_t *members, std::int64_t count, const float *center) {
        const std::int64_t padded = (count + width - 1) / width * width;
        if (static_cast<std::int64_t>(squares_.size()) < padded) {
            numbers_.resize(padded * columns_);
            squares_.resize(padded);
        }
        for (std::int64_t first = 0; first < count; first += width)
            pack_panel(members + first, std::min(width, count - first), center,
                       numbers_.data() + first * columns_, squares_.data() + first);
    }

    Sides<float> sides() const {
        const Panels<float> panels{numbers_.data(), squares_.data()};
        return {panels, panels, columns_};
    }

  private:
    static constexpr std::int64_t width = panel<float>;

    UNBEND_INLINE void pack_panel(const std::int32_t *members, std::int64_t count,
                                  const float *center, float *numbers, float *squares) const {
        for (std::int64_t m = 0; m < count; ++m) {
            const float *row = rows_ + members[m] * columns_;
            for (std::int64_t c = 0; c < columns_; ++c) numbers[c * width + m] = row[c] - center[c];
        }
        if (count < width)
            for (std::int64_t c = 0; c < columns_; ++c)
                std::fill(numbers + c * width + count, numbers + (c + 1) * width, 0.0f);
        Eight sums[3] = {};
        for (std::int64_t c = 0; c < columns_; ++c)
            for (int part = 0; part < 3; ++part) {
                const Eight some = load_eight(numbers + c * width + 8 * part);
                sums[part] = sums[part] + some * some;
            }
        for (std::int64_t m = 0; m < width; ++m) {
            const float square = sums[m / 8][m % 8];
            squares[m] = m < count ? share_ * square - least_
                                   : std::numeric_limits<float>::quiet_NaN();
        }
    }

    const float *rows_;
    std::int64_t columns_;
    float share_, least_;
    std::vector<float> numbers_, squares_;
};

}  // namespace unbend
