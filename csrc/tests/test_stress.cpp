// Stress and its gradient against plain loops. Runs under sanitizers.
#undef NDEBUG
#include <cassert>
#include <cmath>
#include <cstdio>
#include <random>
#include <stdexcept>

#include "stress.hpp"

namespace {

using unbend::Loss;

struct Sum {
    double total = 0;
    std::vector<double> gradient, spread;
};

// One pair after the other, in double precision.
template <typename Real>
Sum plain(const unbend::Pairs<Real> &pairs, Loss loss, const std::vector<double> &x,
          std::int64_t d) {
    Sum sum;
    sum.gradient.resize(pairs.n * d);
    sum.spread.resize(pairs.n);
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < pairs.n; ++i)
        for (std::int64_t j = i + 1; j < pairs.n; ++j, ++at) {
            const double target = pairs.dissimilarity[at];
            double square = 0, w = pairs.weight ? pairs.weight[at] : 1.0;
            for (std::int64_t k = 0; k < d; ++k)
                square += (x[i * d + k] - x[j * d + k]) * (x[i * d + k] - x[j * d + k]);
            if (loss == Loss::sammon) w = target > 0 ? w / target : 0.0;
            const double distance = std::sqrt(square);
            const double off = loss == Loss::sstress ? square - target * target : distance - target;
            const double pull = loss == Loss::sstress ? 4 * w * off
                                : distance > 0        ? 2 * w * off / distance
                                                      : 0.0;
            sum.total += w * off * off;
            sum.spread[i] += w * off * off;
            sum.spread[j] += w * off * off;
            for (std::int64_t k = 0; k < d; ++k) {
                const double move = pull * (x[i * d + k] - x[j * d + k]);
                sum.gradient[i * d + k] += move;
                sum.gradient[j * d + k] -= move;
            }
        }
    return sum;
}

template <typename Real>
void test_sums(std::mt19937 &random, double slack) {
    std::uniform_real_distribution<double> uniform(0.1, 1.0);
    for (const std::int64_t n : {1, 2, 3, 17, 40, 300, 613})
        for (const std::int64_t d : {1, 2, 3, 6})
            for (const Loss loss : {Loss::raw, Loss::sstress, Loss::sammon})
                for (const bool weighted : {false, true}) {
                    std::vector<Real> values(n * (n - 1) / 2), weights(values.size());
                    std::vector<double> x(n * d), gradient(n * d), spread(n);
                    for (Real &value : values) value = static_cast<Real>(uniform(random));
                    for (Real &weight : weights) weight = static_cast<Real>(uniform(random));
                    for (double &place : x) place = uniform(random);
                    const unbend::Pairs<Real> pairs{n, values.data(),
                                                    weighted ? weights.data() : nullptr};
                    const Sum expected = plain(pairs, loss, x, d);
                    for (const int threads : {1, 3}) {
                        const double total = unbend::stress(pairs, loss, x.data(), d, threads, {},
                                                            gradient.data(), spread.data());
                        assert(std::abs(total - expected.total) <= slack * (1 + expected.total));
                        for (std::int64_t i = 0; i < n; ++i)
                            assert(std::abs(spread[i] - expected.spread[i]) <= slack * n * 10);
                        for (std::int64_t e = 0; e < n * d; ++e)
                            assert(std::abs(gradient[e] - expected.gradient[e]) <= slack * n * 10);
                    }
                }
}

void test_interruption() {
    const std::int64_t n = 3000;
    std::vector<float> values(n * (n - 1) / 2, 1.0f);
    std::vector<double> x(n * 2, 0.5), gradient(n * 2);
    bool stopped = false;
    try {
        // The poller asks ten times a second at most: go on until it has.
        for (int round = 0; round < 100000; ++round)
            unbend::stress<float>({n, values.data(), nullptr}, Loss::raw, x.data(), 2, 2,
                                  [] { throw std::runtime_error("stop"); }, gradient.data(),
                                  nullptr);
    } catch (const std::runtime_error &) {
        stopped = true;
    }
    assert(stopped);
}

}  // namespace

int main() {
    std::mt19937 random(0);
    test_sums<double>(random, 1e-12);
    test_sums<float>(random, 2e-5);
    test_interruption();
    std::puts("stress: ok");
}
