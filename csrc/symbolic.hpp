// What a Cholesky factor will look like: supernodes, runs of columns of (nearly) one structure that
// are factorised together as a dense block, and their tree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "ordering.hpp"
#include "raw_vector.hpp"

namespace unbend {

// Columns of a matrix in a new order.
struct Order {
    std::vector<std::int32_t> order, place;   // new to old, old to new
};

inline void invert(const std::vector<std::int32_t> &order, std::vector<std::int32_t> &place) {
    place.resize(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = static_cast<std::int32_t>(k);
}

// Children before parents, subtrees contiguous.
inline std::vector<std::int32_t> postorder(const std::vector<std::int32_t> &parent) {
    const auto n = static_cast<std::int32_t>(parent.size());
    std::vector<std::int32_t> head(n, -1), next(n, -1), order, stack;
    for (std::int32_t v = n - 1; v >= 0; --v)
        if (parent[v] != -1) {
            next[v] = head[parent[v]];
            head[parent[v]] = v;
        }
    order.reserve(n);
    for (std::int32_t root = 0; root < n; ++root) {
        if (parent[root] != -1) continue;
        stack.push_back(root);
        while (!stack.empty()) {
            const std::int32_t v = stack.back(), child = head[v];
            if (child != -1) {
                head[v] = next[child];
                stack.push_back(child);
            } else {
                order.push_back(v);
                stack.pop_back();
            }
        }
    }
    return order;
}

// The structure of L for rows and columns in a new order. Supernode s holds the columns
// first[s] .. first[s + 1]; below them are the rows rows[begin[s]] .. rows[begin[s + 1]], rising.
struct Structure : Order {
    std::int32_t n = 0;
    std::vector<std::int32_t> first, parent;     // supernodes are in postorder
    std::vector<std::int64_t> begin;
    RawVector<std::int32_t> rows;
    std::vector<std::int64_t> panel;             // where each supernode's entries begin
    std::vector<double> work;                    // of each subtree: flops, and moving numbers
    double total = 0;                            // of all that
    std::vector<std::int32_t> child, sibling;    // first child, and next child of the parent
    std::vector<std::int32_t> subtrees;          // roots of subtrees that are handled as one task
    std::vector<std::int32_t> lowest;            // first supernode of each such subtree
    std::vector<std::int32_t> top;               // supernodes above them, rising
    std::int64_t entries = 0;                    // of L, stored zeros left out
    double flops = 0;
    bool complete = false;                       // false: given up, more than the limit

    // Numbers that the factor will hold, with zeros inside supernodes.
    std::int64_t stored() const { return panel.empty() ? 0 : panel.back(); }
    std::int32_t supernodes() const { return static_cast<std::int32_t>(parent.size()); }
    std::int32_t width(std::int32_t s) const { return first[s + 1] - first[s]; }
    std::int32_t below(std::int32_t s) const {
        return static_cast<std::int32_t>(begin[s + 1] - begin[s]);
    }
};

// Supernodes while they are being merged: `size` counts columns and the rows below them.
struct Blocks {
    std::vector<std::int32_t> of_column;               // supernode of each column
    std::vector<std::int32_t> columns, size, parent;
    std::vector<std::int64_t> zeros;                   // stored entries that are not in L
};

inline Blocks as_blocks(const Supernodes &found) {
    Blocks blocks;
    blocks.columns = found.columns;
    blocks.parent = found.parent;
    for (std::int32_t s = 0; s < found.count(); ++s) {
        blocks.of_column.insert(blocks.of_column.end(), found.columns[s], s);
        blocks.size.push_back(found.columns[s] + found.below[s]);
    }
    blocks.zeros.assign(blocks.columns.size(), 0);
    return blocks;
}

// Whether a supernode of so many columns may hold this share of zeros: small ones cost more to
// handle than to compute.
inline bool worth_merging(std::int64_t columns, double share) {
    return columns <= 4 || (columns <= 16 && share < 0.6) || (columns <= 48 && share < 0.2) ||
           share < 0.05;
}

// Merges children into parents where that adds few zeros; returns which supernode took each one.
inline std::vector<std::int32_t> merge_blocks(Blocks &blocks) {
    const auto count = static_cast<std::int32_t>(blocks.columns.size());
    std::vector<std::int32_t> into(count), head(count, -1), next(count, -1);
    std::iota(into.begin(), into.end(), 0);
    std::vector<std::pair<std::int64_t, std::int32_t>> children;
    for (std::int32_t s = 0; s < count; ++s) {
        children.clear();
        for (std::int32_t c = head[s]; c != -1; c = next[c]) {
            const std::int64_t added = static_cast<std::int64_t>(blocks.columns[c]) *
                                       (blocks.columns[c] + blocks.size[s] - blocks.size[c]);
            children.push_back({added, c});
        }
        std::sort(children.begin(), children.end());
        for (const auto &[unused, c] : children) {
            (void)unused;
            const std::int64_t columns = blocks.columns[c] + blocks.columns[s];
            const std::int64_t size = blocks.columns[c] + blocks.size[s];
            const std::int64_t zeros = blocks.zeros[c] + blocks.zeros[s] +
                                       blocks.columns[c] * (size - blocks.size[c]);
            const double whole = static_cast<double>(columns) * (size - 0.5 * (columns - 1));
            if (!worth_merging(columns, static_cast<double>(zeros) / whole)) continue;
            into[c] = s;
            blocks.columns[s] = static_cast<std::int32_t>(columns);
            blocks.size[s] = static_cast<std::int32_t>(size);
            blocks.zeros[s] = zeros;
        }
        if (blocks.parent[s] != -1) {
            next[s] = head[blocks.parent[s]];
            head[blocks.parent[s]] = s;
        }
    }
    for (std::int32_t s = count - 1; s >= 0; --s) into[s] = into[into[s]];
    return into;
}

// Numbers the merged supernodes in postorder and their columns one after another.
inline void number_blocks(Structure &out, const Blocks &blocks,
                          const std::vector<std::int32_t> &into) {
    const auto count = static_cast<std::int32_t>(into.size());
    std::vector<std::int32_t> kept, compact(count, -1);
    for (std::int32_t s = 0; s < count; ++s)
        if (into[s] == s) {
            compact[s] = static_cast<std::int32_t>(kept.size());
            kept.push_back(s);
        }
    std::vector<std::int32_t> tree(kept.size());
    for (std::size_t k = 0; k < kept.size(); ++k) {
        const std::int32_t up = blocks.parent[kept[k]];
        tree[k] = up == -1 ? -1 : compact[into[up]];
    }
    const std::vector<std::int32_t> post = postorder(tree);
    std::vector<std::int32_t> number;
    invert(post, number);
    out.first.assign(1, 0);
    out.parent.clear();
    for (const std::int32_t k : post) {
        out.first.push_back(out.first.back() + blocks.columns[kept[k]]);
        out.parent.push_back(tree[k] == -1 ? -1 : number[tree[k]]);
    }
    std::vector<std::int32_t> put(out.first.begin(), out.first.end() - 1), order(out.n);
    for (std::int32_t j = 0; j < out.n; ++j)
        order[put[number[compact[into[blocks.of_column[j]]]]]++] = out.order[j];
    out.order.swap(order);
    invert(out.order, out.place);
}

inline void link_children(Structure &out) {
    const std::int32_t count = out.supernodes();
    out.child.assign(count, -1);
    out.sibling.assign(count, -1);
    for (std::int32_t s = count - 1; s >= 0; --s) {
        const std::int32_t up = out.parent[s];
        if (up == -1) continue;
        out.sibling[s] = out.child[up];
        out.child[up] = s;
    }
}

// The rows below each supernode: those of its columns in the matrix and of its children. Subtrees are
// independent of one another, and threads share them.
class BelowRows {
  public:
    BelowRows(const Structure &shape, const Pattern &graph)
        : shape_(shape), graph_(graph), list_(shape.supernodes(), -1), place_(shape.supernodes()),
          length_(shape.supernodes()) {
        divide();
    }

    void find(int threads, Poller &poller) {
        const auto subtrees = static_cast<std::int64_t>(lowest_.size());
        lists_.resize(subtrees + 1);
        run_tasks(subtrees, threads, poller, [&] { return make_marks(); },
                  [&](std::vector<std::int32_t> &mark, std::int64_t t) {
                      for (std::int32_t s = lowest_[t]; s <= highest_[t]; ++s) find_below(s, t, mark);
                  });
        if (poller.stopped()) return;
        std::vector<std::int32_t> mark = make_marks();
        for (std::int32_t s = 0; s < shape_.supernodes(); ++s)
            if (list_[s] == -1) find_below(s, subtrees, mark);
    }

    // Moves the rows to the structure.
    void store(Structure &out, int threads, Poller &poller) const {
        out.begin.assign(1, 0);
        for (const std::int32_t length : length_) out.begin.push_back(out.begin.back() + length);
        out.rows.resize(out.begin.back());
        constexpr std::int64_t at_once = 1024;
        const auto count = static_cast<std::int64_t>(length_.size());
        run_tasks((count + at_once - 1) / at_once, threads, poller, [] { return 0; },
                  [&](int, std::int64_t t) {
                      for (std::int64_t s = t * at_once; s < std::min((t + 1) * at_once, count); ++s)
                          std::copy_n(lists_[list_[s]].begin() + place_[s], length_[s],
                                      out.rows.begin() + out.begin[s]);
                  });
    }

  private:
    std::vector<std::int32_t> make_marks() const { return std::vector<std::int32_t>(shape_.n, -1); }

    // Subtrees of at most a small share of the columns.
    void divide() {
        const std::int32_t count = shape_.supernodes();
        const std::int32_t share = std::max(shape_.n / 32, 1);
        std::vector<std::int32_t> columns(count, 0);
        std::int32_t low = 0;
        for (std::int32_t s = 0; s < count; ++s) {
            columns[s] += shape_.width(s);
            if (shape_.parent[s] != -1) columns[shape_.parent[s]] += columns[s];
        }
        for (std::int32_t s = 0; s < count; ++s) {
            const std::int32_t up = shape_.parent[s];
            if (columns[s] <= share && up != -1 && columns[up] <= share) continue;
            if (columns[s] <= share) {
                lowest_.push_back(low);
                highest_.push_back(s);
            }
            low = s + 1;
        }
    }

    void find_below(std::int32_t s, std::int64_t number, std::vector<std::int32_t> &mark) {
        std::vector<std::int32_t> &list = lists_[number];
        const auto begin = static_cast<std::int64_t>(list.size());
        const std::int32_t end = shape_.first[s + 1];
        const auto add = [&](std::int32_t i) {
            if (i < end || mark[i] == s) return;
            mark[i] = s;
            list.push_back(i);
        };
        for (std::int32_t j = shape_.first[s]; j < end; ++j) {
            const std::int32_t v = shape_.order[j];
            for (std::int64_t e = graph_.row[v]; e < graph_.row[v + 1]; ++e)
                add(shape_.place[graph_.column[e]]);
        }
        for (std::int32_t c = shape_.child[s]; c != -1; c = shape_.sibling[c])
            for (std::int64_t k = 0; k < length_[c]; ++k) add(lists_[list_[c]][place_[c] + k]);
        std::sort(list.begin() + begin, list.end());
        list_[s] = static_cast<std::int32_t>(number);
        place_[s] = begin;
        length_[s] = static_cast<std::int32_t>(static_cast<std::int64_t>(list.size()) - begin);
    }

    const Structure &shape_;
    const Pattern graph_;
    std::vector<std::int32_t> lowest_, highest_;      // supernodes of each subtree
    std::vector<std::vector<std::int32_t>> lists_;    // rows found by each task, and above them
    std::vector<std::int32_t> list_;                  // of each supernode: where its rows are
    std::vector<std::int64_t> place_;
    std::vector<std::int32_t> length_;
};

// Where the entries of each supernode begin, and the work of each subtree.
inline void count_work(Structure &out) {
    const std::int32_t count = out.supernodes();
    out.panel.assign(1, 0);
    out.work.assign(count, 0.0);
    for (std::int32_t s = 0; s < count; ++s) {
        const double k = out.width(s), r = out.below(s);
        out.panel.push_back(out.panel[s] + out.width(s) * static_cast<std::int64_t>(k + r));
        out.work[s] += k * (r * r + r * k + k * k / 3) + 20 * (k + r) + r * r;
        const std::int32_t up = out.parent[s];
        if (up != -1) out.work[up] += out.work[s];
    }
}

inline void find_rows(Structure &out, const Pattern &graph, int threads, Poller &poller) {
    link_children(out);
    const int shared = threads_for(10.0 * static_cast<double>(graph.row[graph.n]), threads);
    BelowRows below(out, graph);
    below.find(shared, poller);
    poller.rethrow();
    below.store(out, shared, poller);
    poller.rethrow();
}

// Cuts the tree into subtrees of at most a small share of the work and what is above them. The
// division must not depend on the number of threads, since sums are taken along it.
inline void divide_tree(Structure &out) {
    const std::int32_t count = out.supernodes();
    for (std::int32_t s = 0; s < count; ++s)
        if (out.parent[s] == -1) out.total += out.work[s];
    const double share = std::max(out.total / 32, 2e6);
    std::int32_t low = 0;
    for (std::int32_t s = 0; s < count; ++s) {
        if (out.work[s] > share) {
            out.top.push_back(s);
            low = s + 1;
        } else if (out.parent[s] == -1 || out.work[out.parent[s]] > share) {
            out.lowest.push_back(low);
            out.subtrees.push_back(s);
            low = s + 1;
        }
    }
}

// Order and structure; incomplete if elimination would take more than `most` flops.
inline Structure analyse(const Pattern &graph, double most, int threads,
                         const std::function<void()> &poll) {
    Poller poller(poll);
    Walk walk;
    bool symmetric = false;
    run_tasks(2, threads_for(10.0 * graph.row[graph.n], threads), poller, [] { return 0; },
              [&](int, std::int64_t task) {
                  if (task == 0)
                      symmetric = is_symmetric(graph);
                  else
                      walk = walk_breadth_first(graph);
              });
    poller.rethrow();
    if (!symmetric) throw std::invalid_argument("the pattern of the matrix is not symmetric");
    Structure out;
    out.n = graph.n;
    Supernodes found = fill_reducing_order(graph, walk, most, threads, poller);
    poller.rethrow();
    if (found.vertices.empty()) return out;
    out.flops = 0;
    for (std::int32_t s = 0; s < found.count(); ++s)
        for (std::int32_t k = 1; k <= found.columns[s]; ++k) {
            out.entries += found.below[s] + k;
            out.flops += static_cast<double>(found.below[s] + k) * (found.below[s] + k);
        }
    out.complete = out.flops <= most;
    if (!out.complete) return out;
    Blocks blocks = as_blocks(found);
    const std::vector<std::int32_t> into = merge_blocks(blocks);
    out.order = std::move(found.vertices);
    number_blocks(out, blocks, into);
    find_rows(out, graph, threads, poller);
    count_work(out);
    divide_tree(out);
    return out;
}

}  // namespace unbend
