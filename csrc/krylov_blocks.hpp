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

namespace unbend {

// Vectors lie one after the other: trivial ones, then orthonormal blocks beside them. `small` holds
// the inner products of these and their images.
struct BlockSpace {
    std::int64_t n, width, trivial, size, room;
    double *basis;   // (trivial + room, n)
    double *images;  // (room, n)
    double *small;   // (room, room)
};

class BlockGrowth {
  public:
    BlockGrowth(const Factor &factor, const BlockSpace &space, double well_apart, double little,
                int threads, const std::function<void()> &poll)
        : factor_(factor), space_(space), well_apart_(well_apart), little_(little),
          threads_(threads), poll_(poll), rows_(space.n * space.width) {}

    // Adds a block (n, width) and its image, then the rest of that image, and so on; returns how many
    // blocks were added, which is less than `count` where a rest is not well conditioned.
    std::int64_t run(const double *block, std::int64_t count) {
        std::copy_n(block, rows_.size(), rows_.begin());
        for (std::int64_t added = 1;; ++added) {
            add();
            if (added == count) return added;
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
    const int threads_;
    const std::function<void()> poll_;
    std::vector<double> rows_, products_;
};

}  // namespace unbend
