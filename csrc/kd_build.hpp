// Building a KD-tree.
//
// Equal rows are never separated: they share a leaf, in the order of their indices, of which a
// search needs only the first few. Nothing degenerates, however many rows coincide. Large parts are
// tasks of their own, and the tree is the same whoever does them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "kd_split.hpp"
#include "poll.hpp"

namespace unbend {

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
        const std::int64_t group = static_cast<std::int64_t>(tree.index.size()) / abreast;
        const std::int64_t groups = (count + abreast - 1) / abreast;
        tree.nodes[node].group = group;
        tree.nodes[node].count = static_cast<std::int32_t>(count);
        tree.leaves.push_back(node);
        // Rows are equal or few: their order matters only where they are equal.
        if (count > leaf_rows)
            std::sort(&rows_.index[first], &rows_.index[first] + count);
        tree.index.resize((group + groups) * abreast, -1);
        tree.coordinates.resize((group + groups) * abreast * columns,
                                std::numeric_limits<double>::infinity());
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t lane = group * abreast + i;
            tree.index[lane] = rows_.index[first + i];
            double *block =
                &tree.coordinates[(lane / abreast) * abreast * columns + lane % abreast];
            for (int c = 0; c < columns; ++c)
                block[c * abreast] = rows_.numbers[(first + i) * columns + c];
        }
    }

    // Appends a whole tree below a node of another; gives the new number of its root.
    static std::int32_t attach(const KdTree &below, std::int32_t node, KdTree &tree) {
        const auto root = static_cast<std::int32_t>(tree.nodes.size());
        const auto group = static_cast<std::int64_t>(tree.index.size()) / abreast;
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
    // About what leaves of twelve rows take, so that nothing is moved while the tree grows.
    tree.nodes.reserve(rows / abreast + 1);
    tree.boxes.reserve((rows / abreast + 1) * 2 * arity * columns);
    tree.index.reserve(rows * 3 / 2 + abreast);
    tree.coordinates.reserve((rows * 3 / 2 + abreast) * columns);
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
