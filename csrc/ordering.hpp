// A fill-reducing order of a symmetric matrix.
//
// Minimum degree alone: nested dissection with level-set separators was tried in its place and
// above it, and filled 4 to 22 % more on neighbour graphs of 10 000 to a million points.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "minimum_degree.hpp"
#include "poll.hpp"

namespace unbend {

// A symmetric pattern in compressed rows; entries on the diagonal are allowed and ignored.
struct Pattern {
    std::int32_t n;
    const std::int64_t *row;
    const std::int32_t *column;
};

// Whether every entry has its mirror image: all that follows relies on it.
inline bool is_symmetric(const Pattern &graph) {
    const std::int32_t n = graph.n;
    std::vector<std::int64_t> next(n + 1, 0);
    for (std::int64_t e = 0; e < graph.row[n]; ++e) ++next[graph.column[e] + 1];
    for (std::int32_t v = 0; v < n; ++v)
        if (next[v + 1] != graph.row[v + 1] - graph.row[v]) return false;
    for (std::int32_t v = 0; v < n; ++v) next[v] = graph.row[v];
    std::vector<std::int32_t> mirrored(graph.row[n]), mark(n, -1);
    for (std::int32_t v = 0; v < n; ++v)
        for (std::int64_t e = graph.row[v]; e < graph.row[v + 1]; ++e)
            mirrored[next[graph.column[e]]++] = v;
    for (std::int32_t v = 0; v < n; ++v) {
        for (std::int64_t e = graph.row[v]; e < graph.row[v + 1]; ++e) mark[graph.column[e]] = v;
        for (std::int64_t e = graph.row[v]; e < graph.row[v + 1]; ++e)
            if (mark[mirrored[e]] != v) return false;
    }
    return true;
}

// Appends the component of a vertex to `order`, breadth first.
inline void search_component(const Pattern &graph, std::int32_t from,
                             std::vector<std::int32_t> &order, std::vector<std::int32_t> &place) {
    std::size_t next = order.size();
    place[from] = static_cast<std::int32_t>(next);
    order.push_back(from);
    for (; next < order.size(); ++next) {
        const std::int32_t v = order[next];
        for (std::int64_t e = graph.row[v]; e < graph.row[v + 1]; ++e) {
            const std::int32_t u = graph.column[e];
            if (place[u] != -1) continue;
            place[u] = static_cast<std::int32_t>(order.size());
            order.push_back(u);
        }
    }
}

// Columns from first to last; empty if that would take more than `most` flops or was stopped.
// `flops` tells what elimination takes.
inline std::vector<std::int32_t> fill_reducing_order(const Pattern &graph, double most,
                                                     double &flops, Poller &poller) {
    const std::int32_t n = graph.n;
    // Vertices joined to a good part of the graph come last whatever their degree becomes, and
    // would slow down every step until then.
    const double many = 16 + 10 * std::sqrt(static_cast<double>(n));
    std::vector<std::int32_t> place(n, -1), near, dense, order;
    for (std::int32_t v = 0; v < n; ++v)
        if (graph.row[v + 1] - graph.row[v] > many) {
            place[v] = n;
            dense.push_back(v);
        }
    // Breadth-first first, so that minimum degree runs through memory that lies together.
    near.reserve(n);
    for (std::int32_t v = 0; v < n; ++v)
        if (place[v] == -1) search_component(graph, v, near, place);
    const auto size = static_cast<std::int32_t>(near.size());
    std::vector<std::int64_t> row(size + 1, 0);
    std::vector<std::int32_t> column;
    column.reserve(graph.row[n] + graph.row[n] / 5 + size);
    for (std::int32_t v = 0; v < size; ++v) {
        for (std::int64_t e = graph.row[near[v]]; e < graph.row[near[v] + 1]; ++e) {
            const std::int32_t u = place[graph.column[e]];
            if (u != v && u < n) column.push_back(u);
        }
        row[v + 1] = static_cast<std::int64_t>(column.size());
    }
    order.reserve(n);
    MinimumDegree degrees(std::move(row), std::move(column));
    if (!degrees.run(order, flops, most, poller)) return {};
    for (std::int32_t &v : order) v = near[v];
    order.insert(order.end(), dense.begin(), dense.end());
    return order;
}

}  // namespace unbend
