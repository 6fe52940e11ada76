// The elimination tree of a sparse matrix in a given order, and how long its columns become.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ordering.hpp"

namespace unbend {

// Columns of a matrix in a new order.
struct Order {
    std::vector<std::int32_t> order, place;   // new to old, old to new
};

inline void invert(const std::vector<std::int32_t> &order, std::vector<std::int32_t> &place) {
    place.resize(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = static_cast<std::int32_t>(k);
}

// Parent of each column: the row of its first entry below the diagonal (Liu, 1986).
inline std::vector<std::int32_t> elimination_tree(const Pattern &graph, const Order &of) {
    std::vector<std::int32_t> parent(graph.n, -1), ancestor(graph.n, -1);
    for (std::int32_t j = 0; j < graph.n; ++j) {
        const std::int32_t v = of.order[j];
        for (std::int64_t e = graph.row[v]; e < graph.row[v + 1]; ++e) {
            std::int32_t i = of.place[graph.column[e]];
            while (i != -1 && i < j) {
                const std::int32_t up = ancestor[i];
                ancestor[i] = j;
                if (up == -1) parent[i] = j;
                i = up;
            }
        }
    }
    return parent;
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

// Entries of each column of L, its diagonal included (Gilbert, Ng and Peyton, 1994); columns are
// in postorder. An entry (i, j) starts a new leaf of the subtree of row i, unless j is an ancestor
// of a column seen before; paths from leaves overlap from their least common ancestor on.
inline std::vector<std::int32_t> column_counts(const Pattern &graph, const Order &of,
                                               const std::vector<std::int32_t> &parent) {
    const std::int32_t n = graph.n;
    std::vector<std::int32_t> descendant(n), count(n, 0), ancestor(n), leaf(n, -1), earliest(n, -1);
    for (std::int32_t j = 0; j < n; ++j) ancestor[j] = descendant[j] = j;
    for (std::int32_t j = 0; j < n; ++j)
        if (parent[j] != -1)
            descendant[parent[j]] = std::min(descendant[parent[j]], descendant[j]);
    for (std::int32_t j = 0; j < n; ++j) {
        if (descendant[j] == j) ++count[j];
        if (parent[j] != -1) --count[parent[j]];
        const std::int32_t v = of.order[j];
        for (std::int64_t e = graph.row[v]; e < graph.row[v + 1]; ++e) {
            const std::int32_t i = of.place[graph.column[e]];
            if (i <= j || descendant[j] <= earliest[i]) continue;
            earliest[i] = descendant[j];
            ++count[j];
            if (leaf[i] != -1) {
                std::int32_t common = leaf[i];
                while (common != ancestor[common]) {
                    ancestor[common] = ancestor[ancestor[common]];
                    common = ancestor[common];
                }
                --count[common];
            }
            leaf[i] = j;
        }
        if (parent[j] != -1) ancestor[j] = parent[j];
    }
    for (std::int32_t j = 0; j < n; ++j)
        if (parent[j] != -1) count[parent[j]] += count[j];
    return count;
}

}  // namespace unbend
