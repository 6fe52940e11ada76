// Blocks of points glued where they share enough of them, each piece grown from one block.
#pragma once

#include <cstdint>
#include <vector>

namespace unbend {

// Pieces of the blocks, numbered from zero. A block joins a piece once it has `least` points of it;
// pieces that share as many are left apart, since each point may be of several.
inline void glue_blocks(std::int64_t n, std::int64_t blocks, const std::int64_t *offset,
                        const std::int32_t *member, std::int32_t least, std::int32_t *piece) {
    std::vector<std::int64_t> row(n + 1);
    for (std::int64_t e = 0; e < offset[blocks]; ++e) ++row[member[e] + 1];
    for (std::int64_t v = 0; v < n; ++v) row[v + 1] += row[v];
    std::vector<std::int32_t> around(offset[blocks]);
    std::vector<std::int64_t> next(row.begin(), row.end() - 1);
    for (std::int64_t b = 0; b < blocks; ++b)
        for (std::int64_t e = offset[b]; e < offset[b + 1]; ++e)
            around[next[member[e]]++] = static_cast<std::int32_t>(b);

    // The piece that a point was last put in, and the one whose points in a block are counted.
    std::vector<std::int32_t> held(n, -1), counted(blocks, -1), shared(blocks), open;
    for (std::int64_t b = 0; b < blocks; ++b) piece[b] = -1;
    std::int32_t number = 0;
    for (std::int64_t first = 0; first < blocks; ++first) {
        if (piece[first] >= 0) continue;
        piece[first] = number;
        open.push_back(static_cast<std::int32_t>(first));
        while (!open.empty()) {
            const std::int32_t b = open.back();
            open.pop_back();
            for (std::int64_t e = offset[b]; e < offset[b + 1]; ++e) {
                const std::int32_t point = member[e];
                if (held[point] == number) continue;
                held[point] = number;
                for (std::int64_t a = row[point]; a < row[point + 1]; ++a) {
                    const std::int32_t other = around[a];
                    if (piece[other] >= 0) continue;
                    if (counted[other] != number) {
                        counted[other] = number;
                        shared[other] = 0;
                    }
                    if (++shared[other] < least) continue;
                    piece[other] = number;
                    open.push_back(other);
                }
            }
        }
        ++number;
    }
}

}  // namespace unbend
