// Graphs in compressed rows, and numberings of their vertices that keep neighbours together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace unbend {

// Edge lengths are not negative; a graph may be directed.
template <typename Real>
struct Graph {
    std::int64_t vertices;
    const std::int64_t *row;  // vertices + 1 offsets
    const std::int32_t *column;
    const Real *length;
};

// Appends all vertices not yet seen that can be reached from `start`, nearest first (in edges).
template <typename Real>
void breadth_first(const Graph<Real> &graph, std::int32_t start, std::vector<char> &seen,
                   std::vector<std::int32_t> &order) {
    std::size_t next = order.size();
    seen[start] = 1;
    order.push_back(start);
    for (; next < order.size(); ++next) {
        const std::int32_t v = order[next];
        for (std::int64_t e = graph.row[v]; e < graph.row[v + 1]; ++e) {
            const std::int32_t w = graph.column[e];
            if (!seen[w]) {
                seen[w] = 1;
                order.push_back(w);
            }
        }
    }
}

// Vertices component by component, level by level from a vertex at the rim (Cuthill and McKee,
// 1969): vertices that are near each other get numbers that are near each other.
template <typename Real>
std::vector<std::int32_t> level_order(const Graph<Real> &graph) {
    std::vector<std::int32_t> order;
    order.reserve(graph.vertices);
    std::vector<char> seen(graph.vertices, 0);
    for (std::int64_t v = 0; v < graph.vertices; ++v) {
        if (seen[v]) continue;
        const std::size_t first = order.size();
        breadth_first(graph, static_cast<std::int32_t>(v), seen, order);
        const std::int32_t rim = order.back();
        for (const std::int32_t start : {rim, static_cast<std::int32_t>(v)}) {
            for (std::size_t i = first; i < order.size(); ++i) seen[order[i]] = 0;
            order.resize(first);
            breadth_first(graph, start, seen, order);
            // In a directed graph the rim may not reach back: then from `v` after all.
            if (seen[v]) break;
        }
    }
    return order;
}

// The same graph with vertex order[i] called i.
template <typename Real>
class Renumbered {
  public:
    Renumbered(const Graph<Real> &graph, const std::vector<std::int32_t> &order)
        : place_(graph.vertices), row_(graph.vertices + 1, 0) {
        const std::int64_t n = graph.vertices;
        for (std::int64_t i = 0; i < n; ++i) place_[order[i]] = static_cast<std::int32_t>(i);
        column_.reserve(graph.row[n]);
        length_.reserve(graph.row[n]);
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t e = graph.row[order[i]]; e < graph.row[order[i] + 1]; ++e) {
                column_.push_back(place_[graph.column[e]]);
                length_.push_back(graph.length[e]);
            }
            row_[i + 1] = static_cast<std::int64_t>(column_.size());
        }
    }

    Graph<Real> graph() const {
        return {static_cast<std::int64_t>(place_.size()), row_.data(), column_.data(),
                length_.data()};
    }

    // New number of each old vertex.
    const std::vector<std::int32_t> &place() const { return place_; }

  private:
    std::vector<std::int32_t> place_;
    std::vector<std::int64_t> row_;
    std::vector<std::int32_t> column_;
    std::vector<Real> length_;
};

}  // namespace unbend
