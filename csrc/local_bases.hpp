// What each neighbourhood says of the surface: bases of its affine functions, and of the
// quadratics that are not affine. Blocks are (s, columns) and column-major.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "dispatch.hpp"
#include "watch.hpp"

namespace unbend {

// Singular values below this share of the largest are rounding, not directions.
constexpr double rank_tolerance = 1e-10;

UNBEND_INLINE inline double dot(const double *a, const double *b, std::int64_t size) {
    double sum = 0;
    for (std::int64_t i = 0; i < size; ++i) sum += a[i] * b[i];
    return sum;
}

UNBEND_INLINE inline void subtract(double factor, const double *b, std::int64_t size, double *a) {
    for (std::int64_t i = 0; i < size; ++i) a[i] -= factor * b[i];
}

// Turns two columns so that they are orthogonal; false if they were.
UNBEND_INLINE inline bool rotate(double *p, double *q, std::int64_t s) {
    const double across = dot(p, q, s), first = dot(p, p, s), second = dot(q, q, s);
    if (!(std::abs(across) > 1e-15 * std::sqrt(first * second))) return false;
    const double zeta = (second - first) / (2 * across);
    const double tangent = std::copysign(1.0, zeta) / (std::abs(zeta) + std::hypot(1.0, zeta));
    const double cosine = 1 / std::sqrt(1 + tangent * tangent), sine = cosine * tangent;
    for (std::int64_t i = 0; i < s; ++i) {
        const double old = p[i];
        p[i] = cosine * old - sine * q[i];
        q[i] = sine * old + cosine * q[i];
    }
    return true;
}

// Columns become left singular vectors times singular values, largest first (one-sided Jacobi,
// Hestenes 1958): accurate for small singular values too. `size` gets the singular values.
UNBEND_INLINE inline void singular_columns(double *block, std::int64_t s, std::int64_t columns,
                                           double *size) {
    bool turned = true;
    for (int sweep = 0; sweep < 40 && turned; ++sweep) {
        turned = false;
        for (std::int64_t p = 0; p < columns; ++p)
            for (std::int64_t q = p + 1; q < columns; ++q)
                turned |= rotate(block + p * s, block + q * s, s);
    }
    for (std::int64_t c = 0; c < columns; ++c)
        size[c] = std::sqrt(dot(block + c * s, block + c * s, s));
    for (std::int64_t c = 0; c < columns; ++c) {
        const std::int64_t largest = std::max_element(size + c, size + columns) - size;
        std::swap(size[c], size[largest]);
        std::swap_ranges(block + c * s, block + (c + 1) * s, block + largest * s);
    }
}

// Makes columns orthonormal, and orthogonal to the `given` ones before them; those not longer
// than `least` become zero. Twice, so that it holds to rounding.
UNBEND_INLINE inline void orthonormalize(double *block, std::int64_t s, std::int64_t given,
                                         std::int64_t columns, const double *size, double least) {
    for (std::int64_t c = given; c < given + columns; ++c) {
        double *column = block + c * s;
        const double length = size[c - given];
        if (!(length > least)) {
            std::fill(column, column + s, 0.0);
            continue;
        }
        for (std::int64_t i = 0; i < s; ++i) column[i] /= length;
        for (int again = 0; again < 2; ++again)
            for (std::int64_t b = 0; b < c; ++b)
                subtract(dot(block + b * s, column, s), block + b * s, s, column);
        const double left = std::sqrt(dot(column, column, s));
        for (std::int64_t i = 0; i < s; ++i) column[i] /= left;
    }
}

// Bases of neighbourhoods of s points with r coordinates each, one after the other.
class LocalBases {
  public:
    LocalBases(std::int64_t s, std::int64_t r, std::int64_t d)
        : s_(s), r_(r), d_(d), wide_(std::max(r, d)), centred_(s * wide_),
          affine_(s * (1 + d + d * (d + 1) / 2)), size_(std::max(wide_, d * (d + 1) / 2)) {}

    // [1/√s, tangent coordinates], (s, 1 + d): directions that are missing are zero.
    UNBEND_INLINE const double *affine(const double *points) {
        centre(points);
        std::fill(centred_.begin() + s_ * r_, centred_.end(), 0.0);
        std::fill(size_.begin(), size_.end(), 0.0);
        singular_columns(centred_.data(), s_, r_, size_.data());
        std::fill(affine_.begin(), affine_.begin() + s_, 1 / std::sqrt(static_cast<double>(s_)));
        std::copy(centred_.begin(), centred_.begin() + s_ * d_, affine_.begin() + s_);
        orthonormalize(affine_.data(), s_, 1, d_, size_.data(), rank_tolerance * size_[0]);
        return affine_.data();
    }

    // Products of tangent coordinates, less what of them is affine, (s, d(d + 1)/2).
    UNBEND_INLINE const double *quadratic(const double *points) {
        affine(points);
        const std::int64_t columns = d_ * (d_ + 1) / 2;
        double *products = affine_.data() + s_ * (1 + d_), *product = products;
        double whole = 0;
        for (std::int64_t a = 1; a <= d_; ++a)
            for (std::int64_t b = a; b <= d_; ++b, product += s_) {
                for (std::int64_t i = 0; i < s_; ++i)
                    product[i] = affine_[a * s_ + i] * affine_[b * s_ + i];
                whole += dot(product, product, s_);
                for (int again = 0; again < 2; ++again)
                    for (std::int64_t c = 0; c <= d_; ++c)
                        subtract(dot(&affine_[c * s_], product, s_), &affine_[c * s_], s_, product);
            }
        singular_columns(products, s_, columns, size_.data());
        orthonormalize(affine_.data(), s_, 1 + d_, columns, size_.data(),
                       rank_tolerance * std::sqrt(whole));
        return products;
    }

  private:
    // From the first point, so that points that coincide differ by exactly zero; to unit size, so
    // that no square overflows.
    UNBEND_INLINE void centre(const double *points) {
        double largest = 0;
        for (std::int64_t i = 0; i < s_; ++i)
            for (std::int64_t c = 0; c < r_; ++c) {
                centred_[c * s_ + i] = points[i * r_ + c] - points[c];
                largest = std::max(largest, std::abs(centred_[c * s_ + i]));
            }
        for (std::int64_t c = 0; c < r_; ++c) {
            double *column = &centred_[c * s_], mean = 0;
            for (std::int64_t i = 0; i < s_; ++i) {
                column[i] = largest > 0 ? column[i] / largest : 0.0;
                mean += column[i] / static_cast<double>(s_);
            }
            for (std::int64_t i = 0; i < s_; ++i) column[i] -= mean;
        }
    }

    std::int64_t s_, r_, d_, wide_;
    std::vector<double> centred_, affine_, size_;
};

// Neighbourhoods of s points with r coordinates, one after the other.
struct GivenPoints {
    const double *points;

    const double *of(std::int64_t m, std::int64_t s, std::int64_t r, double *) const {
        return points + m * s * r;
    }
};

// Neighbourhoods as numbers of rows, whose coordinates are taken relative to the first.
struct GatheredPoints {
    const double *rows;
    const std::int32_t *members;

    const double *of(std::int64_t m, std::int64_t s, std::int64_t r, double *to) const {
        const std::int32_t *member = members + m * s;
        const double *origin = rows + member[0] * r;
        for (std::int64_t i = 0; i < s; ++i)
            for (std::int64_t c = 0; c < r; ++c) to[i * r + c] = rows[member[i] * r + c] - origin[c];
        return to;
    }
};

// bases (count, s, width) of points (count, s, r): affine ones of width 1 + d, or quadratic ones
// of width d(d + 1)/2.
template <typename Points>
void local_bases(const Points &points, std::int64_t count, std::int64_t s, std::int64_t r,
                 std::int64_t d, bool quadratic, int threads, const Poll &poll, double *bases) {
    const std::int64_t width = quadratic ? d * (d + 1) / 2 : 1 + d;
    constexpr std::int64_t at_once = 64;
    struct Own {
        LocalBases local;
        std::vector<double> space;
    };
    const auto make = [&] { return Own{LocalBases(s, r, d), std::vector<double>(s * r)}; };
    run_watched(count, at_once, threads, poll, make,
                [&](Own &own, std::int64_t first, std::int64_t last) {
        LocalBases &local = own.local;
        dispatch([&]() UNBEND_INLINE {
            for (std::int64_t m = first; m < last; ++m) {
                const double *given = points.of(m, s, r, own.space.data());
                const double *block = quadratic ? local.quadratic(given) : local.affine(given);
                double *basis = bases + m * s * width;
                for (std::int64_t i = 0; i < s; ++i)
                    for (std::int64_t c = 0; c < width; ++c) basis[i * width + c] = block[c * s + i];
            }
        });
    });
}

}  // namespace unbend
