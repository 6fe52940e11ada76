// Blocks of a Krylov space of the inverse of a factorised matrix, several at a time: of small matrices
// the calls between solutions would take longer than these.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "dot_tiles.hpp"
#include "orthonormal.hpp"
#include "solve.hpp"
#include "symmetric_eigen.hpp"

namespace unbend {

// Vectors lie one after the other: trivial ones, then orthonormal blocks beside them. `small` holds
// the inner products of these and their images.
struct BlockSpace {
    std::int64_t n, width, trivial, size, room;
    double *basis;   // (trivial + room, n)
    double *images;  // (room, n)
    double *small;   // (room, room)
};

// When the largest eigenvalues of the inverse, as many as are wanted, are looked at no further: with so
// many blocks at least, once the angle of their vectors is estimated to be within the tolerance, or
// where eigenvalues differ so much that rounding hides the smaller ones.
struct Acceptance {
    std::int64_t wanted, blocks;
    double tolerance, spread, least_gap;
};

class BlockGrowth {
  public:
    BlockGrowth(const Factor &factor, const BlockSpace &space, double well_apart, double little,
                const Acceptance &acceptance, int threads, const std::function<void()> &poll)
        : factor_(factor), space_(space), well_apart_(well_apart), little_(little),
          acceptance_(acceptance), threads_(threads), poll_(poll), rows_(space.n * space.width) {}

    // Adds a block (n, width) and its image, then the rest of that image, and so on; returns how many
    // blocks were added, which is less than `count` where a rest is not well conditioned, or where the
    // pairs that the space holds may be accepted.
    std::int64_t run(const double *block, std::int64_t count) {
        std::copy_n(block, rows_.size(), rows_.begin());
        for (std::int64_t added = 1;; ++added) {
            add();
            if (added == count || may_be_accepted()) return added;
            turn(image(), rows_.data());
            const double inside = orthonormal_block(space_.basis, space_.trivial + space_.size,
                                                    rows_.data(), space_.n, space_.width, well_apart_);
            if (!(inside >= 0 && inside <= little_)) return added;
        }
    }

  private:
    // The last image.
    double *image() const { return space_.images + (space_.size - space_.width) * space_.n; }

    // Vectors to rows.
    void turn(const double *vectors, double *rows) const {
        for (std::int64_t v = 0; v < space_.width; ++v)
            for (std::int64_t i = 0; i < space_.n; ++i)
                rows[i * space_.width + v] = vectors[v * space_.n + i];
    }

    void add() {
        const std::int64_t n = space_.n, w = space_.width, old = space_.size;
        double *block = space_.basis + (space_.trivial + old) * n;
        for (std::int64_t v = 0; v < w; ++v)
            for (std::int64_t i = 0; i < n; ++i) block[v * n + i] = rows_[i * w + v];
        Solution(factor_, w, threads_, poll_).run(rows_.data(), rows_.data());
        space_.size += w;
        double *solved = image();
        for (std::int64_t v = 0; v < w; ++v)
            for (std::int64_t i = 0; i < n; ++i) solved[v * n + i] = rows_[i * w + v];
        // The inverse blows the rounding of trivial parts up.
        products_.resize(w * std::max(space_.trivial, space_.size));
        multiply(space_.basis, space_.trivial);
        for (std::int64_t v = 0; v < w; ++v)
            for (std::int64_t t = 0; t < space_.trivial; ++t) {
                const double part = products_[v * space_.trivial + t];
                const double *known = space_.basis + t * n;
                for (std::int64_t i = 0; i < n; ++i) solved[v * n + i] -= part * known[i];
            }
        multiply(space_.basis + space_.trivial * n, space_.size);
        for (std::int64_t v = 0; v < w; ++v)
            for (std::int64_t b = 0; b < space_.size; ++b) {
                const double one = products_[v * space_.size + b];
                space_.small[b * space_.room + old + v] = one;
                space_.small[(old + v) * space_.room + b] = one;
            }
    }

    // The residual of a pair is what of the last image, times the last coefficients of its vector, lies
    // outside the space: in a Krylov space the images of all other blocks lie inside.
    bool may_be_accepted() {
        const std::int64_t w = space_.width, size = space_.size, wanted = acceptance_.wanted;
        if (wanted == 0 || wanted >= size || size < acceptance_.blocks * w) return false;
        std::vector<double> values(size), last(size * w);
        if (!SymmetricEigen(space_.small, space_.room, size, size - w).run(values.data(), last.data()))
            return false;
        std::reverse(values.begin(), values.end());
        const double least = values[wanted - 1];
        if (!(0 < values[0] && values[0] <= acceptance_.spread * least)) return true;
        const std::vector<double> outside = products_outside();
        double squares = 0;
        for (std::int64_t p = size - wanted; p < size; ++p)
            for (std::int64_t u = 0; u < w; ++u)
                for (std::int64_t v = 0; v < w; ++v)
                    squares += last[p * w + u] * outside[u * w + v] * last[p * w + v];
        const double next = std::abs(values[wanted]);
        const double gap = std::max(least - next, acceptance_.least_gap * least);
        const double angle = std::sqrt(std::max(squares, 0.0)) / gap * std::min(1.0, next / least);
        return angle <= acceptance_.tolerance;
    }

    // Inner products of what of the last image lies outside the space; the difference is off by the
    // rounding of the squares.
    std::vector<double> products_outside() {
        const std::int64_t w = space_.width, old = space_.size - w;
        products_.resize(w * w);
        multiply(image(), w);
        std::vector<double> outside = products_;
        double trace = 0;
        for (std::int64_t v = 0; v < w; ++v) trace += outside[v * w + v];
        for (std::int64_t b = 0; b < space_.size; ++b) {
            const double *inside = space_.small + b * space_.room + old;
            for (std::int64_t u = 0; u < w; ++u)
                for (std::int64_t v = 0; v < w; ++v) outside[u * w + v] -= inside[u] * inside[v];
        }
        constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
        for (std::int64_t v = 0; v < w; ++v) outside[v * w + v] += rounding * trace;
        return outside;
    }

    // Inner products of some vectors with the last image: of vector b and column v at v * count + b.
    void multiply(const double *vectors, std::int64_t count) {
        const double *solved = image();
        dispatch_lanes([&](auto use) UNBEND_INLINE {
            using Lanes = typename decltype(use)::type;
            std::int64_t b = 0;
            for (; b + 4 <= count; b += 4)
                dot_rows<Lanes, 4>(vectors + b * space_.n, solved, space_.width, space_.n,
                                   products_.data() + b, count);
            for (; b < count; ++b)
                dot_rows<Lanes, 1>(vectors + b * space_.n, solved, space_.width, space_.n,
                                   products_.data() + b, count);
        });
    }

    const Factor &factor_;
    BlockSpace space_;
    const double well_apart_, little_;
    const Acceptance acceptance_;
    const int threads_;
    const std::function<void()> poll_;
    std::vector<double> rows_, products_;
};

}  // namespace unbend
