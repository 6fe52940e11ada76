// The leading eigenpairs of small symmetric matrices without negative eigenvalues: products with a block
// that pivoted Cholesky starts (Rutishauser, 1969). Where others are near, all pairs are found.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "dispatch.hpp"
#include "symmetric_eigen.hpp"

namespace unbend {

// Rows of matrices are padded by zeros to whole vectors.
UNBEND_INLINE inline std::int64_t padded_size(std::int64_t size) { return (size + 3) / 4 * 4; }

UNBEND_INLINE inline double padded_dot(const double *a, const double *b, std::int64_t padded) {
    double sum[4] = {0, 0, 0, 0};
    for (std::int64_t i = 0; i < padded; i += 4)
        for (int l = 0; l < 4; ++l) sum[l] += a[i + l] * b[i + l];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

UNBEND_INLINE inline void padded_add(double factor, const double *a, std::int64_t padded, double *to) {
    for (std::int64_t i = 0; i < padded; i += 4)
        for (int l = 0; l < 4; ++l) to[i + l] += factor * a[i + l];
}

class LeadingPairs {
  public:
    // Of matrices of at most so many rows, `d` pairs.
    LeadingPairs(std::int64_t most, std::int64_t d)
        : d_(d), vectors_(d * padded_size(most)), images_(d * padded_size(most)),
          rest_(padded_size(most)), products_(d * d), values_(d) {}

    // Rows of a matrix (size, size) are padded. A direction that the matrix has not is zero.
    UNBEND_INLINE void run(const double *matrix, std::int64_t size) {
        size_ = size;
        padded_ = padded_size(size);
        matrix_ = matrix;
        trace_ = 0;
        for (std::int64_t i = 0; i < size; ++i) trace_ += matrix[i * padded_ + i];
        std::fill(values_.begin(), values_.end(), 0.0);
        std::fill(vectors_.begin(), vectors_.end(), 0.0);
        if (!(trace_ > 0)) return;
        const bool few = d_ <= most_iterated && d_ < size;
        if (!few || !start() || !iterate()) all_pairs();
    }

    double trace() const { return trace_; }
    // Descending.
    double value(std::int64_t a) const { return values_[a]; }
    // Of unit length; entries from the size on are zero.
    const double *vector(std::int64_t a) const { return &vectors_[a * padded_]; }

  private:
    static constexpr std::int64_t most_iterated = 6;
    static constexpr int most_steps = 12;
    // Residual, relative to the least eigenvalue wanted.
    static constexpr double tolerance = 1e-7;
    // Eigenvalues below this share of the sum are not told from rounding well enough.
    static constexpr double least_share = 1e-3;

    // The columns of pivoted Cholesky, which span the range where its rank is d; false if it is less.
    UNBEND_INLINE bool start() {
        double *rest = rest_.data();
        for (std::int64_t i = 0; i < size_; ++i) rest[i] = matrix_[i * padded_ + i];
        for (std::int64_t a = 0; a < d_; ++a) {
            const std::int64_t pivot = std::max_element(rest, rest + size_) - rest;
            if (!(rest[pivot] > 1e-10 * trace_)) return false;
            double *column = &vectors_[a * padded_];
            std::copy_n(matrix_ + pivot * padded_, padded_, column);
            for (std::int64_t b = 0; b < a; ++b)
                padded_add(-vectors_[b * padded_ + pivot], &vectors_[b * padded_], padded_, column);
            const double factor = 1 / std::sqrt(rest[pivot]);
            for (std::int64_t i = 0; i < size_; ++i) {
                column[i] *= factor;
                rest[i] -= column[i] * column[i];
            }
        }
        return orthonormalize();
    }

    // Gram–Schmidt, twice; false where the vectors are nearly dependent.
    UNBEND_INLINE bool orthonormalize() {
        for (std::int64_t a = 0; a < d_; ++a) {
            double *vector = &vectors_[a * padded_];
            const double before = padded_dot(vector, vector, padded_);
            for (int again = 0; again < (a > 0 ? 2 : 0); ++again)
                for (std::int64_t b = 0; b < a; ++b) {
                    const double *other = &vectors_[b * padded_];
                    padded_add(-padded_dot(other, vector, padded_), other, padded_, vector);
                }
            const double squares = padded_dot(vector, vector, padded_);
            if (!(squares > 1e-24 * before)) return false;
            const double factor = 1 / std::sqrt(squares);
            for (std::int64_t i = 0; i < padded_; ++i) vector[i] *= factor;
        }
        return true;
    }

    // False where the block does not converge, or another eigenvalue may be larger than one of its own.
    UNBEND_INLINE bool iterate() {
        for (int step = 0; step < most_steps; ++step) {
            for (std::int64_t a = 0; a < d_; ++a) multiply(a);
            double least = trace_, error = 0;
            for (std::int64_t a = 0; a < d_; ++a) {
                const double *image = &images_[a * padded_];
                error += padded_dot(image, image, padded_);
                for (std::int64_t b = 0; b < d_; ++b) {
                    products_[a * d_ + b] = padded_dot(image, &vectors_[b * padded_], padded_);
                    error -= products_[a * d_ + b] * products_[a * d_ + b];
                }
                least = std::min(least, products_[a * d_ + a]);
            }
            if (!(least > least_share * trace_)) return false;
            // The difference of squares is rounding below the second term: the residual itself decides.
            const double most = tolerance * tolerance * least * least;
            if (error <= most + 1e-15 * trace_ * trace_ && residual_squares() <= most) return finish();
            std::swap(vectors_, images_);
            if (!orthonormalize()) return false;
        }
        return false;
    }

    // Sum of squares of the images outside the span of the block.
    UNBEND_INLINE double residual_squares() {
        double *rest = rest_.data(), squares = 0;
        for (std::int64_t a = 0; a < d_; ++a) {
            std::copy_n(&images_[a * padded_], padded_, rest);
            for (std::int64_t b = 0; b < d_; ++b)
                padded_add(-products_[a * d_ + b], &vectors_[b * padded_], padded_, rest);
            squares += padded_dot(rest, rest, padded_);
        }
        return squares;
    }

    UNBEND_INLINE void multiply(std::int64_t a) {
        const double *vector = &vectors_[a * padded_];
        double *image = &images_[a * padded_];
        std::fill(image, image + padded_, 0.0);
        for (std::int64_t j = 0; j < size_; ++j)
            padded_add(vector[j], matrix_ + j * padded_, padded_, image);
    }

    // Turns the block so that the products are diagonal (Jacobi), and sorts it.
    UNBEND_INLINE bool finish() {
        bool turned = true;
        for (int sweep = 0; sweep < 30 && turned; ++sweep) {
            turned = false;
            for (std::int64_t p = 0; p < d_; ++p)
                for (std::int64_t q = p + 1; q < d_; ++q) turned |= rotate(p, q);
        }
        for (std::int64_t a = 0; a < d_; ++a) values_[a] = products_[a * d_ + a];
        double left = trace_;
        for (std::int64_t a = 0; a < d_; ++a) {
            const std::int64_t largest =
                std::max_element(values_.begin() + a, values_.end()) - values_.begin();
            std::swap(values_[a], values_[largest]);
            if (largest != a)
                std::swap_ranges(&vectors_[a * padded_], &vectors_[a * padded_] + padded_,
                                 &vectors_[largest * padded_]);
            left -= values_[a];
        }
        return left < values_[d_ - 1];
    }

    UNBEND_INLINE bool rotate(std::int64_t p, std::int64_t q) {
        const double first = products_[p * d_ + p], second = products_[q * d_ + q];
        const double across = (products_[p * d_ + q] + products_[q * d_ + p]) / 2;
        if (!(std::abs(across) > 1e-14 * trace_)) return false;
        const double zeta = (second - first) / (2 * across);
        const double tangent =
            std::copysign(1.0, zeta) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
        const double cosine = 1 / std::sqrt(1 + tangent * tangent), sine = cosine * tangent;
        for (std::int64_t k = 0; k < d_; ++k)
            turn(products_[k * d_ + p], products_[k * d_ + q], cosine, sine);
        for (std::int64_t k = 0; k < d_; ++k)
            turn(products_[p * d_ + k], products_[q * d_ + k], cosine, sine);
        for (std::int64_t i = 0; i < padded_; ++i)
            turn(vectors_[p * padded_ + i], vectors_[q * padded_ + i], cosine, sine);
        return true;
    }

    UNBEND_INLINE static void turn(double &first, double &second, double cosine, double sine) {
        const double old = first;
        first = cosine * old - sine * second;
        second = sine * old + cosine * second;
    }

    void all_pairs() {
        std::vector<double> values(size_), vectors(size_ * size_);
        std::fill(values_.begin(), values_.end(), 0.0);
        std::fill(vectors_.begin(), vectors_.end(), 0.0);
        if (!SymmetricEigen(matrix_, padded_, size_).run(values.data(), vectors.data())) return;
        for (std::int64_t a = 0; a < std::min(d_, size_); ++a) {
            values_[a] = std::max(values[size_ - 1 - a], 0.0);
            std::copy_n(&vectors[(size_ - 1 - a) * size_], size_, &vectors_[a * padded_]);
        }
    }

    const std::int64_t d_;
    std::int64_t size_ = 0, padded_ = 0;
    const double *matrix_ = nullptr;
    double trace_ = 0;
    std::vector<double> vectors_, images_, rest_, products_, values_;
};

}  // namespace unbend
