// A plain program that compares copies of rows and second moments with the simplest loops. To be
// clean with -std=c++17 -O1 -g -fsanitize=address,undefined -pthread -Icsrc, on GCC and Clang.
#undef NDEBUG
#include <cassert>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <vector>

#include "distinct.hpp"
#include "near_products.hpp"

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

void check_copies(std::int64_t rows, std::int64_t columns, bool coarse) {
    const std::vector<double> points = draw(rows * columns, coarse);
    std::vector<std::int64_t> copies(rows);
    const Survey survey = distinct_rows(points.data(), rows, columns, 1e-150, copies.data());
    assert(survey.finite && !survey.vanishing);
    std::map<std::vector<double>, std::int64_t> numbers;
    double largest = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
        const double *row = &points[i * columns];
        const auto next = static_cast<std::int64_t>(numbers.size());
        const auto found = numbers.emplace(std::vector<double>(row, row + columns), next).first;
        if (survey.distinct < rows) assert(copies[i] == found->second);
        for (std::int64_t c = 0; c < columns; ++c) largest = std::max(largest, std::fabs(row[c]));
    }
    assert(survey.distinct == static_cast<std::int64_t>(numbers.size()));
    assert(survey.largest == largest);
}

// Powers of two have no digits but their exponent: few rows that differ may share hashes, since
// looking up compares those that do.
void check_hashes(std::int64_t rows, std::int64_t columns) {
    std::vector<double> points(rows * columns);
    for (double &number : points) number = std::ldexp(1.0, static_cast<int>(generator() % 60));
    std::vector<std::uint64_t> hashes(rows);
    dispatch_lanes([&](auto use) UNBEND_INLINE {
        using Lanes = typename decltype(use)::type;
        Hasher<Lanes> hasher(0);
        hash_rows<Lanes>(points.data(), points.data() + points.size(), rows, columns, hasher,
                         hashes.data());
    });
    std::map<std::vector<double>, std::uint64_t> distinct;
    std::map<std::uint64_t, int> different;
    for (std::int64_t i = 0; i < rows; ++i) {
        distinct.emplace(std::vector<double>(&points[i * columns], &points[i * columns] + columns),
                         hashes[i]);
        different.emplace(hashes[i], 0);
    }
    assert(different.size() > 0.9 * static_cast<double>(distinct.size()));
}

void check_moments(std::int64_t rows, std::int64_t columns) {
    const std::vector<double> points = draw(rows * columns, false), centre = draw(columns, false);
    std::vector<double> sums(columns), products(columns * columns), squares(rows);
    moments(points.data(), rows, columns, centre.data(), sums.data(), products.data(),
            squares.data());
    const auto number = [&](std::int64_t i, std::int64_t c) {
        return points[i * columns + c] - centre[c];
    };
    const double slack = 1e-14 * static_cast<double>(rows * columns) * 16;
    for (std::int64_t a = 0; a < columns; ++a) {
        double sum = 0;
        for (std::int64_t i = 0; i < rows; ++i) sum += number(i, a);
        assert(std::fabs(sum - sums[a]) <= slack);
        for (std::int64_t b = 0; b <= a; ++b) {
            double product = 0;
            for (std::int64_t i = 0; i < rows; ++i) product += number(i, a) * number(i, b);
            assert(std::fabs(product - products[a * columns + b]) <= slack);
        }
    }
    for (std::int64_t i = 0; i < rows; ++i) {
        double square = 0;
        for (std::int64_t c = 0; c < columns; ++c) square += number(i, c) * number(i, c);
        assert(std::fabs(square - squares[i]) <= slack);
    }
}

void check_strays(std::int64_t rows, std::int64_t columns, std::int64_t strays) {
    std::vector<double> points = draw(rows * columns, false);
    for (std::int64_t i = 0; i < strays; ++i) points[i * 2 * columns] += 1e3 * (i + 1.0);
    std::vector<double> products(columns * columns);
    NearProducts near(points.data(), rows, columns, 5, products.data());
    assert(near.run() == rows - strays);
}

}  // namespace

int main() {
    for (std::int64_t rows : {1, 2, 7, 256, 257, 900})
        for (std::int64_t columns : {1, 2, 3, 4, 5, 8, 13})
            for (bool coarse : {false, true}) check_copies(rows, columns, coarse);
    for (std::int64_t columns : {1, 2, 3, 4, 5, 9}) check_hashes(20000, columns);
    for (std::int64_t rows : {1, 3, 5, 400})
        for (std::int64_t columns : {1, 2, 3, 4, 5, 12, 17, 33}) check_moments(rows, columns);
    for (std::int64_t strays : {0, 1, 6}) check_strays(300, 6, strays);
    std::puts("moments: ok");
}
