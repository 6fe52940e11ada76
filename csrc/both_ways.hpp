// Every pair of vertices that is an edge in some direction, with its value in both directions.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

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
// twice stay in their order.
template <typename Real>
Compressed<Real> transposed(std::int64_t n, const std::int64_t *row, const std::int32_t *column,
                            const Real *value) {
    const std::int64_t count = row[n];
    Compressed<Real> result{std::vector<std::int64_t>(n + 1), std::vector<std::int32_t>(count),
                            std::vector<Real>(count)};
    for (std::int64_t e = 0; e < count; ++e) ++result.row[column[e] + 1];
    for (std::int64_t v = 0; v < n; ++v) result.row[v + 1] += result.row[v];
    std::vector<std::int64_t> next(result.row.begin(), result.row.end() - 1);
    for (std::int64_t v = 0; v < n; ++v)
        for (std::int64_t e = row[v]; e < row[v + 1]; ++e) {
            const std::int64_t place = next[column[e]]++;
            result.column[place] = static_cast<std::int32_t>(v);
            result.value[place] = value[e];
        }
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

// Of an edge stored twice the last counts.
inline Compressed<double> merge_directions(std::int64_t n, const std::int64_t *row,
                                           const std::int32_t *column, const double *value,
                                           Merge how) {
    const Compressed<double> back = transposed(n, row, column, value);
    const Compressed<double> forth =
        transposed(n, back.row.data(), back.column.data(), back.value.data());
    Compressed<double> result{std::vector<std::int64_t>(n + 1), {}, {}};
    result.column.reserve(2 * row[n]);
    result.value.reserve(2 * row[n]);
    for (std::int64_t v = 0; v < n; ++v) {
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
        result.row[v + 1] = static_cast<std::int64_t>(result.column.size());
    }
    return result;
}

}  // namespace unbend
