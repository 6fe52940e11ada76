// Sparse Cholesky factorisation A + shift I = LL' by fronts (Duff and Reid, 1983): each supernode is a dense
// block, assembled from the matrix and from what its children take, and factorised at once. Where negative pivots
// are allowed it is LSL' with a diagonal S of signs, without exchanging rows: stable only as far as pivots are large.
//
// Every number is computed by the same sums in the same order however many threads there are.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "dense.hpp"
#include "symbolic.hpp"

namespace unbend {

// Operations below which threads would wait for one another longer than they work.
constexpr double worth_sharing = 4e6, worth_starting = 1e8;

// Numbers that solves with one factor write to, one solve at a time: memory that a process gets anew
// costs as much as a solve.
struct Scratch {
    std::mutex busy;
    std::unique_ptr<double[]> numbers;
    std::size_t room = 0;

    double *reserve(std::size_t wanted) {
        if (room < wanted) {
            numbers.reset();
            room = 0;
            numbers.reset(new double[wanted]);
            room = wanted;
        }
        return numbers.get();
    }
};

struct Factor {
    std::shared_ptr<const Structure> structure;
    std::unique_ptr<double[]> values;   // panels of the supernodes, column by column
    std::vector<double> signs;          // of the pivots, in the order of the factor; empty: all positive
    std::int64_t replaced = 0;          // pivots that were rounding of zero and were raised
    std::int64_t negative = 0;          // pivots: as many as there are negative eigenvalues
    std::shared_ptr<Scratch> scratch = std::make_shared<Scratch>();
};

// Where what the supernodes take from their ancestors is kept until their parents are assembled.
// Children lie on another stack than their parent, so each stack only grows and shrinks at its
// end.
struct Stacks {
    std::unique_ptr<double[]> space[2];
    std::int64_t top[2] = {0, 0};
};

class Factorisation {
  public:
    Factorisation(std::shared_ptr<const Structure> structure, const Pattern &graph,
                  const double *values, double shift, bool indefinite, int threads,
                  const std::function<void()> &poll)
        : shape_(*structure), graph_(graph), entries_(values), shift_(shift),
          threads_(shape_.total > worth_starting ? limit_threads(threads) : 1), poller_(poll),
          parity_(shape_.supernodes(), 0), update_(shape_.supernodes(), nullptr),
          owned_(shape_.supernodes()), diagonal_(shape_.n, 0.0) {
        if (graph.n != shape_.n) throw std::invalid_argument("the matrix was not the one analysed");
        result_.structure = std::move(structure);
        result_.values.reset(new double[std::max<std::int64_t>(shape_.panel.back(), 1)]);
        if (indefinite) result_.signs.assign(shape_.n, 1.0);
    }

    // Throws std::domain_error if the matrix is not positive definite, or a pivot is zero where
    // negative ones are allowed.
    Factor run() {
        for (std::int32_t s = shape_.supernodes() - 1; s >= 0; --s)
            if (shape_.parent[s] != -1) parity_[s] = 1 - parity_[shape_.parent[s]];
        factor_tasks();
        Workspace workspace;
        workspace.position.resize(shape_.n);
        for (std::int32_t s = ready_.empty() ? -1 : ready_[0]; s != -1; s = shape_.parent[s])
            if (!poller_.stopped()) factor_above(s, workspace, threads_);
        poller_.rethrow();
        result_.replaced = replaced_.load();
        result_.negative = negative_.load();
        return std::move(result_);
    }

  private:
    // What one thread needs for itself.
    struct Workspace {
        Stacks stacks;
        std::vector<std::int32_t> position;   // of rows in the front at work
        std::vector<double> packed;
    };

    // Subtrees and the supernodes above them, each after its children: of those that wait for nothing
    // the one first whose way to the root is the longest. Where nothing is left but a chain, it
    // follows alone, and threads share each of its supernodes.
    void factor_tasks() {
        std::int64_t peak[2];
        find_peaks(peak);
        open_queue();
        const auto work = [&] {
            poller_.guard([&] {
                Workspace workspace;
                for (int side = 0; side < 2; ++side)
                    workspace.stacks.space[side].reset(new double[peak[side] + 1]);
                workspace.position.resize(shape_.n);
                for (std::int32_t s = take(); s != -1; s = take()) {
                    if (subtree_[s] >= 0)
                        factor_subtree(subtree_[s], workspace);
                    else
                        factor_above(s, workspace, 1);
                    finish(s);
                }
            });
        };
        run_team(threads_, work);
    }

    auto is_less_urgent() const {
        return [this](std::int32_t a, std::int32_t b) {
            return rank_[a] != rank_[b] ? rank_[a] < rank_[b] : a > b;
        };
    }

    // Ranks tasks by the work from them to the root, and makes those without children ready.
    void open_queue() {
        const std::int32_t count = shape_.supernodes();
        waiting_.assign(count, 0);
        rank_.assign(count, 0.0);
        subtree_.assign(count, -1);
        for (std::int32_t s = count - 1; s >= 0; --s) {
            double below = 0;
            for (std::int32_t c = shape_.child[s]; c != -1; c = shape_.sibling[c]) {
                below += shape_.work[c];
                ++waiting_[s];
            }
            const double above = shape_.parent[s] == -1 ? 0.0 : rank_[shape_.parent[s]];
            rank_[s] = above + shape_.work[s] - below;
        }
        for (std::size_t t = 0; t < shape_.subtrees.size(); ++t) {
            const std::int32_t s = shape_.subtrees[t], up = shape_.parent[s];
            subtree_[s] = static_cast<std::int32_t>(t);
            rank_[s] = (up == -1 ? 0.0 : rank_[up]) + shape_.work[s];
            push(s);
        }
        for (const std::int32_t s : shape_.top)
            if (waiting_[s] == 0) push(s);
    }

    void push(std::int32_t s) {
        ready_.push_back(s);
        std::push_heap(ready_.begin(), ready_.end(), is_less_urgent());
    }

    // The next task, or -1 if there is none, or nothing but the chain from one to the root. Waits in
    // short turns, so that the calling thread polls.
    std::int32_t take() {
        std::unique_lock<std::mutex> lock(mutex_);
        while (!poller_.stopped()) {
            const bool last = working_ == 0 && ready_.size() == 1 && subtree_[ready_[0]] < 0;
            if ((last && threads_ > 1) || (working_ == 0 && ready_.empty())) return -1;
            if (!ready_.empty()) {
                std::pop_heap(ready_.begin(), ready_.end(), is_less_urgent());
                const std::int32_t s = ready_.back();
                ready_.pop_back();
                ++working_;
                return s;
            }
            changed_.wait_for(lock, std::chrono::milliseconds(20));
        }
        return -1;
    }

    void finish(std::int32_t s) {
        const std::lock_guard<std::mutex> lock(mutex_);
        --working_;
        const std::int32_t up = shape_.parent[s];
        if (up != -1 && --waiting_[up] == 0) push(up);
        changed_.notify_all();
    }

    void factor_subtree(std::int64_t t, Workspace &workspace) {
        Stacks &stacks = workspace.stacks;
        for (std::int32_t s = shape_.lowest[t]; s <= shape_.subtrees[t]; ++s) {
            if (poller_.stopped()) return;
            const int side = parity_[s];
            if (s == shape_.subtrees[t]) {
                owned_[s].reset(new double[square(s) + 1]);
                update_[s] = owned_[s].get();
            } else {
                update_[s] = stacks.space[side].get() + stacks.top[side];
                stacks.top[side] += square(s);
            }
            factor_front(s, workspace, 1);
            const std::int32_t child = shape_.child[s];
            if (child != -1) stacks.top[1 - side] = update_[child] - stacks.space[1 - side].get();
        }
    }

    // The stacks a subtree needs at most, found by walking through it.
    void find_peaks(std::int64_t (&peak)[2]) const {
        peak[0] = peak[1] = 0;
        for (std::size_t t = 0; t < shape_.subtrees.size(); ++t) {
            std::int64_t top[2] = {0, 0};
            for (std::int32_t s = shape_.lowest[t]; s < shape_.subtrees[t]; ++s) {
                const int side = parity_[s];
                top[side] += square(s);
                peak[side] = std::max(peak[side], top[side]);
                for (std::int32_t c = shape_.child[s]; c != -1; c = shape_.sibling[c])
                    top[1 - side] -= square(c);
            }
        }
    }

    void factor_above(std::int32_t s, Workspace &workspace, int threads) {
        owned_[s].reset(new double[square(s) + 1]);
        update_[s] = owned_[s].get();
        factor_front(s, workspace, threads);
        for (std::int32_t c = shape_.child[s]; c != -1; c = shape_.sibling[c]) owned_[c].reset();
    }

    std::int64_t square(std::int32_t s) const {
        return static_cast<std::int64_t>(shape_.below(s)) * shape_.below(s);
    }

    void factor_front(std::int32_t s, Workspace &workspace, int threads) {
        std::vector<std::int32_t> &position = workspace.position;
        std::vector<double> &packed = workspace.packed;
        const std::int32_t width = shape_.width(s), rows = width + shape_.below(s);
        const Front front{result_.values.get() + shape_.panel[s], update_[s], width, rows,
                          diagonal_.data() + shape_.first[s]};
        const std::int32_t *below = shape_.rows.data() + shape_.begin[s];
        for (std::int32_t k = 0; k < width; ++k) position[shape_.first[s] + k] = k;
        for (std::int32_t k = width; k < rows; ++k) position[below[k - width]] = k;
        std::fill_n(front.panel, static_cast<std::int64_t>(width) * rows, 0.0);
        scatter_matrix(s, front, position);
        add_children(s, front, position, true, threads);
        const std::int32_t groups = (rows + tile_rows - 1) / tile_rows;
        const auto panels = static_cast<std::int64_t>(groups) * tile_rows * std::min(width, block_columns);
        const std::int64_t mirror = result_.signs.empty() ? 0 : panels;
        packed.resize(static_cast<std::size_t>(panels + mirror));
        Pivots pivots;
        if (mirror > 0) pivots.signs = result_.signs.data() + shape_.first[s];
        for (std::int32_t k = 0; k < width && !poller_.stopped(); k += block_columns) {
            const std::int32_t columns = std::min(block_columns, width - k);
            dispatch_lanes([&](auto use) UNBEND_INLINE {
                factor_block<typename decltype(use)::type>(front, k, columns, packed.data(), mirror,
                                                           pivots);
            });
            update_front(front, k, columns, packed.data(), mirror, threads);
        }
        if (pivots.failed >= 0)
            throw std::domain_error(
                (mirror > 0 ? "the matrix is singular: the pivot is zero in row "
                            : "the matrix is not positive definite: no positive pivot in row ") +
                std::to_string(shape_.order[shape_.first[s] + pivots.failed]));
        if (pivots.replaced > 0) replaced_ += pivots.replaced;
        if (pivots.negative > 0) negative_ += pivots.negative;
        add_children(s, front, position, false, threads);
    }

    // Rows in chunks whose packed part stays in the cache.
    void update_front(const Front &front, std::int32_t k, std::int32_t columns, const double *packed,
                      std::int64_t mirror, int threads) {
        const std::int32_t groups = (front.rows - k + tile_rows - 1) / tile_rows, chunk = 16;
        const std::int32_t chunks = (groups + chunk - 1) / chunk;
        const bool shared = columns * double(groups) * groups > worth_sharing / 64;
        run_tasks(chunks, shared ? threads : 1, poller_, [] { return 0; }, [&](int, std::int64_t t) {
            // From the bottom: the lowest rows are the longest, and short ones fill the end.
            const auto c = static_cast<std::int32_t>(chunks - 1 - t);
            dispatch_lanes([&](auto use) UNBEND_INLINE {
                update_rows<typename decltype(use)::type>(front, k, columns, packed, mirror, c * chunk,
                                                          std::min(groups, (c + 1) * chunk));
            });
        });
    }

    void scatter_matrix(std::int32_t s, const Front &front, const std::vector<std::int32_t> &position) {
        const std::int32_t begin = shape_.first[s], end = shape_.first[s + 1];
        const std::int32_t *below = shape_.rows.data() + shape_.begin[s];
        for (std::int32_t j = begin; j < end; ++j) {
            const std::int32_t v = shape_.order[j];
            double *column = front.column(j - begin);
            for (std::int64_t e = graph_.row[v]; e < graph_.row[v + 1]; ++e) {
                const std::int32_t i = shape_.place[graph_.column[e]];
                if (i < j) continue;
                const std::int32_t k = position[i];
                if (i >= end && (k < front.width || k >= front.rows || below[k - front.width] != i))
                    throw std::invalid_argument("the matrix has entries that were not analysed");
                column[k] += entries_[e];
            }
            diagonal_[j] = column[j - begin] += shift_;
        }
    }

    // Adds what the children take: to the panel, or later to the update, which is set in between.
    void add_children(std::int32_t s, const Front &front, const std::vector<std::int32_t> &position,
                      bool panel, int threads) {
        if (!panel && front.width == front.rows) return;
        for (std::int32_t c = shape_.child[s]; c != -1; c = shape_.sibling[c]) {
            const std::int32_t size = shape_.below(c);
            const std::int32_t *rows = shape_.rows.data() + shape_.begin[c];
            const auto cut = static_cast<std::int32_t>(
                std::lower_bound(rows, rows + size, shape_.first[s + 1]) - rows);
            const std::int32_t from = panel ? 0 : cut, to = panel ? cut : size;
            // From here on the child's rows follow one another in the parent.
            std::int32_t run = size;
            while (run > 0 && position[rows[size - 1]] - position[rows[run - 1]] == size - run) --run;
            const bool shared = double(size) * (to - from) > worth_sharing / 8;
            const std::int32_t block = shared ? 8 : std::max(to - from, 1);
            run_tasks((to - from + block - 1) / block, shared ? threads : 1, poller_,
                      [] { return 0; }, [&](int, std::int64_t t) {
                const auto first = static_cast<std::int32_t>(from + block * t);
                for (std::int32_t j = first; j < std::min(first + block, to); ++j)
                    add_column(front.column(position[rows[j]]),
                               update_[c] + static_cast<std::int64_t>(j) * size, rows, position, j,
                               run, size);
            });
        }
    }

    static void add_column(double *to, const double *from, const std::int32_t *rows,
                           const std::vector<std::int32_t> &position, std::int32_t j,
                           std::int32_t run, std::int32_t size) {
        std::int32_t i = j;
        for (; i < run; ++i) to[position[rows[i]]] += from[i];
        if (i == size) return;
        double *rest = to + position[rows[i]] - i;
        for (; i < size; ++i) rest[i] += from[i];
    }

    const Structure &shape_;
    const Pattern graph_;
    const double *entries_;
    const double shift_;
    const int threads_;
    Poller poller_;
    std::vector<std::int8_t> parity_;              // of the depth in the tree
    std::vector<double *> update_;
    std::vector<std::unique_ptr<double[]>> owned_;
    std::vector<double> diagonal_;
    // Of supernodes: children that are not done, work up to the root, and the number of the subtree.
    std::vector<std::int32_t> waiting_;
    std::vector<double> rank_;
    std::vector<std::int32_t> subtree_;
    std::vector<std::int32_t> ready_;              // a heap
    int working_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<std::int64_t> replaced_{0}, negative_{0};
    Factor result_;
};

}  // namespace unbend
