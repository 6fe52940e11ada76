// A block of vectors made orthonormal, and orthogonal to a basis: Gram and Schmidt by blocks, twice, each
// time with a Cholesky factor of the inner products.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "dot_tiles.hpp"

namespace unbend {

class OrthonormalBlock {
  public:
    // `block` (n, width) is copied, vectors one after the other.
    OrthonormalBlock(const double *block, std::int64_t n, std::int64_t width, double well_apart)
        : n_(n), width_(width), well_apart_(well_apart), vectors_(n * width), inner_(width * width) {
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t v = 0; v < width; ++v) vectors_[v * n + i] = block[i * width + v];
    }

    // Takes the part inside the basis (count, n) out, and orthonormalises the rest; false where that
    // is not well conditioned. `inside` becomes the norm of what was taken out.
    bool round(const double *basis, std::int64_t count, double &inside) {
        std::vector<double> products(count * width_);
        bool good = false;
        dispatch_lanes([&](auto use) UNBEND_INLINE {
            using Lanes = typename decltype(use)::type;
            // products[v * count + b]
            inner_products<Lanes>(basis, count, products.data());
            subtract<Lanes>(basis, count, products.data());
            inner_products<Lanes>(vectors_.data(), width_, inner_.data());
            good = invert_factor();
            if (good) turn<Lanes>();
        });
        double squares = 0;
        for (double one : products) squares += one * one;
        inside = std::sqrt(squares);
        return good;
    }

    void store(double *block) const {
        for (std::int64_t i = 0; i < n_; ++i)
            for (std::int64_t v = 0; v < width_; ++v) block[i * width_ + v] = vectors_[v * n_ + i];
    }

  private:
    // Inner products of all vectors with `count` others: of other b and vector v at v * count + b.
    template <typename Lanes>
    UNBEND_INLINE void inner_products(const double *others, std::int64_t count, double *result) {
        std::int64_t b = 0;
        for (; b + 4 <= count; b += 4)
            dot_rows<Lanes, 4>(others + b * n_, vectors_.data(), width_, n_, result + b, count);
        for (; b < count; ++b)
            dot_rows<Lanes, 1>(others + b * n_, vectors_.data(), width_, n_, result + b, count);
    }

    // Some lanes of V vectors less their part inside the basis.
    template <typename Lanes, int V, int parts>
    UNBEND_INLINE void subtract_tile(const double *basis, std::int64_t count, const double *factors,
                                     double *vectors, std::int64_t j) {
        constexpr int step = lanes_of<Lanes>;
        Lanes rest[V][parts];
        for (int v = 0; v < V; ++v)
            for (int p = 0; p < parts; ++p)
                rest[v][p] = load_lanes<Lanes>(vectors + v * n_ + j + p * step);
        for (std::int64_t b = 0; b < count; ++b)
            for (int p = 0; p < parts; ++p) {
                const Lanes one = load_lanes<Lanes>(basis + b * n_ + j + p * step);
                for (int v = 0; v < V; ++v) rest[v][p] -= one * factors[v * count + b];
            }
        for (int v = 0; v < V; ++v)
            for (int p = 0; p < parts; ++p) store_lanes(vectors + v * n_ + j + p * step, rest[v][p]);
    }

    template <typename Lanes, int V>
    UNBEND_INLINE void subtract_from(const double *basis, std::int64_t count, const double *factors,
                                     double *vectors) {
        constexpr int step = lanes_of<Lanes>;
        std::int64_t j = 0;
        for (; j + 4 * step <= n_; j += 4 * step)
            subtract_tile<Lanes, V, 4>(basis, count, factors, vectors, j);
        for (; j + step <= n_; j += step)
            subtract_tile<Lanes, V, 1>(basis, count, factors, vectors, j);
        for (; j < n_; ++j)
            for (int v = 0; v < V; ++v)
                for (std::int64_t b = 0; b < count; ++b)
                    vectors[v * n_ + j] -= basis[b * n_ + j] * factors[v * count + b];
    }

    template <typename Lanes>
    UNBEND_INLINE void subtract(const double *basis, std::int64_t count, const double *factors) {
        std::int64_t v = 0;
        for (; v + 2 <= width_; v += 2)
            subtract_from<Lanes, 2>(basis, count, factors + v * count, &vectors_[v * n_]);
        if (v < width_) subtract_from<Lanes, 1>(basis, count, factors + v * count, &vectors_[v * n_]);
    }

    // Replaces the inner products G by the inverse of their lower Cholesky factor; lengths are set
    // apart, so that a factor with small pivots means vectors that nearly depend on each other.
    UNBEND_INLINE bool invert_factor() {
        const std::int64_t w = width_;
        std::vector<double> length(w);
        double *g = inner_.data();
        for (std::int64_t i = 0; i < w; ++i) {
            length[i] = std::sqrt(g[i * w + i]);
            if (!(length[i] > 0) || !std::isfinite(length[i])) return false;
        }
        for (std::int64_t i = 0; i < w; ++i)
            for (std::int64_t j = 0; j <= i; ++j) {
                double rest = g[i * w + j] / length[i] / length[j];
                for (std::int64_t k = 0; k < j; ++k) rest -= g[i * w + k] * g[j * w + k];
                if (i == j && !(rest > well_apart_ * well_apart_)) return false;
                g[i * w + j] = i == j ? std::sqrt(rest) : rest / g[j * w + j];
            }
        std::vector<double> inverse(w * w);
        for (std::int64_t j = 0; j < w; ++j)
            for (std::int64_t i = j; i < w; ++i) {
                double rest = i == j ? 1.0 : 0.0;
                for (std::int64_t k = j; k < i; ++k) rest -= g[i * w + k] * inverse[k * w + j];
                inverse[i * w + j] = rest / g[i * w + i];
            }
        for (std::int64_t i = 0; i < w; ++i)
            for (std::int64_t j = 0; j <= i; ++j) g[i * w + j] = inverse[i * w + j] / length[j];
        return true;
    }

    // Vectors times the inverse factor, from the last on, which needs all before it.
    template <typename Lanes>
    UNBEND_INLINE void turn() {
        constexpr int step = lanes_of<Lanes>;
        const double *factor = inner_.data();
        for (std::int64_t i = width_ - 1; i >= 0; --i) {
            double *to = &vectors_[i * n_];
            std::int64_t c = 0;
            for (; c + step <= n_; c += step) {
                Lanes sum = {};
                for (std::int64_t k = 0; k <= i; ++k)
                    sum += load_lanes<Lanes>(&vectors_[k * n_ + c]) * factor[i * width_ + k];
                store_lanes(to + c, sum);
            }
            for (; c < n_; ++c) {
                double sum = 0;
                for (std::int64_t k = 0; k <= i; ++k)
                    sum += vectors_[k * n_ + c] * factor[i * width_ + k];
                to[c] = sum;
            }
        }
    }

    std::int64_t n_, width_;
    double well_apart_;
    std::vector<double> vectors_, inner_;
};

// Replaces a block (n, width) by an orthonormal one, orthogonal to the basis (count, n), in two rounds.
// Gives the norm of what the second took out, or a negative number, and the block as it was, where
// a round is not well conditioned.
inline double orthonormal_block(const double *basis, std::int64_t count, double *block,
                                std::int64_t n, std::int64_t width, double well_apart) {
    OrthonormalBlock own(block, n, width, well_apart);
    double inside = 0;
    for (int number = 0; number < 2; ++number)
        if (!own.round(basis, count, inside)) return -1;
    own.store(block);
    return inside;
}

}  // namespace unbend
