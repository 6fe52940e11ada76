// Every pair of vertices that is an edge in some direction, with its value in both directions.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "poll.hpp"

namespace unbend {

// Larger than any column.
constexpr std::int32_t past_all = std::numeric_limits<std::int32_t>::max();

template <typename Real>
struct Compressed {
    std::vector<std::int64_t> row;
    std::vector<std::int32_t> column;
    std::vector<Real> value;
};

// Transposition by counting; the columns of the result are sorted in every row, and edges stored
// twice stay in their order. Every thread reads all edges and takes those of its columns.
template <typename Real>
Compressed<Real> transposed(std::int64_t n, const std::int64_t *row, const std::int32_t *column,
                            const Real *value, int threads = 1) {
    const std::int64_t count = row[n];
    Compressed<Real> result{std::vector<std::int64_t>(n + 1), std::vector<std::int32_t>(count),
                            std::vector<Real>(count)};
    const int parts = threads_for(20.0 * count, limit_threads(threads));
    const auto share = [&](const auto &body) {
        run_tasks(parts, parts, [] { return 0; }, [&](int, std::int64_t t) {
            body(static_cast<std::int32_t>(t * n / parts), static_cast<std::int32_t>((t + 1) * n / parts));
        });
    };
    share([&](std::int32_t first, std::int32_t last) {
        for (std::int64_t e = 0; e < count; ++e)
            if (column[e] >= first && column[e] < last) ++result.row[column[e] + 1];
    });
    for (std::int64_t v = 0; v < n; ++v) result.row[v + 1] += result.row[v];
    std::vector<std::int64_t> next(result.row.begin(), result.row.end() - 1);
    share([&](std::int32_t first, std::int32_t last) {
        for (std::int64_t v = 0; v < n; ++v)
            for (std::int64_t e = row[v]; e < row[v + 1]; ++e) {
                if (column[e] < first || column[e] >= last) continue;
                const std::int64_t place = next[column[e]]++;
                result.column[place] = static_cast<std::int32_t>(v);
                result.value[place] = value[e];
            }
    });
    return result;
}

template <typename Real>
struct BothWays {
    std::vector<std::int64_t> row;
    std::vector<std::int32_t> column;
    std::vector<Real> forth, back;
};

// `absent` stands for a direction that is no edge; of an edge stored twice the last counts.
template <typename Real>
BothWays<Real> both_ways(std::int64_t n, const std::int64_t *row, const std::int32_t *column,
                         const Real *value, Real absent) {
    const Compressed<Real> back = transposed(n, row, column, value);
    // Transposed again, the edges are what they were with their columns sorted.
    const Compressed<Real> forth =
        transposed(n, back.row.data(), back.column.data(), back.value.data());
    BothWays<Real> result;
    result.row.reserve(n + 1);
    result.row.push_back(0);
    const std::int64_t most = 2 * row[n];
    result.column.reserve(most);
    result.forth.reserve(most);
    result.back.reserve(most);
    for (std::int64_t v = 0; v < n; ++v) {
        std::int64_t f = forth.row[v], b = back.row[v];
        while (f < forth.row[v + 1] || b < back.row[v + 1]) {
            const bool in_forth = f < forth.row[v + 1], in_back = b < back.row[v + 1];
            const std::int32_t w = !in_back || (in_forth && forth.column[f] < back.column[b])
                                       ? forth.column[f]
                                       : back.column[b];
            result.column.push_back(w);
            result.forth.push_back(absent);
            result.back.push_back(absent);
            for (; f < forth.row[v + 1] && forth.column[f] == w; ++f)
                result.forth.back() = forth.value[f];
            for (; b < back.row[v + 1] && back.column[b] == w; ++b)
                result.back.back() = back.value[b];
        }
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

// The rows `first` to `last` of merged weights, as a matrix of their own.
inline Compressed<double> merge_rows(const Compressed<double> &forth, const Compressed<double> &back,
                                     std::int64_t first, std::int64_t last, Merge how) {
    Compressed<double> result{{0}, {}, {}};
    const std::int64_t most =
        forth.row[last] - forth.row[first] + back.row[last] - back.row[first];
    result.row.reserve(last - first + 1);
    result.column.reserve(most);
    result.value.reserve(most);
    for (std::int64_t v = first; v < last; ++v) {
        std::int64_t f = forth.row[v], b = back.row[v];
        const std::int64_t f_end = forth.row[v + 1], b_end = back.row[v + 1];
        while (f < f_end || b < b_end) {
            const std::int32_t in_forth = f < f_end ? forth.column[f] : past_all;
            const std::int32_t in_back = b < b_end ? back.column[b] : past_all;
            const std::int32_t w = in_forth < in_back ? in_forth : in_back;
            double there = 0, here = 0;
            for (; f < f_end && forth.column[f] == w; ++f) there = forth.value[f];
            for (; b < b_end && back.column[b] == w; ++b) here = back.value[b];
            const double merged = merge(there, here, how);
            if (merged == 0) continue;
            result.column.push_back(w);
            result.value.push_back(merged);
        }
        result.row.push_back(static_cast<std::int64_t>(result.column.size()));
    }
    return result;
}

// Of an edge stored twice the last counts.
inline Compressed<double> merge_directions(std::int64_t n, const std::int64_t *row,
                                           const std::int32_t *column, const double *value,
                                           Merge how, int threads) {
    const Compressed<double> back = transposed(n, row, column, value, threads);
    const Compressed<double> forth =
        transposed(n, back.row.data(), back.column.data(), back.value.data(), threads);
    const int parts = threads_for(40.0 * row[n], limit_threads(threads));
    if (parts == 1) return merge_rows(forth, back, 0, n, how);
    std::vector<Compressed<double>> pieces(parts);
    run_tasks(parts, parts, [] { return 0; }, [&](int, std::int64_t t) {
        pieces[t] = merge_rows(forth, back, t * n / parts, (t + 1) * n / parts, how);
    });
    Compressed<double> result = std::move(pieces[0]);
    for (int t = 1; t < parts; ++t) {
        const auto before = static_cast<std::int64_t>(result.column.size());
        for (std::size_t v = 1; v < pieces[t].row.size(); ++v)
            result.row.push_back(before + pieces[t].row[v]);
        result.column.insert(result.column.end(), pieces[t].column.begin(), pieces[t].column.end());
        result.value.insert(result.value.end(), pieces[t].value.begin(), pieces[t].value.end());
    }
    return result;
}

}  // namespace unbend
