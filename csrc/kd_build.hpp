// Building a KD-tree.
//
// Rows are split at a median of the column in which they spread most. Equal rows are never
// separated: they share a leaf, in the order of their indices, of which a search needs only the
// first few. Nothing degenerates, however many rows coincide. Large parts are tasks of their own,
// and the tree is the same whoever does them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "kd_tree.hpp"
#include "poll.hpp"

namespace unbend {

// Rows that lie together in the tree to be, and their box: lows, then highs.
struct KdPart {
    std::int64_t first, last;
    std::vector<double> box;

    std::int64_t count() const { return last - first; }

    int widest() const {
        const int columns = static_cast<int>(box.size()) / 2;
        const double *low = box.data(), *high = low + columns;
        int widest = 0;
        for (int c = 1; c < columns; ++c)
            if (high[c] - low[c] > high[widest] - low[widest]) widest = c;
        return widest;
    }

    bool is_leaf() const {
        const int c = widest();
        return count() <= leaf_rows || box[box.size() / 2 + c] == box[c];
    }
};

// The rows on their way to the leaves.
class KdRows {
  public:
    KdRows(const double *points, std::int64_t rows, int columns, double scale)
        : columns(columns), numbers(points, points + rows * columns), index(rows) {
        for (double &number : numbers) number *= scale;
        for (std::int64_t i = 0; i < rows; ++i) index[i] = static_cast<std::int32_t>(i);
    }

    KdPart part(std::int64_t first, std::int64_t last) const {
        KdPart part{first, last, std::vector<double>(2 * columns)};
        double *low = part.box.data(), *high = low + columns;
        std::fill(low, high, std::numeric_limits<double>::infinity());
        std::fill(high, high + columns, -std::numeric_limits<double>::infinity());
        for (std::int64_t i = first; i < last; ++i)
            for (int c = 0; c < columns; ++c) {
                low[c] = std::min(low[c], numbers[i * columns + c]);
                high[c] = std::max(high[c], numbers[i * columns + c]);
            }
        return part;
    }

    // Swaps rows until all with less (or not more) than the pivot come first; gives where the
    // others begin.
    std::int64_t move(const KdPart &part, int column, double pivot, bool with_equal) {
        const auto goes_left = [&](std::int64_t i) {
            const double value = numbers[i * columns + column];
            return with_equal ? value <= pivot : value < pivot;
        };
        std::int64_t i = part.first, j = part.last - 1;
        while (true) {
            while (i <= j && goes_left(i)) ++i;
            while (i <= j && !goes_left(j)) --j;
            if (i > j) return i;
            std::swap_ranges(&numbers[i * columns], &numbers[i * columns] + columns,
                             &numbers[j * columns]);
            std::swap(index[i], index[j]);
        }
    }

    const int columns;
    std::vector<double> numbers;
    std::vector<std::int32_t> index;
};

// Splits parts in two.
class KdSplitter {
  public:
    explicit KdSplitter(KdRows &rows) : rows_(rows) {}

    // Appends the halves of a part, or the part itself if it is a leaf.
    void halve(const KdPart &whole, std::vector<KdPart> &parts) {
        if (whole.is_leaf()) {
            parts.push_back(whole);
            return;
        }
        const std::int64_t middle = partition(whole, whole.widest());
        parts.push_back(rows_.part(whole.first, middle));
        parts.push_back(rows_.part(middle, whole.last));
    }

  private:
    static constexpr std::int64_t sample = 127;

    struct Cut {
        std::int64_t left;
        bool with_equal;  // whether numbers equal to the pivot go left
    };

    // Puts the rows with the smaller numbers in a column first; both sides get some.
    std::int64_t partition(const KdPart &whole, int column) {
        const std::int64_t count = whole.count();
        values_.resize(std::max<std::size_t>(values_.size(), count));
        for (std::int64_t i = 0; i < count; ++i)
            values_[i] = rows_.numbers[(whole.first + i) * rows_.columns + column];
        double pivot = median_of_sample(count);
        Cut cut = cut_at(pivot, count);
        if (std::min(cut.left, count - cut.left) < count / 8) {
            // An unlucky sample, or a number that many rows share; the true median bounds the
            // depth in the first case and does no harm in the second.
            scratch_.assign(values_.begin(), values_.begin() + count);
            std::nth_element(scratch_.begin(), scratch_.begin() + count / 2, scratch_.end());
            pivot = scratch_[count / 2];
            cut = cut_at(pivot, count);
        }
        return rows_.move(whole, column, pivot, cut.with_equal);
    }

    Cut cut_at(double pivot, std::int64_t count) const {
        std::int64_t less = 0, equal = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            less += values_[i] < pivot;
            equal += values_[i] == pivot;
        }
        const std::int64_t without = std::min(less, count - less);
        const std::int64_t with = std::min(less + equal, count - less - equal);
        return with > without ? Cut{less + equal, true} : Cut{less, false};
    }

    double median_of_sample(std::int64_t count) {
        const std::int64_t size = std::min(count, sample);
        scratch_.resize(size);
        for (std::int64_t i = 0; i < size; ++i) scratch_[i] = values_[i * count / size];
        // Of few rows a whole number of groups goes left, so that leaves are full.
        const std::int64_t middle = size < count ? size / 2 : (size + lanes) / (2 * lanes) * lanes;
        std::nth_element(scratch_.begin(), scratch_.begin() + middle, scratch_.end());
        return scratch_[middle];
    }

    KdRows &rows_;
    std::vector<double> values_, scratch_;
};

class KdBuilder {
  public:
    KdBuilder(KdRows &rows, Poller &poller) : rows_(rows), poller_(poller) {}

    // Appends a part, as a subtree, to a tree that may be one to be attached to another.
    void grow(const KdPart &whole, std::int32_t parent, KdTree &tree) {
        if (poller_.stopped()) return;
        if (whole.count() >= task_rows && !whole.is_leaf())
            grow_by_tasks(whole, parent, tree);
        else {
            KdSplitter splitter(rows_);
            grow_alone(whole, parent, splitter, tree);
        }
    }

  private:
    // Smaller parts are not worth a task.
    static constexpr std::int64_t task_rows = 1 << 15;

    void grow_by_tasks(const KdPart &whole, std::int32_t parent, KdTree &tree) {
        std::vector<KdPart> halves, quarters[2];
        KdSplitter(rows_).halve(whole, halves);
        as_tasks(halves.size(), [&](std::size_t side) {
            KdSplitter(rows_).halve(halves[side], quarters[side]);
        });
        std::vector<KdPart> parts = quarters[0];
        parts.insert(parts.end(), quarters[1].begin(), quarters[1].end());
        std::vector<KdTree> grown(parts.size());
        as_tasks(parts.size(), [&](std::size_t side) { grow(parts[side], -1, grown[side]); });
        if (poller_.stopped()) return;
        const std::int32_t node = add_node(parent, tree);
        for (std::size_t side = 0; side < parts.size(); ++side)
            set_child(node, side, parts[side], attach(grown[side], node, tree), tree);
    }

    // Runs `body` for 0 .. count, by whichever threads are free.
    template <typename Body>
    void as_tasks(std::size_t count, const Body &body) {
        for (std::size_t t = 0; t < count; ++t) {
#pragma omp task shared(body) firstprivate(t)
            poller_.guard([&] { body(t); });
        }
#pragma omp taskwait
    }

    std::int32_t grow_alone(const KdPart &whole, std::int32_t parent, KdSplitter &splitter,
                            KdTree &tree) {
        const std::int32_t node = add_node(parent, tree);
        if (whole.is_leaf()) {
            add_leaf(node, whole, tree);
            return node;
        }
        std::vector<KdPart> halves, parts;
        splitter.halve(whole, halves);
        for (const KdPart &half : halves) splitter.halve(half, parts);
        for (std::size_t side = 0; side < parts.size(); ++side)
            set_child(node, side, parts[side], grow_alone(parts[side], node, splitter, tree), tree);
        return node;
    }

    std::int32_t add_node(std::int32_t parent, KdTree &tree) const {
        const auto node = static_cast<std::int32_t>(tree.nodes.size());
        tree.nodes.push_back({0, 0, parent, {-1, -1, -1, -1}});
        tree.boxes.resize(tree.boxes.size() + 2 * arity * rows_.columns,
                          std::numeric_limits<double>::infinity());
        return node;
    }

    void set_child(std::int32_t node, std::size_t side, const KdPart &part, std::int32_t child,
                   KdTree &tree) const {
        const int columns = rows_.columns;
        tree.nodes[node].child[side] = child;
        double *box = &tree.boxes[static_cast<std::int64_t>(node) * 2 * arity * columns + side];
        for (int c = 0; c < columns; ++c) {
            box[2 * arity * c] = part.box[c];
            box[2 * arity * c + arity] = part.box[columns + c];
        }
    }

    void add_leaf(std::int32_t node, const KdPart &part, KdTree &tree) {
        const int columns = rows_.columns;
        const std::int64_t first = part.first, count = part.count();
        const std::int64_t group = static_cast<std::int64_t>(tree.index.size()) / lanes;
        const std::int64_t groups = (count + lanes - 1) / lanes;
        tree.nodes[node].group = group;
        tree.nodes[node].count = static_cast<std::int32_t>(count);
        tree.leaves.push_back(node);
        // Rows are equal or few: their order matters only where they are equal.
        if (count > leaf_rows)
            std::sort(&rows_.index[first], &rows_.index[first] + count);
        tree.index.resize((group + groups) * lanes, -1);
        tree.coordinates.resize((group + groups) * lanes * columns,
                                std::numeric_limits<double>::infinity());
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t lane = group * lanes + i;
            tree.index[lane] = rows_.index[first + i];
            double *block = &tree.coordinates[(lane / lanes) * lanes * columns + lane % lanes];
            for (int c = 0; c < columns; ++c)
                block[c * lanes] = rows_.numbers[(first + i) * columns + c];
        }
    }

    // Appends a whole tree below a node of another; gives the new number of its root.
    static std::int32_t attach(const KdTree &below, std::int32_t node, KdTree &tree) {
        const auto root = static_cast<std::int32_t>(tree.nodes.size());
        const auto group = static_cast<std::int64_t>(tree.index.size()) / lanes;
        for (KdNode moved : below.nodes) {
            moved.group += group;
            moved.parent = moved.parent < 0 ? node : moved.parent + root;
            for (std::int32_t &child : moved.child) child += child < 0 ? 0 : root;
            tree.nodes.push_back(moved);
        }
        for (const std::int32_t leaf : below.leaves) tree.leaves.push_back(leaf + root);
        tree.boxes.insert(tree.boxes.end(), below.boxes.begin(), below.boxes.end());
        tree.index.insert(tree.index.end(), below.index.begin(), below.index.end());
        tree.coordinates.insert(tree.coordinates.end(), below.coordinates.begin(),
                                below.coordinates.end());
        return root;
    }

    KdRows &rows_;
    Poller &poller_;
};

// Levels from the root down, the root included; parents come before their children.
inline int depth_of(const KdTree &tree) {
    std::vector<int> depth(tree.nodes.size(), 1);
    int deepest = 1;
    for (std::size_t node = 1; node < tree.nodes.size(); ++node) {
        depth[node] = depth[tree.nodes[node].parent] + 1;
        deepest = std::max(deepest, depth[node]);
    }
    return deepest;
}

// `poll` is called now and then, and may throw to stop the building.
inline KdTree build_kd_tree(const double *points, std::int64_t rows, int columns, int threads,
                            const std::function<void()> &poll) {
    KdTree tree;
    tree.rows = rows;
    tree.columns = columns;
    tree.scale = safe_scale(largest_size(points, rows * columns));
    KdRows sorted(points, rows, columns, tree.scale);
    Poller poller(poll);
    const KdPart whole = sorted.part(0, rows);
    // Others take up the tasks of the master, which is also the one that asks for interruptions.
#pragma omp parallel num_threads(threads)
#pragma omp master
    poller.guard([&] { KdBuilder(sorted, poller).grow(whole, -1, tree); });
    poller.rethrow();
    tree.depth = depth_of(tree);
    return tree;
}

}  // namespace unbend
