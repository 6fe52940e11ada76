// Second moments of rows about a centre, in one pass: blocks of rows that stay in the first cache
// are centred there, and tiles of the products of their columns summed in registers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dense.hpp"
#include "dispatch.hpp"

namespace unbend {

// Numbers in memory as lanes, reached through a pointer: arrays of lanes that are filled by memcpy
// GCC keeps on the stack.
template <typename Lanes>
struct Stored {
    typedef Lanes type __attribute__((aligned(sizeof(double)), may_alias));
};
template <typename Lanes>
UNBEND_INLINE inline typename Stored<Lanes>::type &lanes_at(double *numbers) {
    return *reinterpret_cast<typename Stored<Lanes>::type *>(numbers);
}
template <typename Lanes>
UNBEND_INLINE inline const typename Stored<Lanes>::type &lanes_at(const double *numbers) {
    return *reinterpret_cast<const typename Stored<Lanes>::type *>(numbers);
}

// Centred rows of a block, filled up with zeros to whole groups of columns.
class CentredBlock {
  public:
    static constexpr std::int64_t in_group = 4;

    CentredBlock(const double *centre, std::int64_t columns)
        : columns_(columns),
          stride_((columns + in_group - 1) / in_group * in_group),
          height_(std::max<std::int64_t>(16, cached / stride_)),
          centre_(centre, centre + columns),
          sums_(stride_),
          numbers_(height_ * stride_) {}

    std::int64_t height() const { return height_; }
    std::int64_t stride() const { return stride_; }
    const double *numbers() const { return numbers_.data(); }
    const double *sums() const { return sums_.data(); }

    // Takes in rows, adds them to the sums, and tells the squares of their lengths.
    template <typename Lanes>
    UNBEND_INLINE void fill(const double *points, std::int64_t rows, double *squares) {
        constexpr std::int64_t step = lanes_of<Lanes>;
        const std::int64_t columns = columns_, whole = columns / step * step;
        const double *centre = centre_.data();
        double *row = numbers_.data();
        for (std::int64_t i = 0; i < rows; ++i, points += columns, row += stride_) {
            Lanes square = {};
            for (std::int64_t c = 0; c < whole; c += step) {
                const Lanes number = lanes_at<Lanes>(points + c) - lanes_at<Lanes>(centre + c);
                lanes_at<Lanes>(row + c) = number;
                square += number * number;
            }
            double rest = 0;
            for (std::int64_t c = whole; c < columns; ++c) {
                row[c] = points[c] - centre[c];
                rest += row[c] * row[c];
            }
            for (int lane = 0; lane < step; ++lane) rest += square[lane];
            squares[i] = rest;
        }
        for (std::int64_t c = 0; c < stride_; c += step) add_column_sums<Lanes>(rows, c);
    }

  private:
    // In four sums: each addition waits for the one before.
    template <typename Lanes>
    UNBEND_INLINE void add_column_sums(std::int64_t rows, std::int64_t column) {
        const double *number = numbers_.data() + column;
        const std::int64_t stride = stride_;
        Lanes sum[4] = {};
        std::int64_t i = 0;
        for (; i + 4 <= rows; i += 4, number += 4 * stride)
            for (int q = 0; q < 4; ++q) sum[q] += lanes_at<Lanes>(number + q * stride);
        for (; i < rows; ++i, number += stride) sum[0] += lanes_at<Lanes>(number);
        lanes_at<Lanes>(sums_.data() + column) += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }

    // Numbers that leave room in the first cache for a tile and for the rows that come in.
    static constexpr std::int64_t cached = 3000;

    std::int64_t columns_, stride_, height_;
    std::vector<double> centre_, sums_, numbers_;
};

// Adds the products of four columns with some groups of four to a row-major matrix.
template <typename Lanes, int Groups>
UNBEND_INLINE inline void add_products(const CentredBlock &block, std::int64_t rows,
                                       std::int64_t left, std::int64_t right, double *products) {
    constexpr int parts = Groups * CentredBlock::in_group / lanes_of<Lanes>;
    const std::int64_t stride = block.stride();
    const double *one = block.numbers() + left, *other = block.numbers() + right;
    Lanes sum[4][parts] = {};
    for (std::int64_t i = 0; i < rows; ++i, one += stride, other += stride)
        for (int q = 0; q < 4; ++q)
            for (int p = 0; p < parts; ++p)
                sum[q][p] += lanes_at<Lanes>(other + p * lanes_of<Lanes>) * one[q];
    for (int q = 0; q < 4; ++q)
        for (int p = 0; p < parts; ++p)
            lanes_at<Lanes>(products + (left + q) * stride + right + p * lanes_of<Lanes>) +=
                sum[q][p];
}

// The lower triangle, in tiles of up to three groups of four columns; none is one group wide but
// the first, since four sums alone would wait for each other.
template <typename Lanes>
UNBEND_INLINE inline void add_triangle(const CentredBlock &block, std::int64_t rows,
                                       double *products) {
    for (std::int64_t left = 0; left < block.stride(); left += 4) {
        std::int64_t right = 0, groups = left / 4 + 1;
        for (; groups > 4 || groups == 3; groups -= 3, right += 12)
            add_products<Lanes, 3>(block, rows, left, right, products);
        for (; groups >= 2; groups -= 2, right += 8)
            add_products<Lanes, 2>(block, rows, left, right, products);
        if (groups == 1) add_products<Lanes, 1>(block, rows, left, right, products);
    }
}

// Sums of x - c, of (x - c)(x - c)' and, for each row, of its squares.
inline void moments(const double *points, std::int64_t rows, std::int64_t columns,
                    const double *centre, double *sums, double *products, double *squares) {
    CentredBlock block(centre, columns);
    const std::int64_t stride = block.stride();
    std::vector<double> triangle(stride * stride);
    dispatch_lanes([&](auto use) UNBEND_INLINE {
        using Lanes = typename decltype(use)::type;
        for (std::int64_t first = 0; first < rows; first += block.height()) {
            const std::int64_t count = std::min(block.height(), rows - first);
            block.template fill<Lanes>(points + first * columns, count, squares + first);
            add_triangle<Lanes>(block, count, triangle.data());
        }
    });
    std::copy(block.sums(), block.sums() + columns, sums);
    for (std::int64_t i = 0; i < columns; ++i)
        for (std::int64_t j = 0; j <= i; ++j)
            products[i * columns + j] = products[j * columns + i] = triangle[i * stride + j];
}

}  // namespace unbend
