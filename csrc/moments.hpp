// Second moments of rows about a centre, in one pass: blocks of rows that stay in the first cache
// are centred there, and tiles of the products of their columns summed in registers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "dense.hpp"
#include "dispatch.hpp"
#include "simd_memory.hpp"

namespace unbend {

// The bits of as many numbers as lanes.
template <typename Lanes>
struct BitsOf;
template <>
struct BitsOf<Wide> {
    typedef std::uint64_t type __attribute__((vector_size(32)));
};
template <>
struct BitsOf<Narrow> {
    typedef std::uint64_t type __attribute__((vector_size(16)));
};

// Centred rows of a block, filled up with zeros to whole groups of columns.
class CentredBlock {
  public:
    static constexpr std::int64_t in_group = 4;

    CentredBlock(const double *centre, std::int64_t columns)
        : columns_(columns),
          stride_((columns + in_group - 1) / in_group * in_group),
          height_(std::max<std::int64_t>(16, cached / stride_)),
          centre_(stride_),
          within_(stride_),
          sums_(stride_),
          numbers_(height_ * stride_) {
        std::copy(centre, centre + columns, centre_.begin());
        std::fill(within_.begin(), within_.begin() + columns, all_bits());
    }

    std::int64_t height() const { return height_; }
    std::int64_t stride() const { return stride_; }
    const double *numbers() const { return numbers_.data(); }
    const double *sums() const { return sums_.data(); }

    // Takes in rows, adds them to the sums, and tells the squares of their lengths. Reads on beyond
    // a row, but not beyond `end`.
    template <typename Lanes>
    UNBEND_INLINE void fill(const double *points, const double *end, std::int64_t rows,
                            double *squares) {
        const std::int64_t columns = columns_, stride = stride_;
        std::int64_t i = 0;
        for (; i + 4 <= rows && points + (i + 3) * columns + stride <= end; i += 4)
            fill_rows<Lanes, 4>(points + i * columns, i, squares);
        for (; i < rows; ++i) {
            std::vector<double> row(points + i * columns, points + (i + 1) * columns);
            row.resize(stride);
            fill_rows<Lanes, 1>(row.data(), i, squares);
        }
    }

  private:
    static double all_bits() {
        const std::uint64_t bits = ~std::uint64_t{0};
        double number;
        std::memcpy(&number, &bits, sizeof number);
        return number;
    }

    // Some rows at once, so that the centre and the sums are read less often.
    template <typename Lanes, int count>
    UNBEND_INLINE void fill_rows(const double *points, std::int64_t first, double *squares) {
        using Bits = typename BitsOf<Lanes>::type;
        constexpr int step = lanes_of<Lanes>;
        const std::int64_t columns = columns_, stride = stride_;
        const double *centre = centre_.data(), *within = within_.data();
        double *to = numbers_.data() + first * stride, *sums = sums_.data();
        Lanes square[count] = {};
        for (std::int64_t c = 0; c < stride; c += step) {
            const Lanes middle = load_lanes<Lanes>(centre + c);
            const Bits mask = (Bits)load_lanes<Lanes>(within + c);
            Lanes sum = load_lanes<Lanes>(sums + c);
            for (int r = 0; r < count; ++r) {
                const Bits given = (Bits)load_lanes<Lanes>(points + r * columns + c) & mask;
                const Lanes number = (Lanes)given - middle;
                store_lanes(to + r * stride + c, number);
                square[r] += number * number;
                sum += number;
            }
            store_lanes(sums + c, sum);
        }
        double in_lanes[count][step];
        for (int r = 0; r < count; ++r) store_lanes(in_lanes[r], square[r]);
        for (int r = 0; r < count; ++r) {
            double total = in_lanes[r][0];
            for (int lane = 1; lane < step; ++lane) total += in_lanes[r][lane];
            squares[first + r] = total;
        }
    }

    // Numbers that leave room in the first cache for a tile and for the rows that come in.
    static constexpr std::int64_t cached = 3000;

    std::int64_t columns_, stride_, height_;
    // Within a row all bits are set, beyond it none.
    std::vector<double> centre_, within_, sums_, numbers_;
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
                sum[q][p] += load_lanes<Lanes>(other + p * lanes_of<Lanes>) * one[q];
    for (int q = 0; q < 4; ++q)
        for (int p = 0; p < parts; ++p) {
            double *to = products + (left + q) * stride + right + p * lanes_of<Lanes>;
            store_lanes(to, load_lanes<Lanes>(to) + sum[q][p]);
        }
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

// Sums of x - c, of (x - c)(x - c)', of which the lower triangle is filled, and, for each row, of
// its squares.
inline void moments(const double *points, std::int64_t rows, std::int64_t columns,
                    const double *centre, double *sums, double *products, double *squares) {
    CentredBlock block(centre, columns);
    const std::int64_t stride = block.stride();
    std::vector<double> triangle(stride * stride);
    dispatch_lanes([&](auto use) UNBEND_INLINE {
        using Lanes = typename decltype(use)::type;
        for (std::int64_t first = 0; first < rows; first += block.height()) {
            const std::int64_t count = std::min(block.height(), rows - first);
            block.template fill<Lanes>(points + first * columns, points + rows * columns, count,
                                       squares + first);
            add_triangle<Lanes>(block, count, triangle.data());
        }
    });
    std::copy(block.sums(), block.sums() + columns, sums);
    for (std::int64_t i = 0; i < columns; ++i)
        std::copy(&triangle[i * stride], &triangle[i * stride] + i + 1, products + i * columns);
}

}  // namespace unbend
