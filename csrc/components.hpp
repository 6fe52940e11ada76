// Connected components, whichever way the edges point, by disjoint sets.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

namespace unbend {

// The first vertex of the set that holds `vertex`; paths are halved on the way (Tarjan, 1984).
inline std::int32_t first_of(std::vector<std::int32_t> &above, std::int32_t vertex) {
    while (above[vertex] != vertex) {
        above[vertex] = above[above[vertex]];
        vertex = above[vertex];
    }
    return vertex;
}

// Labels of the vertices, numbered in the order of the first vertex of each component.
inline void components(std::int64_t n, const std::int64_t *row, const std::int32_t *column,
                       std::int32_t *labels) {
    std::vector<std::int32_t> above(n);
    std::iota(above.begin(), above.end(), 0);
    for (std::int64_t v = 0; v < n; ++v)
        for (std::int64_t e = row[v]; e < row[v + 1]; ++e) {
            const std::int32_t a = first_of(above, static_cast<std::int32_t>(v));
            const std::int32_t b = first_of(above, column[e]);
            // The smaller number leads, so that a leader is the first of its set.
            (a < b ? above[b] : above[a]) = a < b ? a : b;
        }
    std::int32_t count = 0;
    for (std::int64_t v = 0; v < n; ++v)
        labels[v] = above[v] == v ? count++ : labels[first_of(above, static_cast<std::int32_t>(v))];
}

}  // namespace unbend
