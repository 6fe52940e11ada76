// A plain program that compares counted ranks with the simplest loops. To be clean with
// -std=c++17 -O1 -g -fsanitize=address,undefined -pthread -ffp-contract=off -Icsrc, on GCC and Clang.
#undef NDEBUG
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "count_nearer.hpp"

using namespace unbend;

namespace {

std::mt19937_64 generator(7);

std::vector<double> draw(std::int64_t count, bool coarse) {
    std::vector<double> numbers(count);
    std::normal_distribution<double> normal;
    for (double &number : numbers) {
        number = normal(generator);
        if (coarse) number = std::round(number);
    }
    return numbers;
}

template <typename Rows>
void check(const Rows &rows, std::int64_t k, double slack) {
    std::vector<std::int32_t> asked(rows.rows), targets, ranks(rows.rows * k);
    for (std::int64_t i = 0; i < rows.rows; ++i) {
        asked[i] = static_cast<std::int32_t>(i);
        for (std::int64_t j = 0; j < k; ++j)
            targets.push_back(static_cast<std::int32_t>(
                (i + 1 + generator() % (rows.rows - 1)) % rows.rows));
    }
    const std::vector<double> slacks(rows.rows, slack);
    for (int threads : {1, 3}) {
        count_nearer(rows, asked.data(), rows.rows, slacks.data(), targets.data(), k, threads,
                     ranks.data());
        std::vector<Candidate> others(rows.rows);
        for (std::int64_t i = 0; i < rows.rows; ++i) {
            for (std::int64_t l = 0; l < rows.rows; ++l)
                others[l] = {rows.power(i, l), static_cast<std::int32_t>(l)};
            for (std::int64_t j = 0; j < k; ++j) {
                const Candidate wanted = others[targets[i * k + j]];
                std::int32_t rank = 1;
                for (std::int64_t l = 0; l < rows.rows; ++l)
                    rank += l != i && nearer<Euclidean>(others[l], wanted);
                assert(ranks[i * k + j] == rank);
            }
        }
    }
}

void check_both(std::int64_t n, std::int64_t columns, std::int64_t k, bool coarse, double off) {
    std::vector<double> points = draw(n * columns, coarse);
    // Copies, which are ordered by their numbers.
    if (coarse && n > 8) std::copy_n(points.begin(), 3 * columns, points.begin() + 4 * columns);
    std::vector<double> turned(n * columns);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t c = 0; c < columns; ++c) turned[c * n + i] = points[i * columns + c];
    check(FewColumns{points.data(), turned.data(), n, columns}, k, 0);
    const double scale = 0.5;
    std::vector<float> about(n * n);
    std::uniform_real_distribution<double> error(-off, off);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t l = 0; l < n; ++l)
            about[i * n + l] = static_cast<float>(
                squared_distance(&points[i * columns], &points[l * columns], columns, scale) +
                error(generator));
    check(ManyColumns{points.data(), scale, about.data(), n, columns}, k, 1.1 * off);
}

}  // namespace

int main() {
    for (bool coarse : {false, true})
        for (std::int64_t n : {2, 9, 513, 700})
            for (std::int64_t k : {1, 5, 33}) check_both(n, n > 600 ? 20 : 3, k, coarse, 0.01);
    // Of long rows targets are estimated, too.
    for (bool coarse : {false, true})
        for (std::int64_t k : {1, 12})
            for (double off : {1e-3, 1.0, 1e3}) check_both(60, long_rows, k, coarse, off);
    std::puts("ranks: ok");
}
