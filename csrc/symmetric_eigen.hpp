// All eigenpairs of a small symmetric matrix: Householder's reduction to three diagonals, then
// implicit QL steps (Bowdler, Martin, Reinsch and Wilkinson, 1968). Vectors are products of rotations
// and reflections, so they are orthonormal whatever the eigenvalues are. For up to some hundred rows a
// call of LAPACK takes longer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "dispatch.hpp"

namespace unbend {

class SymmetricEigen {
  public:
    // The mean of a matrix (n, n) and its transpose, scaled by a power of two to numbers of at most one.
    // Rows of the matrix are `stride` apart; of vectors only the entries from `first` on are found.
    SymmetricEigen(const double *matrix, std::int64_t stride, std::int64_t n, std::int64_t first = 0)
        : n_(n), entries_(n - first), rest_(n * n), turn_(n * n, 0.0), vectors_(n * entries_, 0.0),
          diagonal_(n), beside_(n, 0.0), product_(n) {
        double largest = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            if (i >= first) vectors_[i * entries_ + i - first] = 1;
            for (std::int64_t j = 0; j < n; ++j)
                largest = std::max(largest, std::abs(matrix[i * stride + j]));
        }
        int exponent = 0;
        if (std::isfinite(largest)) std::frexp(largest, &exponent);
        scale_ = std::max(exponent, -1000);
        const double factor = std::ldexp(0.5, -scale_);
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j <= i; ++j)
                rest_[i * n + j] = rest_[j * n + i] =
                    factor * matrix[i * stride + j] + factor * matrix[j * stride + i];
    }

    // Writes eigenvalues, ascending, and eigenvectors, one a row; false where QL does not converge, as for
    // numbers that are not finite.
    bool run(double *values, double *vectors) {
        bool found = false;
        dispatch([&]() UNBEND_INLINE {
            reduce();
            turn();
            found = iterate();
        });
        if (!found) return false;
        std::vector<std::int64_t> order(n_);
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
            return diagonal_[a] < diagonal_[b] || (diagonal_[a] == diagonal_[b] && a < b);
        });
        for (std::int64_t i = 0; i < n_; ++i) {
            values[i] = std::ldexp(diagonal_[order[i]], scale_);
            std::copy_n(vectors_.data() + order[i] * entries_, entries_, vectors + i * entries_);
        }
        return true;
    }

  private:
    static constexpr int most_steps = 60;
    // Squares up to here, of numbers of at most one, are too near to underflow to have all digits.
    static constexpr double tiny_square = 1e-280;

    UNBEND_INLINE void add(double factor, const double *from, std::int64_t count, double *to) const {
        for (std::int64_t i = 0; i < count; ++i) to[i] += factor * from[i];
    }

    // Reflections v v' from both sides, one a column; row k of `turn_` keeps v, scaled so that the
    // reflection is I - v v'.
    UNBEND_INLINE void reduce() {
        const std::int64_t n = n_;
        for (std::int64_t k = 0; k + 1 < n; ++k) {
            diagonal_[k] = rest_[k * n + k];
            double *v = &turn_[k * n];
            double squares = 0;
            for (std::int64_t i = k + 1; i < n; ++i) {
                v[i] = rest_[k * n + i];
                squares += i > k + 1 ? v[i] * v[i] : 0.0;
            }
            if (!(squares > tiny_square)) {
                beside_[k] = v[k + 1];
                std::fill(v, v + n, 0.0);
                continue;
            }
            const double size = -std::copysign(std::sqrt(squares + v[k + 1] * v[k + 1]), v[k + 1]);
            beside_[k] = size;
            const double factor = 1 / std::sqrt(size * (size - v[k + 1]));
            v[k + 1] -= size;
            for (std::int64_t i = k + 1; i < n; ++i) v[i] *= factor;
            reflect(v, k + 1);
        }
        if (n > 0) diagonal_[n - 1] = rest_[n * n - 1];
    }

    // (I - v v') A (I - v v') of the rows and columns from `first` on.
    UNBEND_INLINE void reflect(const double *v, std::int64_t first) {
        const std::int64_t n = n_, count = n - first;
        double *p = product_.data();
        std::fill(p, p + n, 0.0);
        for (std::int64_t i = first; i < n; ++i) add(v[i], &rest_[i * n + first], count, p + first);
        double half = 0;
        for (std::int64_t i = first; i < n; ++i) half += p[i] * v[i];
        add(-half / 2, v + first, count, p + first);
        for (std::int64_t i = first; i < n; ++i) {
            double *row = &rest_[i * n + first];
            for (std::int64_t j = 0; j < count; ++j)
                row[j] -= v[i] * p[first + j] + p[i] * v[first + j];
        }
    }

    // The transposed product of all reflections, its last columns.
    UNBEND_INLINE void turn() {
        for (std::int64_t k = 0; k + 1 < n_; ++k) {
            const double *v = &turn_[k * n_];
            double *p = product_.data();
            std::fill(p, p + entries_, 0.0);
            for (std::int64_t i = k + 1; i < n_; ++i) add(v[i], &vectors_[i * entries_], entries_, p);
            for (std::int64_t i = k + 1; i < n_; ++i) add(-v[i], p, entries_, &vectors_[i * entries_]);
        }
    }

    // Whether an entry beside the diagonal is rounding of those on it.
    UNBEND_INLINE bool negligible(std::int64_t i) const {
        const double sum = std::abs(diagonal_[i]) + std::abs(diagonal_[i + 1]);
        return std::abs(beside_[i]) <= std::numeric_limits<double>::epsilon() / 2 * sum + 1e-150;
    }

    UNBEND_INLINE bool iterate() {
        for (std::int64_t low = 0; low < n_; ++low)
            for (int steps = 0;; ++steps) {
                std::int64_t high = low;
                while (high + 1 < n_ && !negligible(high)) ++high;
                if (high == low) break;
                if (steps == most_steps) return false;
                step(low, high);
            }
        return true;
    }

    // One implicit QL step with Wilkinson's shift on the rows low .. high.
    UNBEND_INLINE void step(std::int64_t low, std::int64_t high) {
        double *d = diagonal_.data(), *e = beside_.data();
        double g = (d[low + 1] - d[low]) / (2 * e[low]);
        g = d[high] - d[low] + e[low] / (g + std::copysign(std::hypot(g, 1.0), g));
        double sine = 1, cosine = 1, p = 0;
        for (std::int64_t i = high - 1; i >= low; --i) {
            const double f = sine * e[i], b = cosine * e[i], squares = f * f + g * g;
            const double r = squares > tiny_square ? std::sqrt(squares) : std::hypot(f, g);
            e[i + 1] = r;
            if (r == 0) {
                d[i + 1] -= p;
                e[high] = 0;
                return;
            }
            sine = f / r;
            cosine = g / r;
            g = d[i + 1] - p;
            const double t = (d[i] - g) * sine + 2 * cosine * b;
            p = sine * t;
            d[i + 1] = g + p;
            g = cosine * t - b;
            rotate(&vectors_[i * entries_], &vectors_[(i + 1) * entries_], cosine, sine);
        }
        d[low] -= p;
        e[low] = g;
        e[high] = 0;
    }

    UNBEND_INLINE void rotate(double *lower, double *upper, double cosine, double sine) const {
        for (std::int64_t k = 0; k < entries_; ++k) {
            const double before = upper[k];
            upper[k] = sine * lower[k] + cosine * before;
            lower[k] = cosine * lower[k] - sine * before;
        }
    }

    const std::int64_t n_, entries_;
    std::vector<double> rest_, turn_, vectors_, diagonal_, beside_, product_;
    int scale_ = 0;
};

}  // namespace unbend
