// Nearest rows by a KD-tree: every row among the others, or new rows among all.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "dispatch.hpp"
#include "kd_leaf_search.hpp"
#include "kd_tree.hpp"
#include "nearest.hpp"
#include "poll.hpp"

namespace unbend {

// What one thread needs for its queries; `Fixed` is the number of columns, or 0 for any.
template <typename Tree, typename Norm, int Fixed>
class KdSearch {
  public:
    KdSearch(const Tree &tree, std::int64_t k)
        : tree_(tree),
          k_(k),
          slots_(Nearest<Norm>::room(k)),
          nearest_(slots_.data(), k, (tree.columns + 2) * 2 * same_root),
          query_(tree.columns),
          stack_(arity * tree.depth) {}

    KdSearch(const KdSearch &) = delete;

    // The k rows nearest to those of one leaf, each without itself, to rows of the result.
    UNBEND_INLINE void neighbors_of_leaf(std::int32_t leaf, std::int32_t *indices,
                                         double *distances) {
        const KdNode &node = tree_.nodes[leaf];
        for (std::int64_t i = 0; i < node.count; ++i) {
            const std::int64_t lane = node.group * abreast + i;
            const Number *block = &tree_.coordinates[(lane / abreast) * abreast * columns()];
            for (int c = 0; c < columns(); ++c) query_[c] = block[c * abreast + lane % abreast];
            itself_ = tree_.index[lane];
            nearest_.clear();
            climb(leaf);
            nearest_.write(1 / tree_.scale, indices + itself_ * k_, distances + itself_ * k_);
        }
    }

    // The k rows nearest to a new one.
    UNBEND_INLINE void nearest_of(const double *row, std::int32_t *indices, double *distances) {
        double largest = 0;
        for (int c = 0; c < columns(); ++c) {
            query_[c] = row[c] * tree_.scale;
            largest = std::max(largest, std::fabs(query_[c]));
        }
        if (largest > 0x1p500) {
            from_afar(row, indices, distances);
            return;
        }
        itself_ = -1;
        nearest_.clear();
        descend(0);
        nearest_.write(1 / tree_.scale, indices, distances);
    }

    // The leaf that one finds on the way down to a new row; -1 for rows that are seen from afar.
    UNBEND_INLINE std::int32_t leaf_near(const double *row) {
        for (int c = 0; c < columns(); ++c) {
            query_[c] = row[c] * tree_.scale;
            if (std::fabs(query_[c]) > 0x1p500) return -1;
        }
        std::int32_t node = 0;
        while (tree_.nodes[node].count == 0) {
            double away[arity];
            measure(node, away);
            int nearest = 0;
            for (int side = 1; side < arity; ++side)
                if (away[side] < away[nearest]) nearest = side;
            node = tree_.nodes[node].child[nearest];
        }
        return node;
    }

  private:
    using Number = typename Tree::Number;

    UNBEND_INLINE int columns() const { return Fixed > 0 ? Fixed : tree_.columns; }

    // Seen from so far, the differences to all rows round to the new row itself: all are ties.
    void from_afar(const double *row, std::int32_t *indices, double *distances) const {
        constexpr double down = 0x1p-600;
        Doubles sum = Doubles::all(0);
        for (int c = 0; c < columns(); ++c) sum = Norm::add(sum, Doubles::all(row[c] * down));
        const double power = sum.pack[0];
        for (std::int64_t j = 0; j < k_; ++j) {
            indices[j] = static_cast<std::int32_t>(j);
            distances[j] = Norm::distance(power) / down;
        }
    }

    // Own leaf first, then what its ancestors hold beside it: near rows come early.
    UNBEND_INLINE void climb(std::int32_t node) {
        scan(tree_.nodes[node]);
        for (; tree_.nodes[node].parent >= 0; node = tree_.nodes[node].parent) {
            wait_for_children(tree_.nodes[node].parent, node);
            work_off();
        }
    }

    UNBEND_INLINE void descend(std::int32_t node) {
        stack_[waiting_++] = {0, node};
        work_off();
    }

    // Handles what waits, nearest first, as long as it is within reach.
    UNBEND_INLINE void work_off() {
        while (waiting_ > 0) {
            const Candidate next = stack_[--waiting_];
            if (next.power > nearest_.reach()) continue;
            if (tree_.nodes[next.index].count > 0)
                scan(tree_.nodes[next.index]);
            else
                wait_for_children(next.index, -1);
        }
    }

    // Puts the children within reach, but one, on the stack, the nearest on top.
    UNBEND_INLINE void wait_for_children(std::int32_t node, std::int32_t except) {
        double away[arity];
        measure(node, away);
        const int bottom = waiting_;
        for (int side = 0; side < arity; ++side) {
            const std::int32_t child = tree_.nodes[node].child[side];
            if (!(away[side] <= nearest_.reach()) || child == except) continue;
            int place = waiting_++;
            for (; place > bottom && stack_[place - 1].power < away[side]; --place)
                stack_[place] = stack_[place - 1];
            stack_[place] = {away[side], child};
        }
    }

    // Powers of the distances to the boxes of all children.
    UNBEND_INLINE void measure(std::int32_t node, double *away) const {
        const Number *box = tree_.box(node);
        Doubles power = Doubles::all(0);
        for (int c = 0; c < columns(); ++c, box += 2 * arity) {
            const Doubles query = Doubles::all(query_[c]);
            const Doubles below = Doubles::load(box) - query;
            const Doubles above = query - Doubles::load(box + arity);
            power = Norm::add(power, larger(larger(below, above), Doubles::all(0)));
        }
        power.store(away);
    }

    UNBEND_INLINE void scan(const KdNode &leaf) {
        // More rows than a leaf takes are equal and sorted: after k + 1 only higher indices follow.
        const std::int64_t count =
            leaf.count <= leaf_rows ? leaf.count : std::min<std::int64_t>(leaf.count, k_ + 1);
        for (std::int64_t first = 0; first < count; first += abreast) {
            const std::int64_t group = leaf.group + first / abreast;
            const Number *block = &tree_.coordinates[group * abreast * columns()];
            Doubles low = Doubles::all(0), high = low;
            for (int c = 0; c < columns(); ++c, block += abreast) {
                const Doubles query = Doubles::all(query_[c]);
                low = Norm::add(low, Doubles::load(block) - query);
                high = Norm::add(high, Doubles::load(block + 4) - query);
            }
            if (!any_within(low, high, Doubles::all(nearest_.reach()))) continue;
            double power[abreast];
            low.store(power);
            high.store(power + 4);
            for (int lane = 0; lane < abreast; ++lane)
                if (power[lane] <= nearest_.reach()) {
                    const std::int32_t index = tree_.index[group * abreast + lane];
                    if (index != itself_) nearest_.offer(power[lane], index);
                }
        }
    }

    const Tree &tree_;
    std::int64_t k_;
    std::vector<Candidate> slots_;
    Nearest<Norm> nearest_;
    std::vector<double> query_;
    std::int32_t itself_ = -1;
    std::vector<Candidate> stack_;
    int waiting_ = 0;
};

// Runs body(search, i) for first <= i < last, every thread with a search of its own.
template <typename Search, typename Tree, typename Body>
void search_all(const Tree &tree, std::int64_t first, std::int64_t last, std::int64_t k,
                int threads, const Body &body) {
    run_blocks(first, last, 8, threads, [&] { return Search(tree, k); }, body);
}

// The same, with the search that fits the number of columns: small fixed ones are unrolled.
template <template <typename, typename, int> class Search, typename Norm, typename Tree,
          typename Body>
void search_columns(const Tree &tree, std::int64_t first, std::int64_t last, std::int64_t k,
                    int threads, const Body &body) {
    // Of other norms than the Euclidean, rows of single precision are rare: one search is enough.
    constexpr bool rare = !std::is_same_v<Norm, Euclidean> &&
                          !std::is_same_v<typename Tree::Number, double>;
    if constexpr (rare)
        search_all<Search<Tree, Norm, 0>>(tree, first, last, k, threads, body);
    else if (tree.columns == 2)
        search_all<Search<Tree, Norm, 2>>(tree, first, last, k, threads, body);
    else if (tree.columns == 3)
        search_all<Search<Tree, Norm, 3>>(tree, first, last, k, threads, body);
    else
        search_all<Search<Tree, Norm, 0>>(tree, first, last, k, threads, body);
}

// In many columns leaves are wide, and what one of its rows reaches others do not: beyond so many
// each goes its own way.
constexpr int together = 5;

// Neighbours of the rows in the leaves first <= i < last, to their rows of (rows, k) arrays.
template <typename Norm, typename Tree>
void kd_neighbors(const Tree &tree, std::int64_t first, std::int64_t last, std::int64_t k,
                  int threads, std::int32_t *indices, double *distances) {
    const auto body = [&](auto &search, std::int64_t i) UNBEND_INLINE {
        search.neighbors_of_leaf(tree.leaves[i], indices, distances);
    };
    if (tree.columns <= together)
        search_columns<KdLeafSearch, Norm>(tree, first, last, k, threads, body);
    else
        search_columns<KdSearch, Norm>(tree, first, last, k, threads, body);
}

// New rows one after the other as the leaves that they are near to, and groups of them.
struct SortedQueries {
    struct Group {
        std::int32_t leaf;
        std::int64_t first, last;
    };

    std::vector<std::int32_t> order;
    std::vector<Group> groups;

    // Sorts rows by the node found for each; rows without one stay in groups of their own.
    SortedQueries(const std::vector<std::int32_t> &found, std::int64_t nodes)
        : order(found.size()) {
        std::vector<std::int64_t> start(nodes + 2);
        for (const std::int32_t node : found) ++start[node + 2];
        for (std::int64_t node = 0; node <= nodes; ++node) start[node + 1] += start[node];
        for (std::size_t i = 0; i < found.size(); ++i)
            order[start[found[i] + 1]++] = static_cast<std::int32_t>(i);
        // Each start has moved to the next one by now.
        std::int64_t first = 0;
        for (std::int64_t node = -1; node < nodes; first = start[++node])
            for (; first < start[node + 1]; first += leaf_rows)
                groups.push_back({static_cast<std::int32_t>(node), first,
                                  std::min(first + leaf_rows, start[node + 1])});
    }
};

// What one thread needs for new rows in their order.
template <typename Tree, typename Norm, int Fixed>
class KdGroupSearch {
  public:
    KdGroupSearch(const Tree &tree, std::int64_t k) : alone_(tree, k), together_(tree, k) {}

    UNBEND_INLINE void nearest_of(const SortedQueries &queries, const SortedQueries::Group &group,
                                  const double *points, std::int64_t columns, std::int64_t k,
                                  std::int32_t *indices, double *distances) {
        const std::int32_t *members = queries.order.data() + group.first;
        const std::int64_t count = group.last - group.first;
        if (group.leaf >= 0 && count >= few &&
            together_.nearest_of(group.leaf, points, members, count, indices, distances))
            return;
        for (std::int64_t m = 0; m < count; ++m)
            alone_.nearest_of(points + members[m] * columns, indices + members[m] * k,
                              distances + members[m] * k);
    }

  private:
    // Fewer rows share too little.
    static constexpr std::int64_t few = 3;

    KdSearch<Tree, Norm, Fixed> alone_;
    KdLeafSearch<Tree, Norm, Fixed> together_;
};

// Rows nearest to about as many new rows as there are leaves, or more: sorted by these, what one row
// reads is in cache for the next, and rows near one leaf are searched together.
template <typename Tree>
void kd_nearest_of_many(const Tree &tree, const double *points, std::int64_t count, std::int64_t k,
                        int threads, std::int32_t *indices, double *distances) {
    std::vector<std::int32_t> found(count);
    search_columns<KdSearch, Euclidean>(tree, 0, count, 1, threads,
                                        [&](auto &search, std::int64_t i) UNBEND_INLINE {
                                            found[i] = search.leaf_near(points + i * tree.columns);
                                        });
    const SortedQueries queries(found, static_cast<std::int64_t>(tree.nodes.size()));
    const auto groups = static_cast<std::int64_t>(queries.groups.size());
    search_columns<KdGroupSearch, Euclidean>(
        tree, 0, groups, k, threads, [&](auto &search, std::int64_t g) UNBEND_INLINE {
            search.nearest_of(queries, queries.groups[g], points, tree.columns, k, indices,
                              distances);
        });
}

// Rows nearest to each of `count` new rows, to (count, k) arrays; the same to the last bit, however
// many are asked for at once.
template <typename Norm, typename Tree>
void kd_nearest_of(const Tree &tree, const double *points, std::int64_t count, std::int64_t k,
                   int threads, std::int32_t *indices, double *distances) {
    const auto nodes = static_cast<std::int64_t>(tree.nodes.size());
    if constexpr (std::is_same_v<Norm, Euclidean>)
        if (2 * count >= nodes && tree.columns <= together && nodes > 1)
            return kd_nearest_of_many(tree, points, count, k, threads, indices, distances);
    search_columns<KdSearch, Norm>(
        tree, 0, count, k, threads, [&](auto &search, std::int64_t i) UNBEND_INLINE {
            search.nearest_of(points + i * tree.columns, indices + i * k, distances + i * k);
        });
}

}  // namespace unbend
