// Building a KD-tree.
//
// Equal rows are never separated: they share a leaf, in the order of their indices, of which a
// search needs only the first few. Nothing degenerates, however many rows coincide. Large parts are
// split level by level, then small ones grow as tasks of their own; the tree is the same for any
// number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "kd_split.hpp"
#include "poll.hpp"

namespace unbend {

template <typename Real>
class KdBuilder {
  public:
    using Tree = KdTree<Real>;

    KdBuilder(KdRows<Real> &rows, Poller &poller) : rows_(rows), poller_(poller) {}

    // Fills an empty tree; may leave it unfinished if the poller stops.
    void grow(const KdPart &whole, int threads, Tree &tree) {
        if (!is_large(whole)) return grow_subtree(whole, tree);
        std::vector<Branch> branches;
        branches.push_back({whole});
        for (std::size_t first = 0; first < branches.size() && !poller_.stopped();) {
            const std::size_t last = branches.size();
            split(first, last, threads, branches);
            first = last;
        }
        std::vector<Tree> grown(branches.size());
        as_tasks(branches.size(), threads, [&](std::int64_t b) {
            if (branches[b].sides == 0) grow_subtree(branches[b].part, grown[b]);
        });
        if (!poller_.stopped()) join(branches, 0, -1, grown, tree);
    }

  private:
    // A part above or at the border between large and small ones, before those it is split into.
    struct Branch {
        KdPart part;
        std::size_t below = 0, sides = 0;   // branches below .. below + sides are its parts
    };

    // Smaller parts are not worth a task.
    static bool is_large(const KdPart &part) { return part.count() >= 1 << 15 && !part.is_leaf(); }

    void grow_subtree(const KdPart &whole, Tree &tree) {
        KdSplitter<Real> splitter(rows_);
        grow_alone(whole, -1, splitter, tree);
    }

    // Splits the large ones of branches first .. last, in two steps, and appends their parts.
    void split(std::size_t first, std::size_t last, int threads, std::vector<Branch> &branches) {
        std::vector<std::vector<KdPart>> halves(last - first), quarters(2 * (last - first));
        as_tasks(halves.size(), threads, [&](std::int64_t t) {
            const KdPart &part = branches[first + t].part;
            if (is_large(part)) KdSplitter<Real>(rows_).halve(part, halves[t]);
        });
        as_tasks(quarters.size(), threads, [&](std::int64_t t) {
            const std::vector<KdPart> &pair = halves[t / 2];
            if (t % 2 < static_cast<std::int64_t>(pair.size()))
                KdSplitter<Real>(rows_).halve(pair[t % 2], quarters[t]);
        });
        for (std::size_t t = 0; t < quarters.size(); ++t) {
            if (t % 2 == 0) branches[first + t / 2].below = branches.size();
            branches[first + t / 2].sides += quarters[t].size();
            for (const KdPart &part : quarters[t]) branches.push_back({part});
        }
    }

    // Appends branch b and all below it; gives the number of its root.
    std::int32_t join(const std::vector<Branch> &branches, std::size_t b, std::int32_t parent,
                      const std::vector<Tree> &grown, Tree &tree) const {
        const Branch &branch = branches[b];
        if (branch.sides == 0) return attach(grown[b], parent, tree);
        const std::int32_t node = add_node(parent, tree);
        for (std::size_t side = 0; side < branch.sides; ++side) {
            const std::size_t c = branch.below + side;
            set_child(node, side, branches[c].part, join(branches, c, node, grown, tree), tree);
        }
        return node;
    }

    template <typename Body>
    void as_tasks(std::size_t count, int threads, const Body &body) {
        run_tasks(static_cast<std::int64_t>(count), threads, poller_, [] { return 0; },
                  [&](int, std::int64_t t) { body(t); });
    }

    std::int32_t grow_alone(const KdPart &whole, std::int32_t parent, KdSplitter<Real> &splitter,
                            Tree &tree) {
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

    std::int32_t add_node(std::int32_t parent, Tree &tree) const {
        const auto node = static_cast<std::int32_t>(tree.nodes.size());
        tree.nodes.push_back({0, 0, parent, {-1, -1, -1, -1}});
        tree.boxes.resize(tree.boxes.size() + 2 * arity * rows_.columns,
                          std::numeric_limits<Real>::infinity());
        return node;
    }

    void set_child(std::int32_t node, std::size_t side, const KdPart &part, std::int32_t child,
                   Tree &tree) const {
        const int columns = rows_.columns;
        tree.nodes[node].child[side] = child;
        Real *box = &tree.boxes[static_cast<std::int64_t>(node) * 2 * arity * columns + side];
        for (int c = 0; c < columns; ++c) {
            box[2 * arity * c] = static_cast<Real>(part.box[c]);
            box[2 * arity * c + arity] = static_cast<Real>(part.box[columns + c]);
        }
    }

    void add_leaf(std::int32_t node, const KdPart &part, Tree &tree) {
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
                                std::numeric_limits<Real>::infinity());
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t lane = group * abreast + i;
            tree.index[lane] = rows_.index[first + i];
            Real *block =
                &tree.coordinates[(lane / abreast) * abreast * columns + lane % abreast];
            for (int c = 0; c < columns; ++c)
                block[c * abreast] = rows_.numbers[(first + i) * columns + c];
        }
    }

    // Appends a whole tree below a node of another; gives the new number of its root.
    static std::int32_t attach(const Tree &below, std::int32_t node, Tree &tree) {
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

    KdRows<Real> &rows_;
    Poller &poller_;
};

// Levels from the root down, the root included; parents come before their children.
template <typename Real>
int depth_of(const KdTree<Real> &tree) {
    std::vector<int> depth(tree.nodes.size(), 1);
    int deepest = 1;
    for (std::size_t node = 1; node < tree.nodes.size(); ++node) {
        depth[node] = depth[tree.nodes[node].parent] + 1;
        deepest = std::max(deepest, depth[node]);
    }
    return deepest;
}

// `poll` is called now and then, and may throw to stop the building.
template <typename Real>
KdTree<Real> build_kd_tree(const Real *points, std::int64_t rows, int columns, int threads,
                           const std::function<void()> &poll) {
    KdTree<Real> tree;
    tree.rows = rows;
    tree.columns = columns;
    tree.scale = safe_scale(largest_size(points, rows * columns));
    // About what leaves of twelve rows take, so that nothing is moved while the tree grows.
    tree.nodes.reserve(rows / abreast + 1);
    tree.boxes.reserve((rows / abreast + 1) * 2 * arity * columns);
    tree.index.reserve(rows * 3 / 2 + abreast);
    tree.coordinates.reserve((rows * 3 / 2 + abreast) * columns);
    KdRows<Real> sorted(points, rows, columns, tree.scale);
    Poller poller(poll);
    const KdPart whole = sorted.part(0, rows);
    KdBuilder<Real>(sorted, poller).grow(whole, threads, tree);
    poller.rethrow();
    tree.depth = depth_of(tree);
    return tree;
}

}  // namespace unbend
