// Shortest paths, products and places against plain loops. Runs under sanitizers.
#undef NDEBUG
#include <cassert>
#include <cmath>
#include <cstdio>
#include <random>
#include <stdexcept>

#include "paths_of_new.hpp"
#include "shortest_paths.hpp"
#include "squared_products.hpp"

namespace {

const unbend::Poll silent = [](std::int64_t, std::int64_t) {};

template <typename Real>
struct Drawn {
    std::vector<std::int64_t> row{0};
    std::vector<std::int32_t> column;
    std::vector<Real> length;

    unbend::Graph<Real> graph() const {
        return {static_cast<std::int64_t>(row.size()) - 1, row.data(), column.data(), length.data()};
    }
};

template <typename Real>
Drawn<Real> draw(std::mt19937 &random, int n, int degree) {
    std::uniform_real_distribution<double> uniform(0, 1);
    Drawn<Real> drawn;
    for (int v = 0; v < n; ++v) {
        for (int e = 0; e < degree; ++e) {
            drawn.column.push_back(static_cast<std::int32_t>(random() % n));
            const double kind = uniform(random);
            drawn.length.push_back(static_cast<Real>(kind < 0.1   ? 0
                                                     : kind < 0.2 ? 1e30 * uniform(random)
                                                                  : uniform(random)));
        }
        drawn.row.push_back(static_cast<std::int64_t>(drawn.column.size()));
    }
    return drawn;
}

// Bellman and Ford, until nothing changes.
template <typename Real>
std::vector<Real> plain_paths(const unbend::Graph<Real> &graph, std::int32_t source) {
    std::vector<Real> distance(graph.vertices, std::numeric_limits<Real>::infinity());
    distance[source] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (std::int64_t v = 0; v < graph.vertices; ++v)
            for (std::int64_t e = graph.row[v]; e < graph.row[v + 1]; ++e)
                if (distance[v] + graph.length[e] < distance[graph.column[e]]) {
                    distance[graph.column[e]] = distance[v] + graph.length[e];
                    changed = true;
                }
    }
    return distance;
}

template <typename Real>
void test_shortest_paths(std::mt19937 &random) {
    for (const int n : {1, 2, 7, 40, 300}) {
        const Drawn<Real> drawn = draw<Real>(random, n, 4);
        std::vector<std::int32_t> sources;
        for (int s = 0; s < 2 * n + 5; ++s) sources.push_back(static_cast<std::int32_t>(random() % n));
        const auto count = static_cast<std::int64_t>(sources.size());
        std::vector<Real> one(count * n), two(count * n);
        const unbend::ShortestPaths<Real> paths(drawn.graph());
        paths.run(sources.data(), count, 1, silent, one.data());
        paths.run(sources.data(), count, 2, silent, two.data());
        assert(one == two);
        for (std::int64_t s = 0; s < count; ++s) {
            const std::vector<Real> expected = plain_paths(drawn.graph(), sources[s]);
            for (int v = 0; v < n; ++v) assert(one[s * n + v] == expected[v]);
        }
    }
}

template <typename Real>
void test_products_and_places(std::mt19937 &random) {
    std::uniform_real_distribution<double> uniform(0, 1);
    const std::int64_t rows = 13, ends = 1030, width = 5, k = 6, count = 600;
    std::vector<Real> paths(rows * ends), far(count * k);
    std::vector<double> vectors(ends * width), result(rows * width), placed(count * 2);
    std::vector<std::int32_t> near(count * k);
    for (Real &path : paths) path = static_cast<Real>(uniform(random));
    for (double &vector : vectors) vector = uniform(random) - 0.5;
    for (std::int64_t i = 0; i < count * k; ++i) {
        near[i] = static_cast<std::int32_t>(random() % rows);
        far[i] = i % k && i % 3 ? std::numeric_limits<Real>::infinity()
                                : static_cast<Real>(uniform(random));
    }
    unbend::squared_products<Real>(paths.data(), rows, ends, {false, 0.5}, vectors.data(), width, 2,
                                   silent, result.data());
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t w = 0; w < width; ++w) {
            double sum = 0;
            for (std::int64_t j = 0; j < ends; ++j)
                sum += std::pow(paths[i * ends + j] + 0.5, 2) * vectors[j * width + w];
            assert(std::abs(sum - result[i * width + w]) < 1e-10);
        }
    unbend::place_by_paths<Real>({paths.data(), rows, ends, 0.5, vectors.data(), 2},
                                 {near.data(), far.data(), count, k}, 2, silent, placed.data());
    for (std::int64_t i = 0; i < count; ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < ends; ++j) {
            Real shortest = std::numeric_limits<Real>::infinity();
            for (std::int64_t m = i * k; m < (i + 1) * k; ++m)
                shortest = std::min<Real>(shortest, far[m] + paths[near[m] * ends + j]);
            sum += std::pow(shortest + 0.5, 2) * vectors[j];
        }
        assert(std::abs(sum - placed[i * 2]) < 1e-9);
    }
}

// What the callback throws arrives, and nothing else happens.
void test_interruption(std::mt19937 &random) {
    const int n = 20000;
    const Drawn<double> drawn = draw<double>(random, n, 8);
    std::vector<std::int32_t> sources(400);
    for (int s = 0; s < 400; ++s) sources[s] = 50 * s;
    std::vector<double> distances(400L * n);
    bool stopped = false;
    try {
        unbend::ShortestPaths<double>(drawn.graph())
            .run(sources.data(), 400, 2,
                 [](std::int64_t, std::int64_t) { throw std::runtime_error("stop"); },
                 distances.data());
    } catch (const std::runtime_error &) {
        stopped = true;
    }
    assert(stopped);
}

}  // namespace

int main() {
    std::mt19937 random(0);
    test_shortest_paths<float>(random);
    test_shortest_paths<double>(random);
    test_products_and_places<float>(random);
    test_products_and_places<double>(random);
    test_interruption(random);
    std::puts("paths: passed");
}
