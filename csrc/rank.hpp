// Exact distances of candidates, and whether a bound proves that nothing nearer was left out.
#pragma once

#include <cstdint>
#include <vector>

#include "nearest.hpp"
#include "poll.hpp"

namespace unbend {

// Sum of squared differences times scale², always in the same order: sixteen partial sums.
template <typename Number>
UNBEND_INLINE inline double squared_distance(const Number *a, const double *b, std::int64_t count,
                                             double scale) {
    const Doubles factor = Doubles::all(scale);
    Doubles sum[4] = {Doubles::all(0), Doubles::all(0), Doubles::all(0), Doubles::all(0)};
    std::int64_t c = 0;
    for (; c + 16 <= count; c += 16)
        for (int part = 0; part < 4; ++part) {
            const Doubles difference =
                (Doubles::load(a + c + 4 * part) - Doubles::load(b + c + 4 * part)) * factor;
            sum[part] = sum[part] + difference * difference;
        }
    double rest[16] = {};
    for (std::int64_t place = c; place < count; ++place)
        rest[place - c] = (a[place] - b[place]) * scale;
    for (int part = 0; part < 4; ++part) {
        const Doubles difference = Doubles::load(rest + 4 * part);
        sum[part] = sum[part] + difference * difference;
    }
    double lane[4];
    ((sum[0] + sum[1]) + (sum[2] + sum[3])).store(lane);
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

// Asks for a row that is needed next: candidates lie anywhere in memory.
template <typename Number>
UNBEND_INLINE inline void fetch(const Number *row, std::int64_t columns) {
#if defined(__GNUC__)
    constexpr std::int64_t line = 64 / sizeof(Number);
    for (std::int64_t c = 0; c < columns; c += line) __builtin_prefetch(row + c);
#endif
}

// Candidates of each query, ascending by a lower bound of the scaled squared distance; rows that
// are no candidates have bounds at least as large as the last one.
template <typename Real>
struct Candidates {
    const std::int32_t *indices;
    const Real *bounds;
    std::int64_t length;
    bool complete;  // whether there are no other rows
};

// The k nearest candidates of one query; says whether no other row can be nearer.
template <typename Number, typename Real>
UNBEND_INLINE inline bool rank_candidates(const Number *points, const double *query,
                                          std::int64_t columns, double scale,
                                          const Candidates<Real> &candidates, std::int64_t place,
                                          Nearest<Euclidean> &nearest) {
    nearest.clear();
    const std::int64_t first = place * candidates.length;
    for (std::int64_t j = 0; j < candidates.length; ++j) {
        if (candidates.bounds[first + j] > nearest.reach()) return true;
        const std::int32_t index = candidates.indices[first + j];
        if (j + 1 < candidates.length)
            fetch(points + candidates.indices[first + j + 1] * columns, columns);
        const double power = squared_distance(points + index * columns, query, columns, scale);
        if (power <= nearest.reach()) nearest.offer(power, index);
    }
    nearest.select();
    return candidates.complete || candidates.bounds[first + candidates.length - 1] > nearest.reach();
}

// Some of the rows of `numbers`, which may be the points themselves.
template <typename Number>
struct Queries {
    const Number *numbers;
    const std::int32_t *rows;
    std::int64_t count;
};

// The k nearest candidates of each query, to its row of (all rows, k) arrays, and whether they are
// sure. Numbers of single precision give the distances of the same numbers in double precision.
template <typename Number, typename Query, typename Real>
void rank_all(const Number *points, const Queries<Query> &queries, std::int64_t columns,
              double scale, const Candidates<Real> &candidates, std::int64_t k, int threads,
              std::int32_t *indices, double *distances, bool *sure) {
    struct Workspace {
        Workspace(std::int64_t k, std::int64_t columns)
            : slots(Nearest<Euclidean>::room(k)), query(columns),
              nearest(slots.data(), k, static_cast<double>(columns + 8) * same_root) {}
        std::vector<Candidate> slots;
        std::vector<double> query;
        Nearest<Euclidean> nearest;
    };
    run_blocks(0, queries.count, 16, threads, [&] { return Workspace(k, columns); },
               [&](Workspace &own, std::int64_t i) UNBEND_INLINE {
                   const std::int64_t row = queries.rows[i];
                   const Query *query = queries.numbers + row * columns;
                   for (std::int64_t c = 0; c < columns; ++c) own.query[c] = query[c];
                   sure[i] = rank_candidates(points, own.query.data(), columns, scale, candidates,
                                             i, own.nearest);
                   own.nearest.write(1 / scale, indices + row * k, distances + row * k);
               });
}

}  // namespace unbend
