// Every pair of vertices that is an edge in some direction, with its value in both directions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "poll.hpp"
#include "raw_vector.hpp"

namespace unbend {

// Larger than any column.
constexpr std::int32_t past_all = std::numeric_limits<std::int32_t>::max();

template <typename Real>
struct Compressed {
    std::vector<std::int64_t> row;
    RawVector<std::int32_t> column;
    RawVector<Real> value;
};

// Runs body(t, first, last) for as many shares of n vertices as there are threads.
template <typename Body>
void share_vertices(std::int64_t n, int threads, const Body &body) {
    run_tasks(threads, threads, [] { return 0; },
              [&](int, std::int64_t t) { body(t, t * n / threads, (t + 1) * n / threads); });
}

// Transposition by counting; the columns of the result are sorted in every row, and edges stored
// twice stay in their order. Threads count and place the edges of their own vertices.
template <typename Real>
Compressed<Real> transposed(std::int64_t n, const std::int64_t *row, const std::int32_t *column,
                            const Real *value, int threads) {
    const std::int64_t count = row[n];
    Compressed<Real> result{std::vector<std::int64_t>(n + 1), RawVector<std::int32_t>(count),
                            RawVector<Real>(count)};
    std::vector<std::vector<std::int64_t>> next(threads);
    share_vertices(n, threads, [&](std::int64_t t, std::int64_t first, std::int64_t last) {
        next[t].assign(n, 0);
        for (std::int64_t e = row[first]; e < row[last]; ++e) ++next[t][column[e]];
    });
    std::int64_t sum = 0;
    for (std::int64_t v = 0; v < n; ++v) {
        for (std::vector<std::int64_t> &places : next) {
            const std::int64_t edges = places[v];
            places[v] = sum;
            sum += edges;
        }
        result.row[v + 1] = sum;
    }
    share_vertices(n, threads, [&](std::int64_t t, std::int64_t first, std::int64_t last) {
        for (std::int64_t v = first; v < last; ++v)
            for (std::int64_t e = row[v]; e < row[v + 1]; ++e) {
                const std::int64_t place = next[t][column[e]]++;
                result.column[place] = static_cast<std::int32_t>(v);
                result.value[place] = value[e];
            }
    });
    return result;
}

// The edges of a graph and their transposes, each sorted by columns.
template <typename Real>
struct Directions {
    Directions(std::int64_t n, const std::int64_t *row, const std::int32_t *column,
               const Real *value, int threads)
        : back(transposed(n, row, column, value, threads)),
          // Transposed again, the edges are what they were with their columns sorted.
          forth(transposed(n, back.row.data(), back.column.data(), back.value.data(), threads)) {}

    // Calls visit(w, forth, back) for every pair of vertex v, by rising w. `absent` stands for a
    // direction that is no edge; of an edge stored twice the last counts.
    template <typename Visit>
    void visit_pairs(std::int64_t v, Real absent, const Visit &visit) const {
        std::int64_t f = forth.row[v], b = back.row[v];
        const std::int64_t f_end = forth.row[v + 1], b_end = back.row[v + 1];
        while (f < f_end || b < b_end) {
            const std::int32_t in_forth = f < f_end ? forth.column[f] : past_all;
            const std::int32_t in_back = b < b_end ? back.column[b] : past_all;
            const std::int32_t w = std::min(in_forth, in_back);
            Real there = absent, here = absent;
            for (; f < f_end && forth.column[f] == w; ++f) there = forth.value[f];
            for (; b < b_end && back.column[b] == w; ++b) here = back.value[b];
            visit(w, there, here);
        }
    }

    const Compressed<Real> back, forth;
};

template <typename Real>
struct BothWays {
    std::vector<std::int64_t> row;
    std::vector<std::int32_t> column;
    std::vector<Real> forth, back;
};

template <typename Real>
BothWays<Real> both_ways(std::int64_t n, const std::int64_t *row, const std::int32_t *column,
                         const Real *value, Real absent) {
    const Directions<Real> directions(n, row, column, value, 1);
    BothWays<Real> result;
    result.row.reserve(n + 1);
    result.row.push_back(0);
    const std::int64_t most = 2 * row[n];
    result.column.reserve(most);
    result.forth.reserve(most);
    result.back.reserve(most);
    for (std::int64_t v = 0; v < n; ++v) {
        directions.visit_pairs(v, absent, [&](std::int32_t w, Real there, Real here) {
            result.column.push_back(w);
            result.forth.push_back(there);
            result.back.push_back(here);
        });
        result.row.push_back(static_cast<std::int64_t>(result.column.size()));
    }
    return result;
}

// Symmetric weights: the larger, the smaller or the mean of both directions, where absent is zero, and
// pairs of weight zero are none.
enum class Merge { larger, smaller, mean };

inline double merge(double forth, double back, Merge how) {
    if (how == Merge::mean) return (forth + back) / 2;
    return (forth < back) == (how == Merge::larger) ? back : forth;
}

// The merged edges of vertices first <= v < last, and in row[v + 1] where those of v end among them.
inline Compressed<double> merge_share(const Directions<double> &directions, std::int64_t first,
                                      std::int64_t last, Merge how, std::int64_t *row) {
    Compressed<double> share;
    const std::int64_t most = directions.forth.row[last] - directions.forth.row[first] +
                              directions.back.row[last] - directions.back.row[first];
    share.column.reserve(most);
    share.value.reserve(most);
    for (std::int64_t v = first; v < last; ++v) {
        directions.visit_pairs(v, 0.0, [&](std::int32_t w, double there, double here) {
            const double merged = merge(there, here, how);
            if (merged == 0) return;
            share.column.push_back(w);
            share.value.push_back(merged);
        });
        row[v + 1] = static_cast<std::int64_t>(share.column.size());
    }
    return share;
}

// Of an edge stored twice the last counts.
inline Compressed<double> merge_directions(std::int64_t n, const std::int64_t *row,
                                           const std::int32_t *column, const double *value,
                                           Merge how, int threads) {
    const int shares = threads_for(16.0 * static_cast<double>(row[n]), limit_threads(threads));
    const Directions<double> directions(n, row, column, value, shares);
    std::vector<std::int64_t> rows(n + 1), begin(shares + 1);
    std::vector<Compressed<double>> parts(shares);
    share_vertices(n, shares, [&](std::int64_t t, std::int64_t first, std::int64_t last) {
        parts[t] = merge_share(directions, first, last, how, rows.data());
        begin[t + 1] = static_cast<std::int64_t>(parts[t].column.size());
    });
    if (shares == 1) return {std::move(rows), std::move(parts[0].column), std::move(parts[0].value)};
    for (int t = 0; t < shares; ++t) begin[t + 1] += begin[t];
    Compressed<double> result{std::move(rows), RawVector<std::int32_t>(begin[shares]),
                              RawVector<double>(begin[shares])};
    share_vertices(n, shares, [&](std::int64_t t, std::int64_t first, std::int64_t last) {
        for (std::int64_t v = first; v < last; ++v) result.row[v + 1] += begin[t];
        std::copy(parts[t].column.begin(), parts[t].column.end(), result.column.begin() + begin[t]);
        std::copy(parts[t].value.begin(), parts[t].value.end(), result.value.begin() + begin[t]);
    });
    return result;
}

}  // namespace unbend
