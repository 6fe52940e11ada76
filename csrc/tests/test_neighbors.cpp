// A plain program that compares the neighbour kernels with the simplest loops. To be clean with
// -std=c++17 -O1 -g -fsanitize=address,undefined -pthread -ffp-contract=off -Icsrc, on GCC and Clang.
#undef NDEBUG
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "both_ways.hpp"
#include "components.hpp"
#include "glue.hpp"
#include "kd_build.hpp"
#include "kd_search.hpp"
#include "local_weights.hpp"
#include "rank.hpp"
#include "select.hpp"
#include "spanning_trees.hpp"
#include "spatial_order.hpp"

using namespace unbend;

namespace {

std::mt19937_64 generator(7);

std::vector<double> draw(std::int64_t count, int kind) {
    std::vector<double> numbers(count);
    std::normal_distribution<double> normal;
    for (double &number : numbers) {
        number = normal(generator);
        if (kind == 1) number = std::round(number);  // ties and duplicates
        if (kind == 2) number = 3;                   // all equal
        if (kind == 3) number *= 1e150;
        if (kind == 4) number *= 1e-200;
    }
    return numbers;
}

template <typename Norm>
double distance(const double *a, const double *b, int columns, double scale) {
    Doubles power = Doubles::all(0);
    for (int c = 0; c < columns; ++c)
        power = Norm::add(power, Doubles::all(b[c] * scale - a[c] * scale));
    return Norm::distance(power.pack[0]) / scale;
}

// Numbers that are stored in single precision have the distances that they have as doubles.
template <typename Norm, typename Number>
void check_tree(std::int64_t n, int columns, std::int64_t k, int kind) {
    const std::vector<double> drawn = draw(n * columns, kind);
    const std::vector<Number> stored(drawn.begin(), drawn.end());
    const std::vector<double> points(stored.begin(), stored.end());
    const auto tree = build_kd_tree(stored.data(), n, columns, 2, [] {});
    std::vector<std::int32_t> indices[3];
    std::vector<double> distances[3];
    for (int t = 0; t < 3; ++t) {
        indices[t].assign(n * k, -1);
        distances[t].assign(n * k, -1);
    }
    const auto leaves = static_cast<std::int64_t>(tree.leaves.size());
    if (k < n)
        for (int t = 0; t < 2; ++t)
            kd_neighbors<Norm>(tree, 0, leaves, k, t + 1, indices[t].data(), distances[t].data());
    kd_nearest_of<Norm>(tree, points.data(), n, k, 2, indices[2].data(), distances[2].data());
    assert(indices[0] == indices[1] && distances[0] == distances[1]);
    for (std::int64_t i = 0; i < n; ++i)
        for (int t = 1; t < 3; ++t) {
            if (t == 1 && k >= n) continue;
            std::vector<std::pair<double, std::int32_t>> all;
            for (std::int32_t j = 0; j < n; ++j)
                if (t == 2 || j != i)
                    all.push_back({distance<Norm>(&points[i * columns], &points[j * columns],
                                                  columns, tree.scale), j});
            std::sort(all.begin(), all.end());
            for (std::int64_t j = 0; j < k; ++j) {
                assert(indices[t][i * k + j] == all[j].second);
                assert(distances[t][i * k + j] == all[j].first);
            }
        }
}

void check_trees() {
    for (int kind = 0; kind < 5; ++kind)
        for (int columns : {1, 2, 3, 5, 15})
            for (std::int64_t n : {1, 2, 17, 200})
                for (std::int64_t k : {1L, 12L, 50L, n - 1, n}) {
                    if (k < 1 || k > n) continue;
                    check_tree<Euclidean, double>(n, columns, k, kind);
                    check_tree<Manhattan, double>(n, columns, k, kind);
                    check_tree<Chebyshev, double>(n, columns, k, kind);
                    if (kind > 2) continue;  // beyond the range of single precision
                    check_tree<Euclidean, float>(n, columns, k, kind);
                    check_tree<Manhattan, float>(n, columns, k, kind);
                    check_tree<Chebyshev, float>(n, columns, k, kind);
                }
    // More than twice as many candidates as neighbours, where neighbours are many.
    for (int kind = 0; kind < 5; ++kind) check_tree<Euclidean, double>(450, 3, 140, kind);
}

// Many candidates in the order of (distance, index): spread, tied, nearly tied across buckets, with
// one so far that all others share a bucket, and all of no size.
void check_candidate_sort() {
    for (std::int64_t count : {1, 2, 300, 1000})
        for (int kind = 0; kind < 6; ++kind) {
            std::vector<Candidate> candidates(count);
            for (std::int64_t i = 0; i < count; ++i) {
                double power = static_cast<double>(generator() % 1000003) + 1;
                if (kind == 1) power = std::floor(power / 50000);
                if (kind == 2) power = 1 + static_cast<double>(generator() % 5) * same_root / 16;
                if (kind == 3 && i == 0) power = 1e300;
                if (kind == 4) power *= 1e-320;
                if (kind == 5) power = 0;
                candidates[i] = {power, static_cast<std::int32_t>(i)};
            }
            std::shuffle(candidates.begin(), candidates.end(), generator);
            std::vector<std::pair<double, std::int32_t>> expected;
            for (const Candidate &one : candidates)
                expected.push_back({Euclidean::distance(one.power), one.index});
            std::sort(expected.begin(), expected.end());
            CandidateSort<Euclidean>{count}(candidates.data(), count);
            for (std::int64_t i = 0; i < count; ++i)
                assert(candidates[i].index == expected[i].second);
        }
}

void check_stop() {
    constexpr std::int64_t rows = 3000000;
    const std::vector<double> points = draw(3 * rows, 0);
    bool stopped = false;
    try {
        build_kd_tree(points.data(), rows, 3, 2, [] { throw std::runtime_error("stop"); });
    } catch (const std::runtime_error &) {
        stopped = true;
    }
    assert(stopped);
    const double wrong[2] = {1, std::numeric_limits<double>::quiet_NaN()};
    try {
        build_kd_tree(wrong, 2, 1, 1, [] {});
        assert(false);
    } catch (const std::invalid_argument &) {
    }
}

template <typename Real>
void check_smallest(std::int64_t columns, std::int64_t k) {
    std::vector<Real> values(5 * columns);
    for (Real &value : values) value = static_cast<Real>(generator() % 9);
    values[0] = std::numeric_limits<Real>::infinity();
    std::vector<std::int32_t> indices(5 * k);
    std::vector<Real> keys(5 * k);
    smallest(values.data(), 5, columns, k, 2, indices.data(), keys.data());
    for (std::int64_t i = 0; i < 5; ++i) {
        std::vector<std::pair<Real, std::int32_t>> all;
        for (std::int32_t j = 0; j < columns; ++j) all.push_back({values[i * columns + j], j});
        std::sort(all.begin(), all.end());
        for (std::int64_t j = 0; j < k; ++j)
            assert(indices[i * k + j] == all[j].second && keys[i * k + j] == all[j].first);
    }
}

// Rows that are asked for in any order get the answers of all, numbers of single precision too.
void check_rank_of_rows(const std::vector<double> &points, std::int64_t n, std::int64_t columns) {
    const std::int64_t k = 3;
    const std::vector<float> single(points.begin(), points.end());
    const std::vector<double> same(single.begin(), single.end());
    std::vector<std::int32_t> rows(n), candidates(n * n);
    for (std::int32_t j = 0; j < n; ++j) rows[j] = j;
    for (std::int64_t e = 0; e < n * n; ++e) candidates[e] = rows[e % n];
    const std::vector<float> bounds(n * n, 0.0f);
    const Candidates<float> all{candidates.data(), bounds.data(), n, true};
    std::vector<std::int32_t> expected(n * k), found(n * k, -1);
    std::vector<double> away(n * k), found_away(n * k, -1.0);
    const std::unique_ptr<bool[]> sure(new bool[n]);
    rank_all(same.data(), Queries<double>{same.data(), rows.data(), n}, columns, 0.5, all, k, 2,
             expected.data(), away.data(), sure.get());
    const std::vector<std::int32_t> some{7, 2};
    rank_all(single.data(), Queries<float>{single.data(), some.data(), 2}, columns, 0.5, all, k, 1,
             found.data(), found_away.data(), sure.get());
    for (std::int64_t e = 0; e < n * k; ++e) {
        const bool asked = e / k == 7 || e / k == 2;
        assert(found[e] == (asked ? expected[e] : -1));
        assert(found_away[e] == (asked ? away[e] : -1.0));
    }
}

void check_rank() {
    const std::int64_t n = 40, columns = 37, k = 4;
    const std::vector<double> points = draw(n * columns, 1);
    std::vector<std::int32_t> everyone(n), indices(k);
    for (std::int32_t j = 0; j < n; ++j) everyone[j] = j;
    std::vector<double> bounds(n, 0.0), distances(k);
    bool sure = false;
    const Candidates<double> all{everyone.data(), bounds.data(), n, true};
    const std::int32_t first = 0;
    const Queries<double> query{points.data(), &first, 1};
    rank_all(points.data(), query, columns, 1.0, all, k, 1, indices.data(), distances.data(),
             &sure);
    assert(sure && indices[0] == 0 && distances[0] == 0 && distances[1] <= distances[2]);
    const Candidates<double> few{everyone.data(), bounds.data(), n / 2, false};
    rank_all(points.data(), query, columns, 1.0, few, k, 1, indices.data(), distances.data(),
             &sure);
    assert(!sure);
    check_rank_of_rows(points, n, columns);
}

void check_graphs() {
    const std::int64_t n = 30;
    std::vector<std::int64_t> row{0};
    std::vector<std::int32_t> column, labels(n);
    std::vector<double> value;
    std::map<std::pair<std::int64_t, std::int64_t>, double> edge;
    for (std::int64_t v = 0; v < n; ++v) {
        for (int e = 0; e < (v == 3 ? 100 : 4); ++e) {
            column.push_back(static_cast<std::int32_t>(generator() % (n / 2) * 2 + v % 2));
            value.push_back(static_cast<double>(generator() % 3));
            edge[{v, column.back()}] = value.back();
        }
        row.push_back(static_cast<std::int64_t>(column.size()));
    }
    const BothWays<double> both = both_ways(n, row.data(), column.data(), value.data(), -1.0);
    for (std::int64_t v = 0; v < n; ++v)
        for (std::int64_t e = both.row[v]; e < both.row[v + 1]; ++e) {
            const std::int64_t w = both.column[e];
            assert(both.forth[e] == (edge.count({v, w}) ? edge[{v, w}] : -1));
            assert(both.back[e] == (edge.count({w, v}) ? edge[{w, v}] : -1));
            assert(e == both.row[v] || both.column[e - 1] < w);
        }
    for (const Merge how : {Merge::larger, Merge::smaller, Merge::mean}) {
        const auto merged = merge_directions(n, row.data(), column.data(), value.data(), how, 1);
        std::size_t pairs = 0;
        for (std::int64_t v = 0; v < n; ++v)
            for (std::int64_t w = 0; w < n; ++w) {
                const double forth = edge.count({v, w}) ? edge[{v, w}] : 0;
                const double back = edge.count({w, v}) ? edge[{w, v}] : 0;
                const double wanted = how == Merge::mean     ? (forth + back) / 2
                                      : how == Merge::larger ? std::max(forth, back)
                                                             : std::min(forth, back);
                if (wanted == 0) continue;
                assert(merged.row[v] <= std::int64_t(pairs) && std::int64_t(pairs) < merged.row[v + 1]);
                assert(merged.column[pairs] == w && merged.value[pairs++] == wanted);
            }
        assert(merged.column.size() == pairs);
    }
    components(n, row.data(), column.data(), labels.data());
    for (std::int64_t v = 0; v < n; ++v) assert(labels[v] == v % 2);
}

// Threads place edges where one thread places them; in a team loops of this size are shared.
void check_shared_merge() {
    const std::int64_t n = 3000, degree = 7;
    std::vector<std::int64_t> row{0};
    std::vector<std::int32_t> column;
    for (std::int64_t v = 0; v < n; ++v) {
        for (std::int64_t e = 0; e < degree; ++e)
            column.push_back(static_cast<std::int32_t>(generator() % n));
        row.push_back(static_cast<std::int64_t>(column.size()));
    }
    const std::vector<double> value = draw(n * degree, 1);
    Team team(3);
    Team::current() = &team;
    const auto one = merge_directions(n, row.data(), column.data(), value.data(), Merge::mean, 1);
    for (int threads : {2, 3}) {
        const auto shared =
            merge_directions(n, row.data(), column.data(), value.data(), Merge::mean, threads);
        assert(shared.row == one.row && shared.column == one.column && shared.value == one.value);
    }
    Team::current() = nullptr;
}

// Rows are sorted by their keys, and equal keys keep their order, for any number of threads.
template <typename Number>
void check_spatial_order(std::int64_t n, int columns, int kind) {
    const std::vector<double> drawn = draw(n * columns, kind);
    const std::vector<Number> points(drawn.begin(), drawn.end());
    std::vector<std::int64_t> order(n), shared(n);
    SpatialOrder<Number>(points.data(), n, columns, 1).run(order.data());
    Team team(3);
    Team::current() = &team;
    SpatialOrder<Number>(points.data(), n, columns, 3).run(shared.data());
    Team::current() = nullptr;
    assert(order == shared);
    std::vector<bool> seen(n, false);
    for (const std::int64_t i : order) {
        assert(i >= 0 && i < n && !seen[i]);
        seen[i] = true;
    }
    const auto same = [&](std::int64_t a, std::int64_t b) {
        return std::equal(&points[a * columns], &points[a * columns] + columns, &points[b * columns]);
    };
    for (std::int64_t p = 1; p < n; ++p) assert(!same(order[p - 1], order[p]) || order[p - 1] < order[p]);
    if (columns != 1) return;
    // Along one column the curve follows it, up to the width of a step.
    const auto ends = std::minmax_element(points.begin(), points.end());
    const double step = (double(*ends.second) - *ends.first) / 1000;
    for (std::int64_t p = 1; p < n; ++p)
        assert(points[order[p]] >= points[order[p - 1]] - step);
}

// Prim's trees, one component after another, over all pairs of rows.
void check_spanning_trees(int kind) {
    const std::int64_t n = 40, k = 5, width = 3;
    std::vector<double> points(n), distances, pair(n * n, INFINITY);
    for (double &x : points) x = kind ? static_cast<double>(generator() % 9) : draw(1, 0)[0];
    std::vector<std::int32_t> indices;
    const auto in = [](std::int64_t i) { return i % 3 != 0; };
    for (std::int64_t i = 0; i < n; ++i) {
        std::vector<std::pair<double, std::int32_t>> near;
        for (std::int64_t j = 0; j < n; ++j)
            if (j != i) near.push_back({1 + std::fabs(points[i] - points[j]), static_cast<std::int32_t>(j)});
        std::sort(near.begin(), near.end());
        for (std::int64_t p = 0; p < k; ++p) {
            distances.push_back(near[p].first);
            indices.push_back(near[p].second);
            if (p < width && in(i) && in(near[p].second))
                pair[i * n + near[p].second] = pair[near[p].second * n + i] = near[p].first;
        }
    }
    std::unique_ptr<bool[]> inside(new bool[n]);
    std::vector<double> reach(n, INFINITY);
    std::vector<bool> done(n, false);
    std::int64_t edges = 0, found_edges;
    double total = 0, found;
    for (std::int64_t i = 0; i < n; ++i) inside[i] = in(i);
    for (std::int64_t round = 0; round < n; ++round) {
        std::int64_t next = -1;
        for (std::int64_t i = 0; i < n; ++i)
            if (!done[i] && (next < 0 || reach[i] < reach[next])) next = i;
        done[next] = true;
        if (std::isfinite(reach[next])) total += reach[next], ++edges;
        for (std::int64_t i = 0; i < n; ++i) reach[i] = std::min(reach[i], pair[next * n + i]);
    }
    spanning_trees(indices.data(), distances.data(), n, k, inside.get(), &width, 1, &found_edges,
                   &found);
    assert(found_edges == edges && std::fabs(found - total) < 1e-12 * total);
}

void check_weights() {
    for (std::int64_t count : {1, 4, 7}) {
        const std::int64_t points = 6, columns = 3;
        const std::vector<double> blocks = draw(count * points * columns, 0);
        std::vector<double> weights(count * (points - 1));
        barycentric_weights(blocks.data(), count, points, columns, 1e-3, 2, weights.data());
        for (std::int64_t i = 0; i < count; ++i) {
            double sum = 0;
            for (std::int64_t j = 0; j < points - 1; ++j) sum += weights[i * (points - 1) + j];
            assert(std::fabs(sum - 1) < 1e-12);
        }
        barycentric_weights(blocks.data(), count, points, columns, 0, 2, weights.data());
        assert(std::isnan(weights[0]));  // five neighbours in three columns: singular
    }
}

// Windows along a line share `width - 1` points with the next: one piece up to there, and none
// beyond; two lines that share a point are two pieces.
void check_glue() {
    const std::int32_t width = 4, windows = 50, n = 2 * (windows + width - 1) - 1;
    std::vector<std::int64_t> offset{0};
    std::vector<std::int32_t> member;
    for (std::int32_t line : {0, windows + width - 2})
        for (std::int32_t b = 0; b < windows; ++b) {
            for (std::int32_t p = 0; p < width; ++p) member.push_back(line + b + p);
            offset.push_back(static_cast<std::int64_t>(member.size()));
        }
    std::vector<std::int32_t> piece(2 * windows);
    for (std::int32_t least = 1; least <= width; ++least) {
        glue_blocks(n, 2 * windows, offset.data(), member.data(), least, piece.data());
        for (std::int32_t b = 0; b < 2 * windows; ++b)
            assert(piece[b] == (least == 1 ? 0 : least < width ? b / windows : b));
    }
}

}  // namespace

int main() {
    check_trees();
    check_candidate_sort();
    check_stop();
    for (std::int64_t columns : {1L, 7L, 8L, 100L, 333L})
        for (std::int64_t k : {1L, 5L, 64L, 65L, columns})
            if (k <= columns) {
                check_smallest<float>(columns, k);
                check_smallest<double>(columns, k);
            }
    check_rank();
    check_graphs();
    check_shared_merge();
    check_glue();
    for (int kind : {0, 1, 2})
        for (int columns : {1, 2, 3, 5}) {
            check_spatial_order<double>(9000, columns, kind);
            check_spatial_order<float>(9000, columns, kind);
        }
    for (int kind : {0, 1}) check_spanning_trees(kind);
    check_weights();
    std::puts("all neighbour kernels agree with the plain loops");
}
