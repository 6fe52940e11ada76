// Products with the squares of a matrix of distances, which are never stored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dispatch.hpp"
#include "simd_memory.hpp"
#include "watch.hpp"

namespace unbend {

// Entries (d + shift)², or d itself where it is a square already.
struct Square {
    bool squared;
    double shift;

    template <typename Real>
    UNBEND_INLINE void operator()(const Real *distances, std::int64_t size, double *squares) const {
        if (squared) {
            for (std::int64_t j = 0; j < size; ++j) squares[j] = static_cast<double>(distances[j]);
            return;
        }
        for (std::int64_t j = 0; j < size; ++j) {
            const double shifted = static_cast<double>(distances[j]) + shift;
            squares[j] = shifted * shifted;
        }
    }
};

// Distances are read once for all vectors: a tile of four rows is squared into a buffer that stays
// in the first cache, and multiplied by three vectors at a time, which fills the registers. Sums
// are double for any `Real`.
template <typename Real>
class SquaredProducts {
  public:
    // `vectors` is (columns, width), C-contiguous.
    SquaredProducts(const Real *distances, std::int64_t columns, Square square,
                    const double *vectors, std::int64_t width)
        : distances_(distances), columns_(columns), square_(square), width_(width),
          padded_((width + side - 1) / side * side), packed_(padded_ * (columns + 3), 0.0) {
        // Four neighbouring columns of one vector lie together, vectors side by side.
        for (std::int64_t j = 0; j < columns; ++j)
            for (std::int64_t w = 0; w < width; ++w)
                packed_[(j / 4 * padded_ + w) * 4 + j % 4] = vectors[j * width + w];
    }

    // Rows first .. last of the product into `result` (rows, width).
    void run(std::int64_t first, std::int64_t last, double *result) const {
        dispatch([&]() UNBEND_INLINE { rows(first, last, result); });
    }

  private:
    typedef double Four __attribute__((vector_size(32)));
    static constexpr std::int64_t tile = 512;
    static constexpr int height = 4, side = 3;

    UNBEND_INLINE void rows(std::int64_t first, std::int64_t last, double *result) const {
        std::fill(result + first * width_, result + last * width_, 0.0);
        double squares[height][tile] = {};
        for (std::int64_t start = 0; start < columns_; start += tile) {
            const std::int64_t size = std::min(tile, columns_ - start);
            for (std::int64_t row = first; row < last; row += height) {
                const auto present = static_cast<int>(std::min<std::int64_t>(height, last - row));
                for (int r = 0; r < present; ++r) {
                    square_(distances_ + (row + r) * columns_ + start, size, squares[r]);
                    for (std::int64_t j = size; j % 4 != 0; ++j) squares[r][j] = 0.0;
                }
                for (std::int64_t w = 0; w < width_; w += side)
                    add_products(squares, start, size, w, present, result + row * width_);
            }
        }
    }

    // Adds what this tile gives to some rows of the products with `side` vectors.
    UNBEND_INLINE void add_products(const double (&squares)[height][tile], std::int64_t start,
                                    std::int64_t size, std::int64_t w, int present,
                                    double *result) const {
        Four sum[height][side] = {};
        const double *vectors = packed_.data() + start * padded_ + 4 * w;
        for (std::int64_t j = 0; j < size; j += 4, vectors += 4 * padded_)
            for (int r = 0; r < height; ++r) {
                const Four square = load_lanes<Four>(squares[r] + j);
                for (int v = 0; v < side; ++v)
                    sum[r][v] += square * load_lanes<Four>(vectors + 4 * v);
            }
        const auto wanted = static_cast<int>(std::min<std::int64_t>(side, width_ - w));
        for (int r = 0; r < present; ++r)
            for (int v = 0; v < wanted; ++v)
                result[r * width_ + w + v] +=
                    (sum[r][v][0] + sum[r][v][1]) + (sum[r][v][2] + sum[r][v][3]);
    }

    const Real *distances_;
    std::int64_t columns_;
    Square square_;
    std::int64_t width_, padded_;
    std::vector<double> packed_;
};

// result (rows, width) = square(distances) (rows, columns) times vectors (columns, width).
template <typename Real>
void squared_products(const Real *distances, std::int64_t rows, std::int64_t columns, Square square,
                      const double *vectors, std::int64_t width, int threads, const Poll &poll,
                      double *result) {
    const SquaredProducts<Real> products(distances, columns, square, vectors, width);
    constexpr std::int64_t at_once = 64;
    run_watched(rows, at_once, threads, poll, [] { return 0; },
                [&](int, std::int64_t first, std::int64_t last) {
                    products.run(first, last, result);
                });
}

}  // namespace unbend
