// Nearest rows of all rows of a leaf at once, or of new rows near one: the way through the tree is
// the same for all of them, and every leaf on it is measured by several rows side by side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "dispatch.hpp"
#include "kd_tree.hpp"
#include "nearest.hpp"

namespace unbend {

// What one thread needs; `Fixed` is the number of columns, or 0 for any.
template <typename Tree, typename Norm, int Fixed>
class KdLeafSearch {
  public:
    KdLeafSearch(const Tree &tree, std::int64_t k)
        : tree_(tree), k_(k), slots_(leaf_rows * Nearest<Norm>::room(k)),
          own_(leaf_rows * tree.columns), box_(2 * tree.columns), stack_(arity * tree.depth) {
        for (std::int64_t i = 0; i < leaf_rows; ++i)
            nearest_.emplace_back(&slots_[i * Nearest<Norm>::room(k)], k,
                                  (tree.columns + 2) * 2 * same_root);
    }

    KdLeafSearch(const KdLeafSearch &) = delete;

    // The k rows nearest to those of one leaf, each without itself, to rows of the result.
    UNBEND_INLINE void neighbors_of_leaf(std::int32_t leaf, std::int32_t *indices,
                                         double *distances) {
        const KdNode &node = tree_.nodes[leaf];
        // Leaves that hold more rows hold equal ones.
        for (std::int64_t first = 0; first < node.count; first += leaf_rows) {
            begin(node, first);
            climb(leaf);
            for (int i = 0; i < count_; ++i)
                nearest_[i].write(1 / tree_.scale, indices + itself_[i] * k_,
                                  distances + itself_[i] * k_);
        }
    }

    // The k rows nearest to some new rows, at most `leaf_rows`, that are nearest to one leaf. Does
    // nothing, and says so, if they lie so far apart that each had better go its own way.
    UNBEND_INLINE bool nearest_of(std::int32_t leaf, const double *points,
                                  const std::int32_t *members, std::int64_t count,
                                  std::int32_t *indices, double *distances) {
        begin_new(points, members, static_cast<int>(count));
        if (is_scattered(leaf)) return false;
        home_ = &tree_.nodes[leaf];
        climb(leaf);
        for (int i = 0; i < count_; ++i)
            nearest_[i].write(1 / tree_.scale, indices + members[i] * k_,
                              distances + members[i] * k_);
        return true;
    }

  private:
    using Number = typename Tree::Number;

    static constexpr double none = -1;

    // A node that waits, with its place among the boxes of its parent's children.
    struct Waiting {
        double power;
        std::int32_t node;
        const Number *box;
    };

    UNBEND_INLINE int columns() const { return Fixed > 0 ? Fixed : tree_.columns; }

    UNBEND_INLINE void begin(const KdNode &leaf, std::int64_t first) {
        count_ = static_cast<int>(std::min(leaf_rows, leaf.count - first));
        const std::int64_t group = leaf.group + first / abreast;
        const Number *numbers = &tree_.coordinates[group * abreast * columns()];
        if constexpr (std::is_same_v<Number, double>) {
            queries_ = numbers;
        } else {
            const std::int64_t groups = (count_ + abreast - 1) / abreast;
            std::copy(numbers, numbers + groups * abreast * columns(), own_.begin());
            queries_ = own_.data();
        }
        itself_ = &tree_.index[group * abreast];
        home_ = &leaf;
        look_up_box();
    }

    UNBEND_INLINE void begin_new(const double *points, const std::int32_t *members, int count) {
        count_ = count;
        for (int i = 0; i < (count + 3) / 4 * 4; ++i) {
            const double *row = points + std::int64_t{members[std::min(i, count - 1)]} * columns();
            for (int c = 0; c < columns(); ++c)
                own_[(i / abreast * columns() + c) * abreast + i % abreast] = row[c] * tree_.scale;
        }
        queries_ = own_.data();
        itself_ = nullptr;
        look_up_box();
    }

    // Whether the box of new rows is more than twice as wide as that of a leaf.
    UNBEND_INLINE bool is_scattered(std::int32_t leaf) const {
        const std::int32_t parent = tree_.nodes[leaf].parent;
        if (parent < 0) return false;
        int side = 0;
        while (tree_.nodes[parent].child[side] != leaf) ++side;
        const Number *box = tree_.box(parent) + side;
        double own = 0, wide = 0;
        for (int c = 0; c < columns(); ++c, box += 2 * arity) {
            const double across = box_[columns() + c] - box_[c], its = box[arity] - box[0];
            own += across * across;
            wide += its * its;
        }
        return !(own <= 4 * wide);
    }

    UNBEND_INLINE void look_up_box() {
        for (int c = 0; c < columns(); ++c) {
            double low = query(0, c), high = low;
            for (int i = 1; i < count_; ++i) {
                low = std::min(low, query(i, c));
                high = std::max(high, query(i, c));
            }
            box_[c] = low;
            box_[columns() + c] = high;
        }
        for (int i = 0; i < leaf_rows; ++i) {
            nearest_[i].clear();
            reach_[i] = i < count_ ? nearest_[i].reach() : none;
        }
        farthest_ = reach_[0];
    }

    UNBEND_INLINE double query(int i, int column) const {
        return queries_[(i / abreast * columns() + column) * abreast + i % abreast];
    }

    // The numbers of four rows from one on, which is a multiple of four.
    UNBEND_INLINE const double *four_queries(int i) const {
        return queries_ + i / abreast * abreast * columns() + i % abreast;
    }

    // Own leaf first, then what its ancestors hold beside it: near rows come early.
    UNBEND_INLINE void climb(std::int32_t node) {
        const bool sortable = nearest_[0].takes_sorted() && tree_.nodes[node].count <= leaf_rows;
        for (int i = 0; i < count_; ++i)
            if (!sortable || !start(i)) scan(i, tree_.nodes[node]);
        look_up_reach();
        for (; tree_.nodes[node].parent >= 0; node = tree_.nodes[node].parent) {
            wait_for_children(tree_.nodes[node].parent, node);
            work_off();
        }
    }

    // Sorts the other rows of the leaf by ranks, counted without branches that nobody foresees;
    // gives up where two are equally far, up to rounding.
    UNBEND_INLINE bool start(int i) {
        double power[leaf_rows];
        std::fill(power, power + leaf_rows, std::numeric_limits<double>::infinity());
        const int rows = home_->count;
        const Number *numbers = &tree_.coordinates[home_->group * abreast * columns()];
        const std::int32_t *index = &tree_.index[home_->group * abreast];
        for (int first = 0; first < rows; first += abreast)
            measure_group(i, numbers + first * columns(), power + first);
        if (itself_ != nullptr) power[i] = std::numeric_limits<double>::infinity();
        else std::fill(power + rows, power + leaf_rows, std::numeric_limits<double>::infinity());
        const std::int64_t others = rows - (itself_ != nullptr);
        std::int64_t rank[leaf_rows] = {};
        for (int j = 0; j < rows; ++j)
            for (int other = 0; other < leaf_rows; ++other) rank[other] += power[j] < power[other];
        Candidate sorted[leaf_rows];
        // A rank that two rows share leaves the next one free.
        for (Candidate &place : sorted) place.power = none;
        for (int j = 0; j < rows; ++j) sorted[rank[j]] = {power[j], index[j]};
        const std::int64_t last = std::min<std::int64_t>(k_, others - 1);
        for (std::int64_t j = 0; j < last; ++j)
            if (!(sorted[j + 1].power - sorted[j].power > same_root * sorted[j + 1].power))
                return false;
        nearest_[i].begin(sorted, others);
        reach_[i] = nearest_[i].reach();
        return true;
    }

    UNBEND_INLINE void look_up_reach() {
        Doubles all = Doubles::load(reach_);
        for (int i = 4; i < leaf_rows; i += 4) all = larger(all, Doubles::load(reach_ + i));
        double largest[4];
        all.store(largest);
        farthest_ = std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
    }

    // Handles what waits, nearest first, as long as it is within reach of some row.
    UNBEND_INLINE void work_off() {
        while (waiting_ > 0) {
            const Waiting next = stack_[--waiting_];
            if (next.power > farthest_) continue;
            if (tree_.nodes[next.node].count > 0)
                visit(tree_.nodes[next.node], next.box);
            else
                wait_for_children(next.node, -1);
        }
    }

    // Puts the children within reach, but one, on the stack, the nearest on top.
    UNBEND_INLINE void wait_for_children(std::int32_t node, std::int32_t except) {
        double away[arity];
        measure(node, away);
        const int bottom = waiting_;
        for (int side = 0; side < arity; ++side) {
            const std::int32_t child = tree_.nodes[node].child[side];
            if (!(away[side] <= farthest_) || child == except) continue;
            int place = waiting_++;
            for (; place > bottom && stack_[place - 1].power < away[side]; --place)
                stack_[place] = stack_[place - 1];
            stack_[place] = {away[side], child, tree_.box(node) + side};
        }
    }

    // Powers of the distances from the box of the rows to the boxes of all children.
    UNBEND_INLINE void measure(std::int32_t node, double *away) const {
        const Number *box = tree_.box(node);
        Doubles power = Doubles::all(0);
        for (int c = 0; c < columns(); ++c, box += 2 * arity) {
            const Doubles below = Doubles::load(box) - Doubles::all(box_[columns() + c]);
            const Doubles above = Doubles::all(box_[c]) - Doubles::load(box + arity);
            power = Norm::add(power, larger(larger(below, above), Doubles::all(0)));
        }
        power.store(away);
    }

    // Scans a leaf for each row that reaches its box.
    UNBEND_INLINE void visit(const KdNode &leaf, const Number *box) {
        bool scanned = false;
        for (int i = 0; i < count_; i += 4) {
            const double *numbers = four_queries(i);
            Doubles power = Doubles::all(0);
            for (int c = 0; c < columns(); ++c) {
                const Doubles row = Doubles::load(numbers + c * abreast);
                const Doubles below = Doubles::all(box[2 * arity * c]) - row;
                const Doubles above = row - Doubles::all(box[2 * arity * c + arity]);
                power = Norm::add(power, larger(larger(below, above), Doubles::all(0)));
            }
            double away[4];
            power.store(away);
            for (int lane = 0; lane < 4; ++lane)
                if (away[lane] <= reach_[i + lane]) {
                    scan(i + lane, leaf);
                    scanned = true;
                }
        }
        if (scanned) look_up_reach();
    }

    // Powers of the distances of one row to a group of rows; tells which are within its reach.
    UNBEND_INLINE std::uint32_t measure_group(int i, const Number *block, double *power) const {
        Doubles low = Doubles::all(0), high = low;
        for (int c = 0; c < columns(); ++c, block += abreast) {
            const Doubles number = Doubles::all(query(i, c));
            low = Norm::add(low, Doubles::load(block) - number);
            high = Norm::add(high, Doubles::load(block + 4) - number);
        }
        low.store(power);
        high.store(power + 4);
        return within_bits(low, high, Doubles::all(reach_[i]));
    }

    // Offers the rows of a leaf to one row.
    UNBEND_INLINE void scan(int i, const KdNode &leaf) {
        Nearest<Norm> &nearest = nearest_[i];
        // More rows than a leaf takes are equal and sorted: after k + 1 only higher indices follow.
        const std::int64_t count =
            leaf.count <= leaf_rows ? leaf.count : std::min<std::int64_t>(leaf.count, k_ + 1);
        for (std::int64_t first = 0; first < count; first += abreast) {
            const std::int64_t group = leaf.group + first / abreast;
            double power[abreast];
            std::uint32_t within = measure_group(
                i, &tree_.coordinates[group * abreast * columns()], power);
            // A row is no neighbour of itself.
            if (itself_ != nullptr) {
                const std::int64_t own = itself_ + i - &tree_.index[group * abreast];
                if (own >= 0 && own < abreast) within &= ~(1u << own);
            }
            if (within == 0) continue;
            for (; within != 0; within &= within - 1) {
                const int lane = __builtin_ctz(within);
                nearest.offer(power[lane], tree_.index[group * abreast + lane]);
            }
            reach_[i] = nearest.reach();
        }
    }

    const Tree &tree_;
    std::int64_t k_;
    std::vector<Candidate> slots_;
    std::vector<Nearest<Norm>> nearest_;
    // The rows in search: coordinates as a tree has them, numbers if they are in it, the leaf they
    // are in or near to, box, and reach.
    std::vector<double> own_;
    const double *queries_ = nullptr;
    const std::int32_t *itself_ = nullptr;
    const KdNode *home_ = nullptr;
    int count_ = 0;
    std::vector<double> box_;
    double reach_[leaf_rows];
    double farthest_ = 0;
    std::vector<Waiting> stack_;
    int waiting_ = 0;
};

}  // namespace unbend
