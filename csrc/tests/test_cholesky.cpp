// Sanitised run of the sparse Cholesky factorisation, without Python:
//   g++ -std=c++17 -O1 -g -fsanitize=address,undefined -pthread -I csrc
//       csrc/tests/test_cholesky.cpp -o test_cholesky && ./test_cholesky
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <stdexcept>

#include "solve.hpp"
#include "sparse_product.hpp"

namespace {

using namespace unbend;

// Not `assert`: it must hold however the file is compiled.
void require(bool truth, const char *what) {
    if (truth) return;
    std::fprintf(stderr, "failed: %s\n", what);
    std::exit(1);
}

struct Matrix {
    std::vector<std::int64_t> row{0};
    std::vector<std::int32_t> column;
    std::vector<double> values;

    std::int32_t n() const { return static_cast<std::int32_t>(row.size()) - 1; }
    Pattern pattern() const { return {n(), row.data(), column.data()}; }
};

// Diagonally dominant on the given edges.
Matrix definite(std::int32_t n, const std::set<std::pair<std::int32_t, std::int32_t>> &edges,
                std::mt19937 &random) {
    std::vector<std::map<std::int32_t, double>> rows(n);
    std::uniform_real_distribution<double> entry(-1, 1);
    for (std::int32_t v = 0; v < n; ++v) rows[v][v] = 0.5;
    for (const auto &[u, v] : edges) {
        if (u == v) continue;
        const double value = entry(random);
        rows[u][v] = rows[v][u] = value;
    }
    Matrix matrix;
    for (std::int32_t v = 0; v < n; ++v) {
        for (const auto &[u, value] : rows[v])
            if (u != v) rows[v][v] += std::abs(value);
        for (const auto &[u, value] : rows[v]) {
            matrix.column.push_back(u);
            matrix.values.push_back(value);
        }
        matrix.row.push_back(static_cast<std::int64_t>(matrix.column.size()));
    }
    return matrix;
}

const std::function<void()> silent = [] {};

std::vector<double> solution(const Matrix &matrix, const std::vector<double> &right,
                             std::int64_t sides, int threads) {
    const auto structure =
        std::make_shared<const Structure>(analyse(matrix.pattern(), 1e300, threads, silent));
    const Factor factor =
        Factorisation(structure, matrix.pattern(), matrix.values.data(), 0.0, false, threads, silent).run();
    std::vector<double> x(right.size());
    Solution(factor, sides, threads, silent).run(right.data(), x.data());
    return x;
}

void check(const Matrix &matrix, std::int64_t sides, std::mt19937 &random) {
    const std::int32_t n = matrix.n();
    std::normal_distribution<double> normal;
    std::vector<double> right(n * sides);
    for (double &value : right) value = normal(random);
    const std::vector<double> x = solution(matrix, right, sides, 1);
    const Rows rows{matrix.row.data(), matrix.column.data(), matrix.values.data()};
    std::vector<double> image(n * sides), again(n * sides);
    sparse_product(rows, n, x.data(), sides, 1, image.data());
    for (std::int32_t v = 0; v < n; ++v)
        for (std::int64_t k = 0; k < sides; ++k) {
            double product = 0;
            for (std::int64_t e = matrix.row[v]; e < matrix.row[v + 1]; ++e)
                product += matrix.values[e] * x[matrix.column[e] * sides + k];
            require(std::abs(product - right[v * sides + k]) < 1e-9, "a residual vanishes");
            require(std::abs(product - image[v * sides + k]) < 1e-9, "a product is the plain one");
        }
    for (const int threads : {2, 4}) {
        require(solution(matrix, right, sides, threads) == x, "threads do not change a bit");
        sparse_product(rows, n, x.data(), sides, threads, again.data());
        require(again == image, "threads do not change a bit of a product");
    }
}

using Edges = std::set<std::pair<std::int32_t, std::int32_t>>;

Edges sprinkled(std::int32_t n, std::int32_t count, std::mt19937 &random) {
    Edges edges;
    for (std::int32_t k = 0; k < count; ++k)
        edges.insert({static_cast<std::int32_t>(random() % n), static_cast<std::int32_t>(random() % n)});
    return edges;
}

Edges grid(std::int32_t side) {
    Edges edges;
    for (std::int32_t i = 0; i < side; ++i)
        for (std::int32_t j = 0; j < side; ++j) {
            if (i + 1 < side) edges.insert({i * side + j, (i + 1) * side + j});
            if (j + 1 < side) edges.insert({i * side + j, i * side + j + 1});
        }
    return edges;
}

Edges with_hubs(Edges edges, std::int32_t n) {
    for (const std::int32_t hub : {7, n / 2})
        for (std::int32_t v = 0; v < n; v += 3) edges.insert({hub, v});
    return edges;
}

// Each vertex but the first few, `hubs`, joined to some of these at random.
Edges around_hubs(std::int32_t n, std::int32_t hubs, int joined, std::mt19937 &random) {
    Edges edges;
    for (std::int32_t v = hubs; v < n; ++v)
        for (int k = 0; k < joined; ++k) edges.insert({static_cast<std::int32_t>(random() % hubs), v});
    return edges;
}

template <typename Error, typename Work>
void throws(const Work &work, const char *what) {
    try {
        work();
    } catch (const Error &) {
        return;
    }
    require(false, what);
}

void check_refusals(std::mt19937 &random) {
    Matrix matrix = definite(900, grid(30), random);
    const std::vector<double> right(900, 1.0);
    const auto structure =
        std::make_shared<const Structure>(analyse(matrix.pattern(), 1e300, 1, silent));
    require(!analyse(matrix.pattern(), 1e3, 1, silent).complete, "an analysis gives up");
    for (std::int64_t e = matrix.row[450]; e < matrix.row[451]; ++e)
        if (matrix.column[e] == 450) matrix.values[e] = -1.0;
    for (const int threads : {1, 2})
        throws<std::domain_error>([&] { solution(matrix, right, 1, threads); }, "indefinite");
    Matrix crooked = definite(3, {{0, 1}}, random);
    crooked.column[1] = 2;
    throws<std::invalid_argument>([&] { analyse(crooked.pattern(), 1e300, 1, silent); }, "one-sided");
}

// Diagonally dominant with diagonal entries of both signs: as many negative pivots as negative entries.
void check_signs(std::mt19937 &random) {
    Matrix matrix = definite(900, grid(30), random);
    std::int64_t negative = 0;
    for (std::int32_t v = 0; v < 900; ++v)
        for (std::int64_t e = matrix.row[v]; e < matrix.row[v + 1]; ++e)
            if (matrix.column[e] == v && random() % 3 == 0) {
                matrix.values[e] *= -1.0;
                ++negative;
            }
    const auto structure =
        std::make_shared<const Structure>(analyse(matrix.pattern(), 1e300, 1, silent));
    const std::vector<double> right(900, 1.0);
    std::vector<double> x(900);
    for (const int threads : {1, 2}) {
        const Factor factor =
            Factorisation(structure, matrix.pattern(), matrix.values.data(), 0.0, true, threads, silent)
                .run();
        require(factor.negative == negative, "negative pivots are counted");
        Solution(factor, 1, threads, silent).run(right.data(), x.data());
        for (std::int32_t v = 0; v < 900; ++v) {
            double product = 0;
            for (std::int64_t e = matrix.row[v]; e < matrix.row[v + 1]; ++e)
                product += matrix.values[e] * x[matrix.column[e]];
            require(std::abs(product - 1.0) < 1e-9, "a residual of signed pivots vanishes");
        }
    }
}

// A dense matrix takes long enough to be asked at least once.
void check_interruption(std::mt19937 &random) {
    Edges edges;
    for (std::int32_t u = 0; u < 1500; ++u)
        for (std::int32_t v = 0; v < u; ++v) edges.insert({u, v});
    const Matrix matrix = definite(1500, edges, random);
    const auto structure =
        std::make_shared<const Structure>(analyse(matrix.pattern(), 1e300, 1, silent));
    const std::function<void()> stop = [] { throw std::runtime_error("stop"); };
    for (const int threads : {1, 2})
        throws<std::runtime_error>(
            [&] {
                Factorisation(structure, matrix.pattern(), matrix.values.data(), 0.0, false, threads, stop)
                    .run();
            },
            "a factorisation is interrupted");
}

}  // namespace

int main() {
    std::mt19937 random(1);
    for (std::int32_t n = 1; n < 60; ++n)
        for (const std::int32_t count : {0, n, 3 * n, n * n})
            check(definite(n, sprinkled(n, count, random), random), 1 + n % 13, random);
    check(definite(2500, grid(50), random), 6, random);
    check(definite(20000, sprinkled(20000, 22000, random), random), 40, random);
    // Large enough for domains, one of them with vertices joined to very many.
    check(definite(40000, grid(200), random), 3, random);
    check(definite(30000, with_hubs(sprinkled(30000, 20000, random), 30000), random), 2, random);
    // Elements of a domain overlap so much that bounds of degrees exceed the number of vertices left.
    check(definite(26000, around_hubs(26000, 350, 20, random), random), 1, random);
    check(definite(300, sprinkled(300, 30000, random), random), 9, random);
    check_refusals(random);
    check_signs(random);
    check_interruption(random);
    std::puts("all passed");
}
