// Rows of a group packed for products of matrices, which tell cheaply that two rows are far apart.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "nn_lists.hpp"
#include "offer.hpp"

// GCC has it from its version 12 on.
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define UNBEND_HAS_SHUFFLES
#endif
#endif

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
        std::int64_t m = 0;
#if defined(UNBEND_HAS_SHUFFLES)
        for (; m + 4 <= count; m += 4) pack_four(members + m, center, numbers + m);
#endif
        for (; m < count; ++m) {
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

#if defined(UNBEND_HAS_SHUFFLES)
    // Four members at once, by transposing blocks of four columns: numbers that are stored one by
    // one would take longer than the products of a small group.
    UNBEND_INLINE void pack_four(const std::int32_t *members, const float *center,
                                 float *numbers) const {
        typedef float Lanes __attribute__((vector_size(16)));
        for (std::int64_t c = 0; c < columns_; c += 4, numbers += 4 * width) {
            const Lanes middle = load_lanes<Lanes>(center + c);
            Lanes rows[4];
            for (int m = 0; m < 4; ++m)
                rows[m] = load_lanes<Lanes>(rows_ + members[m] * columns_ + c) - middle;
            const Lanes a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
            const Lanes b = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
            const Lanes d = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
            const Lanes e = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
            store_lanes(numbers, Lanes(__builtin_shufflevector(a, b, 0, 1, 4, 5)));
            store_lanes(numbers + width, Lanes(__builtin_shufflevector(a, b, 2, 3, 6, 7)));
            store_lanes(numbers + 2 * width, Lanes(__builtin_shufflevector(d, e, 0, 1, 4, 5)));
            store_lanes(numbers + 3 * width, Lanes(__builtin_shufflevector(d, e, 2, 3, 6, 7)));
        }
    }
#endif

    const float *rows_;
    std::int64_t columns_;
    float share_, least_;
    std::vector<float> numbers_, squares_;
};

}  // namespace unbend
