// Repulsion of a layout by Barnes and Hut's tree, which serves three dimensions, where layouts fill
// little of a mesh, and few points.
//
// Every sum has one order, whatever the number of threads or the instruction set.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "dispatch.hpp"
#include "layout_forces.hpp"
#include "poll.hpp"
#include "simd_wide.hpp"

namespace unbend {

// Moves bit b of a number to bit b · D: 31 bits in two dimensions, 21 in three.
template <int D>
inline std::uint64_t spread_bits(std::uint64_t x) {
    if constexpr (D == 2) {
        x = (x | x << 16) & 0x0000FFFF0000FFFFull;
        x = (x | x << 8) & 0x00FF00FF00FF00FFull;
        x = (x | x << 4) & 0x0F0F0F0F0F0F0F0Full;
        x = (x | x << 2) & 0x3333333333333333ull;
        x = (x | x << 1) & 0x5555555555555555ull;
    } else if constexpr (D == 3) {
        x = (x | x << 32) & 0x001F00000000FFFFull;
        x = (x | x << 16) & 0x001F0000FF0000FFull;
        x = (x | x << 8) & 0x100F00F00F00F00Full;
        x = (x | x << 4) & 0x10C30C30C30C30C3ull;
        x = (x | x << 2) & 0x1249249249249249ull;
    }
    return x;
}

// Points of a layout in cells that are halved along every axis until they hold few of them. Nodes
// are in depth-first order. Cells of one size are sorted and split each by one task, and those above
// them are put on top, so that the tree does not depend on the number of threads.
template <int D>
class Tree {
  public:
    static constexpr std::int32_t leaf_size = 8;

    Tree(const float *points, std::int64_t n, float opening, int threads) : opening_(opening) {
        const Box box(points, n);
        const int team = threads_for(500.0 * n, threads);
        std::vector<Key> keys = keys_by_cell(points, n, box, team);
        order.resize(n);
        sorted.resize(n * D);
        std::vector<std::vector<Node>> branches(cells);
        run_tasks(
            cells, team, [] { return 0; },
            [&](int, std::int64_t cell) {
                const std::int32_t begin = first_[cell], end = first_[cell + 1];
                std::sort(keys.begin() + begin, keys.begin() + end);
                for (std::int32_t i = begin; i < end; ++i) {
                    order[i] = keys[i].second;
                    std::copy_n(points + std::int64_t(order[i]) * D, D, sorted.data() + i * D);
                }
                if (begin < end)
                    split(keys, begin, end, bits - 1 - top, box.width / (1 << top), branches[cell]);
            });
        join(branches, 0, cells, box.width);
    }

    // Adds Σ w² (y − y_j) and Σ w for eight points at once: a node is opened if one of them needs it.
    UNBEND_INLINE inline void repel(const Eight (&y)[D], Eight (&force)[D], Eight &mass) const {
        const std::int32_t last = static_cast<std::int32_t>(nodes_.size());
        for (std::int32_t node = 0; node < last;) {
            const Node &here = nodes_[node];
            Eight away[D];
            for (int axis = 0; axis < D; ++axis) away[axis] = y[axis] - here.center[axis];
            const Eight square = square_of<D>(away);
            const Eight reach = here.reach + 0.0f * square;
            if (!any_of(reach >= square)) {
                const Eight w = 1.0f / (1.0f + square), many = here.count * w;
                mass += many;
                for (int axis = 0; axis < D; ++axis) force[axis] += many * w * away[axis];
                node = here.skip;
            } else {
                for (std::int32_t j = here.begin; j < here.end; ++j) {
                    Eight apart[D];
                    for (int axis = 0; axis < D; ++axis)
                        apart[axis] = y[axis] - sorted[std::int64_t(j) * D + axis];
                    const Eight w = 1.0f / (1.0f + square_of<D>(apart));
                    mass += w;
                    for (int axis = 0; axis < D; ++axis) force[axis] += w * w * apart[axis];
                }
                ++node;
            }
        }
    }

    UNBEND_INLINE inline void force(const float (&y)[D], float (&force)[D]) const {
        Eight place[D], sum[D] = {}, mass = {};
        for (int axis = 0; axis < D; ++axis) place[axis] = y[axis] + Eight{};
        repel(place, sum, mass);
        for (int axis = 0; axis < D; ++axis) force[axis] = sum[axis][0];
    }

    std::vector<std::int32_t> order;
    std::vector<float> sorted;

  private:
    using Key = std::pair<std::uint64_t, std::int32_t>;

    // Halvings along an axis, those above the cells of a task, and the cells.
    static constexpr int bits = D == 3 ? 21 : 31, top = D == 1 ? 6 : D == 2 ? 3 : 2;
    static constexpr std::int64_t cells = std::int64_t(1) << (top * D);

    // Points begin .. end are those of a leaf; `reach` is the squared distance from which on the
    // node counts as one point; `skip` is the next node outside of this one.
    struct Node {
        float center[D], count, reach;
        std::int32_t begin, end, skip;
    };

    struct Box {
        float low[D], width = 0;

        Box(const float *points, std::int64_t n) {
            float high[D];
            for (int axis = 0; axis < D; ++axis) low[axis] = high[axis] = points[axis];
            for (std::int64_t i = 1; i < n; ++i)
                for (int axis = 0; axis < D; ++axis) {
                    low[axis] = std::min(low[axis], points[i * D + axis]);
                    high[axis] = std::max(high[axis], points[i * D + axis]);
                }
            for (int axis = 0; axis < D; ++axis) width = std::max(width, high[axis] - low[axis]);
        }
    };

    // Places in Morton order, those of one cell side by side, from first_[cell] on.
    std::vector<Key> keys_by_cell(const float *points, std::int64_t n, const Box &box, int threads) {
        constexpr std::uint64_t most = (std::uint64_t(1) << bits) - 1;
        const double scale = box.width > 0 ? most / double(box.width) : 0.0;
        std::vector<std::uint64_t> places(n);
        run_blocks(
            0, n, 1024, threads, [] { return 0; },
            [&](int, std::int64_t i) UNBEND_INLINE {
                std::uint64_t key = 0;
                for (int axis = 0; axis < D; ++axis) {
                    // The width is rounded: the last point may lie a little beyond it.
                    const auto at = static_cast<std::uint64_t>(
                        (double(points[i * D + axis]) - box.low[axis]) * scale);
                    key |= spread_bits<D>(std::min(at, most)) << axis;
                }
                places[i] = key;
            });
        constexpr int shift = (bits - top) * D;
        first_.fill(0);
        for (std::int64_t i = 0; i < n; ++i) ++first_[(places[i] >> shift) + 1];
        for (std::int64_t cell = 0; cell < cells; ++cell) first_[cell + 1] += first_[cell];
        std::array<std::int32_t, cells + 1> next = first_;
        std::vector<Key> keys(n);
        for (std::int64_t i = 0; i < n; ++i)
            keys[next[places[i] >> shift]++] = {places[i], static_cast<std::int32_t>(i)};
        return keys;
    }

    Node node_of(std::int32_t begin, std::int32_t end, float width) const {
        double sum[D] = {};
        for (std::int64_t i = begin; i < end; ++i)
            for (int axis = 0; axis < D; ++axis) sum[axis] += sorted[i * D + axis];
        Node node;
        for (int axis = 0; axis < D; ++axis)
            node.center[axis] = static_cast<float>(sum[axis] / (end - begin));
        node.count = static_cast<float>(end - begin);
        node.reach = width / opening_ * (width / opening_);
        node.begin = begin;
        node.end = end - begin <= leaf_size ? end : begin;
        return node;
    }

    // Appends the nodes of a cell, whose points differ in the halvings up to `bit`.
    void split(const std::vector<Key> &keys, std::int32_t begin, std::int32_t end, int bit,
               float width, std::vector<Node> &nodes) const {
        const std::size_t node = nodes.size();
        nodes.push_back(node_of(begin, end, width));
        if (bit < 0) nodes[node].end = end;
        for (std::int32_t from = nodes[node].end; from < end;) {
            const std::uint64_t cell = keys[from].first >> (bit * D);
            std::int32_t to = from + 1;
            while (to < end && keys[to].first >> (bit * D) == cell) ++to;
            split(keys, from, to, bit - 1, width / 2, nodes);
            from = to;
        }
        nodes[node].skip = static_cast<std::int32_t>(nodes.size());
    }

    // Appends the nodes above `many` cells from `cell` on, and those of these cells.
    void join(const std::vector<std::vector<Node>> &branches, std::int64_t cell, std::int64_t many,
              float width) {
        const std::int32_t begin = first_[cell], end = first_[cell + many];
        if (begin == end) return;
        const auto node = static_cast<std::int32_t>(nodes_.size());
        if (many == 1) {
            nodes_.insert(nodes_.end(), branches[cell].begin(), branches[cell].end());
            for (std::size_t each = node; each < nodes_.size(); ++each) nodes_[each].skip += node;
            return;
        }
        nodes_.push_back(node_of(begin, end, width));
        const std::int64_t part = many >> D;
        if (end - begin > leaf_size)
            for (std::int64_t each = cell; each < cell + many; each += part)
                join(branches, each, part, width / 2);
        nodes_[node].skip = static_cast<std::int32_t>(nodes_.size());
    }

    float opening_;
    std::array<std::int32_t, cells + 1> first_;
    std::vector<Node> nodes_;
};

// Repulsion (n, D) and Σ_j w_ij (n,), a point's own place included, by Barnes and Hut: a cell counts
// as one point from the distance width / opening on.
template <int D>
void repel_by_tree(const float *points, std::int64_t n, float opening, int threads, float *forces,
                   double *normalizers) {
    const Tree<D> tree(points, n, opening, threads);
    run_blocks(
        0, (n + 7) / 8, 8, threads_for(2000.0 * n, threads), [] { return 0; },
        [&](int, std::int64_t packet) UNBEND_INLINE {
            const std::int64_t from = packet * 8;
            Eight y[D] = {}, force[D] = {}, mass = {};
            for (int lane = 0; lane < 8; ++lane) {
                const std::int64_t i = std::min(from + lane, n - 1);
                for (int axis = 0; axis < D; ++axis) y[axis][lane] = tree.sorted[i * D + axis];
            }
            tree.repel(y, force, mass);
            for (int lane = 0; lane < 8 && from + lane < n; ++lane) {
                const std::int64_t i = tree.order[from + lane];
                normalizers[i] = mass[lane];
                for (int axis = 0; axis < D; ++axis) forces[i * D + axis] = force[axis][lane];
            }
        });
}

}  // namespace unbend
