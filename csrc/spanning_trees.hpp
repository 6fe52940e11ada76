// Minimum spanning trees of many samples of the rows of one graph of neighbours.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "components.hpp"

namespace unbend {

// An edge between two rows: at the nearest it is neighbour number `place` of one of them.
struct Edge {
    double length;
    std::int32_t one, other, place;
};

// Lengths are not negative: their bits, read as a whole number, are in the same order.
inline std::uint64_t bits_of_length(double length) {
    std::uint64_t bits;
    std::memcpy(&bits, &length, sizeof bits);
    return bits;
}

// Sorts edges by length. Three rounds of counting put the leading 33 bits in order, some six
// digits; what agrees in all of them is a short run that is sorted as usual.
inline void sort_by_length(std::vector<Edge> &edges) {
    constexpr int digit = 11, lowest = 31;
    constexpr std::uint64_t mask = (1u << digit) - 1;
    std::vector<Edge> moved(edges.size());
    for (int shift = lowest; shift < 64; shift += digit) {
        std::vector<std::size_t> start(mask + 2, 0);
        for (const Edge &edge : edges) ++start[(bits_of_length(edge.length) >> shift & mask) + 1];
        std::partial_sum(start.begin(), start.end(), start.begin());
        for (const Edge &edge : edges)
            moved[start[bits_of_length(edge.length) >> shift & mask]++] = edge;
        edges.swap(moved);
    }
    const auto leading = [](const Edge &edge) { return bits_of_length(edge.length) >> lowest; };
    const auto shorter = [](const Edge &a, const Edge &b) { return a.length < b.length; };
    for (auto first = edges.begin(); first != edges.end();) {
        auto last = first + 1;
        while (last != edges.end() && leading(*last) == leading(*first)) ++last;
        std::sort(first, last, shorter);
        first = last;
    }
}

// Edges from `indices` and `distances`, (n, k) with the nearest first, the shortest first.
// Most pairs are neighbours of each other. Sorted, both ways lie side by side and become one, unless
// other edges of the same length lie between them, and then either serves.
inline std::vector<Edge> sorted_edges(const std::int32_t *indices, const double *distances,
                                      std::int64_t n, std::int64_t k) {
    std::vector<Edge> edges;
    edges.reserve(n * k);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < k; ++j) {
            const std::int32_t row = static_cast<std::int32_t>(i), other = indices[i * k + j];
            edges.push_back({distances[i * k + j], std::min(row, other), std::max(row, other),
                             static_cast<std::int32_t>(j)});
        }
    sort_by_length(edges);
    std::size_t kept = 0;
    for (const Edge &edge : edges) {
        Edge &last = edges[kept ? kept - 1 : 0];
        if (kept && last.length == edge.length && last.one == edge.one && last.other == edge.other)
            last.place = std::min(last.place, edge.place);
        else
            edges[kept++] = edge;
    }
    edges.resize(kept);
    return edges;
}

// Edges of one sample, in their order. Kept without a jump: whether both ends are in the sample is
// what no processor guesses.
inline std::int64_t edges_inside(const std::vector<Edge> &edges, const bool *inside,
                                 std::int64_t width, std::vector<std::int32_t> &kept) {
    std::int64_t count = 0;
    for (std::size_t e = 0; e < edges.size(); ++e) {
        const Edge &edge = edges[e];
        kept[count] = static_cast<std::int32_t>(e);
        count += inside[edge.one] & inside[edge.other] & (edge.place < width);
    }
    return count;
}

// Kruskal's trees of the rows of each sample, `inside` (samples, n), along edges to their `width`
// nearest: how many edges they have, and their total length.
inline void spanning_trees(const std::int32_t *indices, const double *distances, std::int64_t n,
                           std::int64_t k, const bool *inside, const std::int64_t *widths,
                           std::int64_t samples, std::int64_t *counts, double *lengths) {
    const std::vector<Edge> edges = sorted_edges(indices, distances, n, k);
    std::vector<std::int32_t> above(n), kept(edges.size() + 1);
    for (std::int64_t s = 0; s < samples; ++s) {
        const std::int64_t present = edges_inside(edges, inside + s * n, widths[s], kept);
        const std::int64_t most = std::count(inside + s * n, inside + (s + 1) * n, true) - 1;
        std::iota(above.begin(), above.end(), 0);
        counts[s] = 0;
        lengths[s] = 0;
        for (std::int64_t e = 0; e < present && counts[s] < most; ++e) {
            const Edge &edge = edges[kept[e]];
            const std::int32_t a = first_of(above, edge.one), b = first_of(above, edge.other);
            if (a == b) continue;
            above[std::max(a, b)] = std::min(a, b);
            lengths[s] += edge.length;
            ++counts[s];
        }
    }
}

}  // namespace unbend
