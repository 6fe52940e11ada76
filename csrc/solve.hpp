// Solves with a sparse factor LL' or LSL', for several right-hand sides at once.
#pragma once

#include <cstdint>
#include <mutex>
#include <type_traits>
#include <vector>

#include "cholesky.hpp"

namespace unbend {

// Sums of `rows` (up to four) entries of L, `apart` numbers apart, times rows of X, V vectors each:
// sum[r] = Σ_p l[p step + r apart] x_p, where x_p is given by `at(p)`.
template <typename Lanes, int V, typename At>
UNBEND_INLINE inline void multiply_rows(const double *l, std::int64_t step, std::int64_t apart,
                                        std::int32_t from, std::int32_t to, const At &at,
                                        Lanes (&sum)[4][V]) {
    Lanes s[4][V] = {};
    for (std::int32_t p = from; p < to; ++p) {
        const double *x = at(p), *entry = l + p * step;
        Lanes part[V];
        for (int v = 0; v < V; ++v) load(part[v], x + v * lanes_of<Lanes>);
        for (int r = 0; r < 4; ++r)
            for (int v = 0; v < V; ++v) s[r][v] += part[v] * entry[r * apart];
    }
    for (int r = 0; r < 4; ++r)
        for (int v = 0; v < V; ++v) sum[r][v] = s[r][v];
}

template <typename Lanes, int V>
UNBEND_INLINE inline void subtract(double *x, const Lanes (&sum)[V]) {
    for (int v = 0; v < V; ++v) {
        Lanes value;
        load(value, x + v * lanes_of<Lanes>);
        value -= sum[v];
        store(x + v * lanes_of<Lanes>, value);
    }
}

// x -= factor * y, or x *= factor, for rows of V vectors.
template <typename Lanes, int V>
UNBEND_INLINE inline void subtract_multiple(double *x, const double *y, double factor) {
    Lanes sum[V];
    for (int v = 0; v < V; ++v) {
        load(sum[v], y + v * lanes_of<Lanes>);
        sum[v] = sum[v] * factor;
    }
    subtract<Lanes, V>(x, sum);
}

template <typename Lanes, int V>
UNBEND_INLINE inline void scale(double *x, double factor) {
    for (int k = 0; k < V * lanes_of<Lanes>; ++k) x[k] *= factor;
}

// The right-hand sides in the order of the factor, rows of `stride` numbers, and for the subtree
// at work a place of its own for what it takes from rows beyond it.
struct Sides {
    double *x;
    std::int64_t stride;
    double *beyond;                   // null: all rows are in x
    const std::int32_t *position;     // of rows beyond the subtree
    std::int32_t end;                 // first row beyond the subtree

    UNBEND_INLINE double *row(std::int32_t i) const {
        return beyond == nullptr || i < end ? x + i * stride : beyond + position[i] * stride;
    }
};

// Four columns at a time: L11 x = b, then x below is reduced by L21 x.
template <typename Lanes, int V>
UNBEND_INLINE inline void forward_block(const double *panel, std::int32_t width, std::int32_t rows,
                                        const std::int32_t *below, double *own, const Sides &to,
                                        std::int64_t offset) {
    const std::int64_t stride = to.stride;
    const auto at = [&](std::int32_t p) UNBEND_INLINE { return own + p * stride; };
    Lanes sum[4][V];
    for (std::int32_t j = 0; j < width; j += 4) {
        const std::int32_t columns = std::min(4, width - j);
        const std::int32_t some = std::min(4, rows - j);
        multiply_rows<Lanes, V>(panel + j + std::min(0, some - 4), rows, 1, 0, j, at, sum);
        for (std::int32_t r = 0; r < columns; ++r) {
            double *x = own + (j + r) * stride;
            subtract<Lanes, V>(x, sum[r + 4 - some]);
            for (std::int32_t p = j; p < j + r; ++p)
                subtract_multiple<Lanes, V>(x, own + p * stride, panel[p * std::int64_t{rows} + j + r]);
            scale<Lanes, V>(x, 1.0 / panel[(j + r) * std::int64_t{rows} + j + r]);
        }
    }
    std::int32_t i = width;
    for (; i + 4 <= rows; i += 4) {
        multiply_rows<Lanes, V>(panel + i, rows, 1, 0, width, at, sum);
        for (std::int32_t r = 0; r < 4; ++r)
            subtract<Lanes, V>(to.row(below[i + r - width]) + offset, sum[r]);
    }
    for (; i < rows; ++i) {
        multiply_rows<Lanes, V>(panel + i, rows, 0, 0, width, at, sum);
        subtract<Lanes, V>(to.row(below[i - width]) + offset, sum[0]);
    }
}

// Four columns at a time, from the last: L11' x = b - L21' (x below).
template <typename Lanes, int V>
UNBEND_INLINE inline void backward_block(const double *panel, std::int32_t width, std::int32_t rows,
                                         const std::int32_t *below, double *own, const double *all,
                                         std::int64_t stride) {
    const auto inside = [&](std::int32_t p) UNBEND_INLINE { return own + p * stride; };
    const auto beyond = [&](std::int32_t p) UNBEND_INLINE {
        return all + below[p - width] * stride;
    };
    Lanes sum[4][V], more[4][V];
    const std::int64_t step = rows;
    for (std::int32_t j = (width - 1) / 4 * 4; j >= 0; j -= 4) {
        const std::int32_t columns = std::min(4, width - j);
        // Fewer than four columns: the last one stands in for those that are missing.
        const double *l = panel + j * step;
        const std::int64_t apart = columns == 4 ? step : 0;
        for (std::int32_t first = 0; first < (columns == 4 ? 1 : columns); ++first) {
            const double *from = l + first * step;
            multiply_rows<Lanes, V>(from, 1, apart, j + columns, width, inside, sum);
            multiply_rows<Lanes, V>(from, 1, apart, width, rows, beyond, more);
            for (std::int32_t r = 0; r < (columns == 4 ? 4 : 1); ++r) {
                subtract<Lanes, V>(own + (j + first + r) * stride, sum[r]);
                subtract<Lanes, V>(own + (j + first + r) * stride, more[r]);
            }
        }
        for (std::int32_t r = columns - 1; r >= 0; --r) {
            double *x = own + (j + r) * stride;
            for (std::int32_t p = r + 1; p < columns; ++p)
                subtract_multiple<Lanes, V>(x, own + (j + p) * stride, l[r * step + j + p]);
            scale<Lanes, V>(x, 1.0 / l[r * step + j + r]);
        }
    }
}

class Solution {
  public:
    Solution(const Factor &factor, std::int64_t sides, int threads, const std::function<void()> &poll)
        : factor_(factor), shape_(*factor.structure), sides_(sides), stride_((sides + 3) / 4 * 4),
          threads_(4.0 * shape_.stored() * sides > worth_starting ? limit_threads(threads) : 1),
          poller_(poll), hold_(factor.scratch->busy, std::try_to_lock),
          x_((hold_ ? *factor.scratch : own_).reserve(static_cast<std::size_t>(shape_.n * stride_))) {}

    // `right` and `out` are (n, sides) row by row and may be the same.
    void run(const double *right, double *out) {
        each_row([&](std::int64_t j) UNBEND_INLINE {
            for (std::int64_t k = 0; k < sides_; ++k)
                x_[j * stride_ + k] = right[shape_.order[j] * sides_ + k];
            for (std::int64_t k = sides_; k < stride_; ++k) x_[j * stride_ + k] = 0.0;
        });
        forward();
        if (!factor_.signs.empty())
            each_row([&](std::int64_t j) UNBEND_INLINE {
                for (std::int64_t k = 0; k < stride_; ++k) x_[j * stride_ + k] *= factor_.signs[j];
            });
        if (!poller_.stopped()) backward();
        poller_.rethrow();
        each_row([&](std::int64_t j) UNBEND_INLINE {
            for (std::int64_t k = 0; k < sides_; ++k)
                out[shape_.order[j] * sides_ + k] = x_[j * stride_ + k];
        });
    }

  private:
    template <typename Body>
    void each_row(const Body &body) const {
        run_blocks(0, shape_.n, 4096, threads_, [] { return 0; },
                   [&](int, std::int64_t j) UNBEND_INLINE { body(j); });
    }

    struct Columns {
        std::int64_t first, last;
    };

    // A supernode: its panel, (rows, width) column by column, and its rows of X.
    struct Block {
        const double *panel;
        const std::int32_t *below;
        std::int32_t width, rows;
        double *own;
    };

    // Subtrees gather what they take from rows above them apart from one another; the sums are
    // then made in a fixed order.
    void forward() {
        const auto count = static_cast<std::int64_t>(shape_.subtrees.size());
        std::vector<std::vector<double>> beyond(count);
        run_tasks(count, threads_, poller_, [&] { return std::vector<std::int32_t>(shape_.n); },
                  [&](std::vector<std::int32_t> &position, std::int64_t t) {
                      forward_subtree(t, position, beyond[t]);
                  });
        for (std::int64_t t = 0; t < count && !poller_.stopped(); ++t) {
            const std::int32_t root = shape_.subtrees[t], below = shape_.below(root);
            for (std::int32_t k = 0; k < below; ++k)
                for (std::int64_t c = 0; c < stride_; ++c)
                    x_[shape_.rows[shape_.begin[root] + k] * stride_ + c] += beyond[t][k * stride_ + c];
        }
        const Sides all{x_, stride_, nullptr, nullptr, 0};
        share_columns([&](Columns columns) {
            for (const std::int32_t s : shape_.top)
                if (!poller_.stopped()) forward_supernode(s, all, columns);
        });
    }

    void forward_subtree(std::int64_t t, std::vector<std::int32_t> &position,
                         std::vector<double> &beyond) {
        const std::int32_t root = shape_.subtrees[t], below = shape_.below(root);
        beyond.assign(static_cast<std::size_t>(below * stride_) + 1, 0.0);
        for (std::int32_t k = 0; k < below; ++k) position[shape_.rows[shape_.begin[root] + k]] = k;
        const Sides to{x_, stride_, beyond.data(), position.data(), shape_.first[root + 1]};
        for (std::int32_t s = shape_.lowest[t]; s <= root; ++s)
            if (!poller_.stopped()) forward_supernode(s, to, {0, stride_});
    }

    void forward_supernode(std::int32_t s, const Sides &to, Columns columns) {
        const Block block = block_of(s);
        in_vectors(columns, [&](auto use, auto count, std::int64_t c) UNBEND_INLINE {
            forward_block<typename decltype(use)::type, decltype(count)::value>(
                block.panel, block.width, block.rows, block.below, block.own + c, to, c);
        });
    }

    void backward() {
        share_columns([&](Columns columns) {
            for (std::size_t k = shape_.top.size(); k > 0 && !poller_.stopped(); --k)
                backward_supernode(shape_.top[k - 1], columns);
        });
        run_tasks(static_cast<std::int64_t>(shape_.subtrees.size()), threads_, poller_,
                  [] { return 0; }, [&](int, std::int64_t t) {
                      for (std::int32_t s = shape_.subtrees[t]; s >= shape_.lowest[t]; --s)
                          if (!poller_.stopped()) backward_supernode(s, {0, stride_});
                  });
    }

    void backward_supernode(std::int32_t s, Columns columns) {
        const Block block = block_of(s);
        in_vectors(columns, [&](auto use, auto count, std::int64_t c) UNBEND_INLINE {
            backward_block<typename decltype(use)::type, decltype(count)::value>(
                block.panel, block.width, block.rows, block.below, block.own + c, x_ + c,
                stride_);
        });
    }

    Block block_of(std::int32_t s) {
        const std::int32_t width = shape_.width(s);
        return {factor_.values.get() + shape_.panel[s], shape_.rows.data() + shape_.begin[s], width,
                width + shape_.below(s), x_ + shape_.first[s] * stride_};
    }

    // Above the subtrees there is little but a chain: threads take columns of X there.
    template <typename Body>
    void share_columns(const Body &body) {
        const std::int64_t fours = stride_ / 4, parts = std::min<std::int64_t>(threads_, fours);
        run_tasks(parts, threads_, poller_, [] { return 0; }, [&](int, std::int64_t t) {
            body(Columns{t * fours / parts * 4, (t + 1) * fours / parts * 4});
        });
    }

    // Runs `body` for the columns of X by twos of vectors, and what is left, so that the panel
    // stays in the cache for all of them.
    template <typename Body>
    void in_vectors(Columns columns, const Body &body) const {
        dispatch_lanes([&](auto use) UNBEND_INLINE {
            constexpr int lanes = lanes_of<typename decltype(use)::type>;
            std::int64_t c = columns.first;
            for (; c + 2 * lanes <= columns.last; c += 2 * lanes)
                body(use, std::integral_constant<int, 2>{}, c);
            if (c < columns.last) body(use, std::integral_constant<int, 1>{}, c);
        });
    }

    const Factor &factor_;
    const Structure &shape_;
    const std::int64_t sides_, stride_;
    const int threads_;
    Poller poller_;
    // Of the factor, unless another solve with it is at work.
    Scratch own_;
    std::unique_lock<std::mutex> hold_;
    double *const x_;
};

}  // namespace unbend
