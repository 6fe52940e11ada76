// A plain program that compares the kernels of the descent with the simplest loops. To be clean
// with -std=c++17 -O1 -g -fsanitize=address,undefined -pthread -ffp-contract=off -Icsrc.
#undef NDEBUG
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

#include "nn_cells.hpp"
#include "nn_join.hpp"
#include "nn_probe.hpp"
#include "nn_propose.hpp"

using namespace unbend;

namespace {

std::mt19937 generator(11);

struct Lists {
    Lists(std::int64_t rows, std::int64_t length)
        : rows(rows), length(length), keys(rows * length, std::numeric_limits<float>::infinity()),
          indices(rows * length, free_place), fresh(rows * length, 0) {}
    std::int64_t rows, length;
    std::vector<float> keys;
    std::vector<std::int32_t> indices;
    std::vector<std::uint8_t> fresh;
};

std::vector<float> draw(std::int64_t count) {
    std::vector<float> numbers(count);
    // Whole numbers: every sum is exact, and there are many ties.
    for (float &number : numbers) number = static_cast<float>(generator() % 4);
    return numbers;
}

void join_all(const std::vector<float> &rows, std::int64_t columns, const Groups &groups, int threads,
              Lists &lists) {
    join({rows.data(), lists.rows, columns}, groups, lists.length, threads, [] {},
         lists.keys.data(), lists.indices.data(), lists.fresh.data());
}

// One group of all rows makes every list exact.
void test_one_group(std::int64_t n, std::int64_t columns, std::int64_t length) {
    const std::vector<float> rows = draw(n * columns);
    std::vector<std::int32_t> everyone(n);
    for (std::int64_t i = 0; i < n; ++i) everyone[i] = static_cast<std::int32_t>(i);
    const std::int32_t count = static_cast<std::int32_t>(n);
    Lists lists(n, length);
    join_all(rows, columns, Groups{everyone.data(), &count, &count, 1, n}, 2, lists);
    for (std::int64_t i = 0; i < n; ++i) {
        std::vector<std::pair<float, std::int32_t>> all;
        for (std::int64_t j = 0; j < n; ++j) {
            float square = 0;
            for (std::int64_t c = 0; c < columns; ++c) {
                const float difference = rows[i * columns + c] - rows[j * columns + c];
                square += difference * difference;
            }
            if (j != i) all.push_back({square, static_cast<std::int32_t>(j)});
        }
        std::sort(all.begin(), all.end());
        for (std::int64_t e = 0; e < length; ++e) {
            const bool taken = e < n - 1;
            assert(lists.indices[i * length + e] == (taken ? all[e].second : free_place));
            assert(lists.fresh[i * length + e] == (taken ? 1 : 0));
            if (taken) assert(lists.keys[i * length + e] == all[e].first);
        }
    }
}

// Groups of random members, then rounds: the same for any number of threads, and lists improve.
void test_rounds(std::int64_t n, std::int64_t columns, std::int64_t length, std::int64_t limit) {
    const std::vector<float> rows = draw(n * columns);
    const std::int64_t width = std::min<std::int64_t>(n, 20), groups = 30;
    std::vector<std::int32_t> members, count(groups, static_cast<std::int32_t>(width)), all(n);
    for (std::int64_t i = 0; i < n; ++i) all[i] = static_cast<std::int32_t>(i);
    for (std::int64_t g = 0; g < groups; ++g) {
        std::shuffle(all.begin(), all.end(), generator);
        members.insert(members.end(), all.begin(), all.begin() + width);
    }
    std::vector<Lists> results;
    for (const int threads : {1, 4}) {
        Lists lists(n, length);
        join_all(rows, columns, Groups{members.data(), count.data(), count.data(), groups, width},
                 threads, lists);
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
            const Lists before = lists;
            std::vector<std::int32_t> proposed(n * 2 * limit), fresh(n), total(n);
            propose(NeighborLists{lists.indices.data(), lists.fresh.data(), n, length}, limit, seed,
                    threads, proposed.data(), fresh.data(), total.data());
            for (std::int64_t i = 0; i < n; ++i) {
                const std::int32_t *own = proposed.data() + i * 2 * limit;
                assert(std::set<std::int32_t>(own, own + total[i]).size() == std::size_t(total[i]));
                assert(fresh[i] <= limit && total[i] - fresh[i] <= limit);
            }
            join_all(rows, columns,
                     Groups{proposed.data(), fresh.data(), total.data(), n, 2 * limit}, threads,
                     lists);
            for (std::size_t e = 0; e < lists.keys.size(); ++e)
                assert(lists.keys[e] <= before.keys[e]);
        }
        results.push_back(lists);
    }
    assert(results[0].keys == results[1].keys && results[0].indices == results[1].indices);
    assert(results[0].fresh == results[1].fresh);
}

// The plain list of a row: squared distances to some others, ascending.
std::vector<float> nearest(const std::vector<float> &rows, std::int64_t columns, const float *row,
                           const std::vector<std::int32_t> &others, std::int64_t length) {
    std::vector<float> all;
    for (const std::int32_t j : others) {
        float square = 0;
        for (std::int64_t c = 0; c < columns; ++c) {
            const float difference = row[c] - rows[j * columns + c];
            square += difference * difference;
        }
        all.push_back(square);
    }
    std::sort(all.begin(), all.end());
    all.resize(length, std::numeric_limits<float>::infinity());
    return all;
}

// Overlapping cells: each list has the least keys of all that share a cell with its row.
void test_cells(std::int64_t n, std::int64_t columns, std::int64_t length, std::int64_t cells) {
    const std::vector<float> rows = draw(n * columns);
    std::vector<std::int32_t> members;
    std::vector<std::int64_t> first{0};
    std::vector<std::set<std::int32_t>> near(n);
    for (std::int64_t c = 0; c < cells; ++c) {
        std::vector<std::int32_t> cell;
        for (std::int64_t i = 0; i < n; ++i)
            if (generator() % 3 == 0) cell.push_back(static_cast<std::int32_t>(i));
        for (const std::int32_t i : cell)
            for (const std::int32_t j : cell)
                if (i != j) near[i].insert(j);
        members.insert(members.end(), cell.begin(), cell.end());
        first.push_back(static_cast<std::int64_t>(members.size()));
    }
    for (const int threads : {1, 3}) {
        Lists lists(n, length);
        join_cells({rows.data(), n, columns}, Cells{members.data(), first.data(), cells}, length,
                   threads, [] {}, lists.keys.data(), lists.indices.data(), lists.fresh.data());
        for (std::int64_t i = 0; i < n; ++i) {
            const std::vector<std::int32_t> others(near[i].begin(), near[i].end());
            const std::vector<float> expected =
                nearest(rows, columns, rows.data() + i * columns, others, length);
            assert(std::equal(expected.begin(), expected.end(), lists.keys.begin() + i * length));
        }
    }
}

// Queries that look into some cells find the nearest of their rows.
void test_probe(std::int64_t n, std::int64_t columns, std::int64_t length, std::int64_t cells) {
    const std::vector<float> queries = draw(70 * columns), centers(cells * columns, 1.0f);
    std::vector<float> rows, numbers, squares;
    std::vector<std::int64_t> first{0};
    for (std::int64_t c = 0; c < cells; ++c) {
        const std::int64_t start = static_cast<std::int64_t>(squares.size()),
                           count = static_cast<std::int64_t>(generator() % n),
                           padded = (count + 23) / 24 * 24;
        const std::vector<float> some = draw(padded * columns);
        rows.insert(rows.end(), some.begin(), some.end());
        numbers.resize((start + padded) * columns);
        for (std::int64_t i = 0; i < padded; ++i) {
            float square = 0;
            for (std::int64_t k = 0; k < columns; ++k) {
                const float number = some[i * columns + k] - 1.0f;
                numbers[(start + i / 24 * 24) * columns + k * 24 + i % 24] = number;
                square += number * number;
            }
            squares.push_back(i < count ? square : std::numeric_limits<float>::quiet_NaN());
        }
        first.push_back(start + padded);
    }
    std::vector<std::int32_t> probes(70 * 2);
    for (std::int64_t q = 0; q < 70; ++q) {
        probes[2 * q] = static_cast<std::int32_t>(generator() % cells);
        probes[2 * q + 1] = static_cast<std::int32_t>((probes[2 * q] + 1) % cells);
    }
    std::vector<float> keys(70 * length);
    std::vector<std::int32_t> indices(70 * length);
    probe_cells({queries.data(), 70, columns},
                PackedCells{{numbers.data(), squares.data()}, centers.data(), first.data(), cells},
                probes.data(), 2, length, 2, [] {}, keys.data(), indices.data());
    for (std::int64_t q = 0; q < 70; ++q) {
        std::vector<std::int32_t> others;
        for (const std::int32_t c : {probes[2 * q], probes[2 * q + 1]})
            for (std::int64_t i = first[c]; i < first[c + 1]; ++i)
                if (squares[i] == squares[i]) others.push_back(static_cast<std::int32_t>(i));
        const std::vector<float> expected =
            nearest(rows, columns, queries.data() + q * columns, others, length);
        for (std::int64_t e = 0; e < length; ++e)
            assert(expected[e] == keys[q * length + e] ||
                   std::abs(expected[e] - keys[q * length + e]) <= 1e-2f);
    }
}

void test_interruption() {
    const std::int64_t n = 400, columns = 64;
    const std::vector<float> rows = draw(n * columns);
    std::vector<std::int32_t> everyone(64 * n), count(64, static_cast<std::int32_t>(n));
    for (std::int64_t i = 0; i < 64 * n; ++i) everyone[i] = static_cast<std::int32_t>(i % n);
    Lists lists(n, 8);
    bool stopped = false;
    try {
        join({rows.data(), n, columns}, Groups{everyone.data(), count.data(), count.data(), 64, n},
             8, 1, [] { throw std::runtime_error("enough"); }, lists.keys.data(),
             lists.indices.data(), lists.fresh.data());
    } catch (const std::runtime_error &) {
        stopped = true;
    }
    assert(stopped);
}

}  // namespace

int main() {
    for (const std::int64_t n : {2, 3, 33, 100})
        for (const std::int64_t columns : {32, 96, 160})
            for (const std::int64_t length : {1, 7, 12}) test_one_group(n, columns, length);
    for (const std::int64_t n : {5, 60, 300})
        for (const std::int64_t limit : {1, 6, 40}) test_rounds(n, 64, 9, limit);
    for (const std::int64_t n : {3, 50, 400})
        for (const std::int64_t columns : {8, 40, 104})
            for (const std::int64_t length : {1, 7, 23}) {
                test_cells(n, columns, length, 5);
                test_probe(n, columns, length, 6);
            }
    test_interruption();
    std::puts("descent: passed");
}
