// Kernels over all pairs against plain loops, for several numbers of threads. Runs under sanitizers.
#undef NDEBUG
#include <cassert>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include "line_stress.hpp"
#include "monotone_stress.hpp"
#include "sorted_order.hpp"

namespace {

std::vector<double> draw(std::mt19937 &random, std::int64_t count) {
    std::normal_distribution<double> normal;
    std::vector<double> numbers(count);
    for (double &number : numbers) number = normal(random);
    return numbers;
}

double length(const std::vector<double> &x, std::int64_t d, std::int64_t i, std::int64_t j) {
    double sum = 0;
    for (std::int64_t k = 0; k < d; ++k)
        sum += (x[i * d + k] - x[j * d + k]) * (x[i * d + k] - x[j * d + k]);
    return std::sqrt(sum);
}

void test_distances(std::mt19937 &random) {
    for (const std::int64_t n : {1, 2, 17, 600, 1300})
        for (const std::int64_t d : {1, 2, 5})
            for (const int threads : {1, 3}) {
                const auto x = draw(random, n * d);
                std::vector<float> found(n * (n - 1) / 2);
                unbend::pair_distances<float>(x.data(), n, d, threads, {}, found.data());
                std::int64_t at = 0;
                for (std::int64_t i = 0; i < n; ++i)
                    for (std::int64_t j = i + 1; j < n; ++j, ++at)
                        assert(std::abs(found[at] - length(x, d, i, j)) <= 1e-5);
            }
}

void test_order(std::mt19937 &random) {
    for (const std::int64_t n : {0, 1, 100, 50000})
        for (const int threads : {1, 3}) {
            auto numbers = draw(random, n);
            for (std::int64_t k = 0; k < n; k += 3) numbers[k] = std::round(numbers[k]);
            std::vector<std::int64_t> found(n), expected(n);
            std::iota(expected.begin(), expected.end(), 0);
            std::stable_sort(expected.begin(), expected.end(), [&](std::int64_t a, std::int64_t b) {
                return numbers[a] < numbers[b];
            });
            const std::function<void()> nobody;
            unbend::SortedOrder<double>(numbers.data(), n, threads, nobody).run(found.data());
            assert(found == expected);
        }
}

void test_lines(std::mt19937 &random) {
    const std::int64_t n = 900, count = n * (n - 1) / 2;
    const auto x = draw(random, 2 * n), drawn = draw(random, count);
    std::vector<float> given(count), weights(count), targets(count);
    for (std::int64_t k = 0; k < count; ++k)
        given[k] = static_cast<float>(std::abs(drawn[k])), weights[k] = static_cast<float>(k % 3);
    const unbend::PairRows rows(x.data(), n, 2);
    const std::vector<unbend::LinePart<float>> parts{{given.data(), nullptr},
                                                     {given.data(), weights.data()}};
    double plain[2] = {};
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = i + 1; j < n; ++j, ++at) {
            const double off = length(x, 2, i, j) - std::max(2.0 * given[at] - 0.5, 0.0);
            plain[0] += off * off;
            plain[1] += weights[at] * off * off;
        }
    const std::function<void()> nobody;
    for (const int threads : {1, 3}) {
        unbend::LineStress<float> stress(parts, rows, threads, nobody);
        const auto found = stress.residuals({{-0.5, 2.0}, {-0.5, 2.0}}, targets.data());
        for (int k = 0; k < 2; ++k) assert(std::abs(found[k] - plain[k]) <= 1e-9 * plain[k]);
        for (std::int64_t k = 0; k < count; ++k)
            assert(std::abs(targets[k] - std::max(2.0 * given[k] - 0.5, 0.0)) <= 1e-5);
        const double centers[2] = {0.0, 1.0};
        assert(stress.sums(centers)[2] > 0);
    }
}

// Disparities that do not fall, of which no block could be cut in two; the same for any threads.
void test_monotone(std::mt19937 &random) {
    const std::int64_t n = 400, count = n * (n - 1) / 2;
    const auto x = draw(random, 2 * n);
    const std::vector<std::int64_t> ties{0, 5, 30000, 60000};
    std::vector<double> before;
    for (const int threads : {1, 3}) {
        std::vector<std::int32_t> first, second;
        for (std::int32_t i = 0; i < n; ++i)
            for (std::int32_t j = i + 1; j < n; ++j) first.push_back(i), second.push_back(j);
        std::vector<double> distance(count), sum(count), gradient(2 * n);
        std::vector<std::int64_t> start(count);
        const unbend::SortedPairs pairs{first.data(),    second.data(), count,
                                        distance.data(), sum.data(),    start.data()};
        const std::function<void()> nobody;
        const auto [sums, blocks] =
            unbend::MonotoneStress<2>(pairs, ties.data(), 2, x.data(), n, 2, threads, nobody)
                .run(gradient.data());
        double residual = 0, last = -1;
        for (std::int64_t b = 0; b < blocks; ++b) {
            const std::int64_t end = b + 1 < blocks ? start[b + 1] : count;
            const double size = static_cast<double>(end - start[b]), mean = sum[b] / size;
            assert(start[b] < end && mean > last);
            last = mean;
            double head = 0;
            for (std::int64_t k = start[b]; k < end; ++k) {
                residual += (distance[k] - mean) * (distance[k] - mean);
                // Means of the front of a block are no less than its mean: pooling was necessary.
                head += distance[k];
                assert(head >= mean * static_cast<double>(k + 1 - start[b]) * (1 - 1e-12));
            }
        }
        assert(std::abs(residual - sums.residual) <= 1e-10 * residual);
        assert(std::is_sorted(distance.begin() + 30000, distance.begin() + 60000));
        if (!before.empty()) assert(before == gradient);
        before = gradient;
    }
}

void test_interruption() {
    // The poller asks ten times a second, and a shorter call is never asked: many columns take longer.
    const std::int64_t n = 3000, columns = 1000;
    const std::vector<double> x(n * columns, 0.5);
    std::vector<double> found(n * (n - 1) / 2);
    bool stopped = false;
    try {
        for (int round = 0; round < 10; ++round)
            unbend::pair_distances<double>(x.data(), n, columns, 2,
                                           [] { throw std::runtime_error("stop"); }, found.data());
    } catch (const std::runtime_error &) {
        stopped = true;
    }
    assert(stopped);
}

}  // namespace

int main() {
    std::mt19937 random(0);
    test_distances(random);
    test_order(random);
    test_lines(random);
    test_monotone(random);
    test_interruption();
    std::puts("pairs: ok");
}
