// Matrices of blocks over the edges of a graph, straight into compressed rows.
#pragma once

#include <cstdint>

namespace unbend {

// Where the blocks (rank, rank) of n points lie in compressed rows: block (i, j) begins at a slot in
// the first of the rows of point i, which are equally long.
struct BlockRows {
    std::int64_t n, rank;
    const std::int64_t *row;    // (n rank + 1)
    const std::int64_t *own;    // slots of the diagonal blocks

    std::int64_t stride(std::int64_t i) const { return row[i * rank + 1] - row[i * rank]; }
};

struct BlockEdges {
    std::int64_t m;
    const std::int32_t *ends;   // (m, 2)
    const std::int64_t *slots;  // (m, 2): block (i, j) and block (j, i)
};

// Σ over the edges (eᵢ − eⱼ)(eᵢ − eⱼ)' ⊗ (across I + along δδ'), plus a multiple of the identity.
inline void edge_blocks(const BlockRows &blocks, const BlockEdges &edges, const double *across,
                        const double *along, const double *differences, double diagonal,
                        double *values) {
    const std::int64_t r = blocks.rank;
    for (std::int64_t i = 0; i < blocks.n; ++i)
        for (std::int64_t a = 0; a < r; ++a)
            for (std::int64_t b = 0; b < r; ++b)
                values[blocks.own[i] + a * blocks.stride(i) + b] = 0.0;
    for (std::int64_t e = 0; e < edges.m; ++e) {
        const std::int64_t i = edges.ends[2 * e], j = edges.ends[2 * e + 1];
        const std::int64_t here = blocks.stride(i), there = blocks.stride(j);
        double *between = values + edges.slots[2 * e], *back = values + edges.slots[2 * e + 1];
        double *first = values + blocks.own[i], *second = values + blocks.own[j];
        const double *delta = differences + e * r;
        for (std::int64_t a = 0; a < r; ++a) {
            const double scaled = along[e] * delta[a];
            for (std::int64_t b = 0; b < r; ++b) {
                const double value = scaled * delta[b] + (a == b ? across[e] : 0.0);
                between[a * here + b] = back[a * there + b] = -value;
                first[a * here + b] += value;
                second[a * there + b] += value;
            }
        }
    }
    for (std::int64_t i = 0; i < blocks.n; ++i)
        for (std::int64_t a = 0; a < r; ++a)
            values[blocks.own[i] + a * (blocks.stride(i) + 1)] += diagonal;
}

}  // namespace unbend
