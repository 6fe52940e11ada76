// Bases of neighbourhoods and their alignment against plain loops. Runs under sanitizers.
#undef NDEBUG
#include <cassert>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>
#include <random>

#include "align.hpp"
#include "local_bases.hpp"
#include "tangent_planes.hpp"

namespace {

const unbend::Poll silent = [](std::int64_t, std::int64_t) {};

// Columns are orthonormal, or zero where a direction is missing.
void assert_orthonormal(const double *basis, std::int64_t s, std::int64_t width) {
    for (std::int64_t a = 0; a < width; ++a)
        for (std::int64_t b = 0; b < width; ++b) {
            double product = 0, size = 0;
            for (std::int64_t i = 0; i < s; ++i) {
                product += basis[i * width + a] * basis[i * width + b];
                size += basis[i * width + a] * basis[i * width + a];
            }
            assert(std::abs(product - (a == b && size > 0.5 ? 1.0 : 0.0)) < 1e-12);
        }
}

void test_bases(std::mt19937 &random) {
    std::normal_distribution<double> normal;
    for (const std::int64_t d : {1, 2, 3})
        for (const std::int64_t s : {1, 2, 5, 13})
            for (const std::int64_t r : {1, 3, 8}) {
                const std::int64_t count = 130;
                std::vector<double> points(count * s * r);
                for (double &point : points) point = normal(random);
                std::fill(points.begin(), points.begin() + s * r, 0.1);
                for (const bool quadratic : {false, true}) {
                    const std::int64_t width = quadratic ? d * (d + 1) / 2 : 1 + d;
                    std::vector<double> bases(count * s * width);
                    unbend::local_bases(unbend::GivenPoints{points.data()}, count, s, r, d, quadratic, 2, silent,
                                        bases.data());
                    for (std::int64_t m = 0; m < count; ++m)
                        assert_orthonormal(bases.data() + m * s * width, s, width);
                    std::vector<std::int32_t> members(count * s);
                    for (std::int32_t &member : members)
                        member = static_cast<std::int32_t>(random() % (count * s));
                    unbend::local_bases(unbend::GatheredPoints{points.data(), members.data()}, count, s,
                                        r, d, quadratic, 2, silent, bases.data());
                    for (std::int64_t m = 0; m < count; ++m)
                        assert_orthonormal(bases.data() + m * s * width, s, width);
                }
            }
}

// Leading eigenpairs against all of them, where they are clearly apart and where they are not.
void test_leading_pairs(std::mt19937 &random) {
    std::normal_distribution<double> normal;
    for (const std::int64_t n : {1, 2, 3, 5, 11, 16})
        for (const std::int64_t d : {1, 2, 3, 8})
            for (const double fall : {1.0, 0.5, 0.05, 0.0}) {
                const std::int64_t padded = unbend::padded_size(n);
                std::vector<double> factor(n * n), matrix(n * padded, 0.0), rows(n * n);
                for (std::int64_t i = 0; i < n; ++i)
                    for (std::int64_t k = 0; k < n; ++k)
                        factor[i * n + k] = normal(random) * std::pow(fall, static_cast<double>(k));
                for (std::int64_t i = 0; i < n; ++i)
                    for (std::int64_t j = 0; j < n; ++j) {
                        double sum = 0;
                        for (std::int64_t k = 0; k < n; ++k) sum += factor[i * n + k] * factor[j * n + k];
                        matrix[i * padded + j] = rows[i * n + j] = sum;
                    }
                std::vector<double> values(n), vectors(n * n);
                assert(unbend::SymmetricEigen(rows.data(), n, n).run(values.data(), vectors.data()));
                unbend::LeadingPairs pairs(n, d);
                pairs.run(matrix.data(), n);
                for (std::int64_t a = 0; a < std::min(n, d); ++a) {
                    assert(std::abs(pairs.value(a) - values[n - 1 - a]) <= 1e-7 * pairs.trace());
                    for (std::int64_t b = 0; b < std::min(n, d); ++b) {
                        double product = 0, size = 0;
                        for (std::int64_t i = 0; i < n; ++i) {
                            product += pairs.vector(a)[i] * pairs.vector(b)[i];
                            size += pairs.vector(a)[i] * pairs.vector(a)[i];
                        }
                        assert(std::abs(product - (a == b && size > 0.5 ? 1.0 : 0.0)) < 1e-9);
                    }
                }
                for (std::int64_t a = n; a < d; ++a) assert(pairs.value(a) == 0);
                const std::int64_t last = std::min(n, d) - 1;
                for (std::int64_t a = 0; a <= last; ++a) {
                    double squares = 0;
                    for (std::int64_t i = 0; i < n; ++i) {
                        double rest = -pairs.value(a) * pairs.vector(a)[i];
                        for (std::int64_t j = 0; j < n; ++j)
                            rest += matrix[i * padded + j] * pairs.vector(a)[j];
                        squares += rest * rest;
                    }
                    assert(std::sqrt(squares) <= 2e-7 * pairs.value(last) + 1e-13 * pairs.trace());
                }
            }
}

// Edges of points of a plane lie in it, and its normals are orthogonal, in few columns and in many.
void test_tangent_sines(std::mt19937 &random) {
    std::normal_distribution<double> normal;
    for (const std::int64_t columns : {3, 20}) {
        const std::int64_t n = 150, k = 9;
        std::vector<double> points((n + 1) * columns, 0.0);
        for (std::int64_t i = 0; i < n; ++i) {
            points[i * columns] = normal(random);
            points[i * columns + 1] = normal(random);
        }
        // The last row stands on the first.
        std::copy_n(points.begin(), columns, points.end() - columns);
        points[n * columns + columns - 1] = 1;
        std::vector<std::int64_t> offset(n + 2), other(n + 1);
        std::vector<std::int32_t> member, rows, start(n, 0), end(n, static_cast<std::int32_t>(n));
        for (std::int64_t i = 0; i < n; ++i) {
            rows.push_back(static_cast<std::int32_t>(i));
            for (std::int64_t j = 1; j <= k; ++j)
                member.push_back(static_cast<std::int32_t>((i + 7 * j) % n));
            offset[i + 1] = static_cast<std::int64_t>(member.size());
            other[i + 1] = i + 1;
        }
        offset[n + 1] = offset[n];
        const std::unique_ptr<bool[]> used(new bool[member.size()]);
        std::fill(used.get(), used.get() + member.size(), true);
        std::vector<double> share(2 * n), inner(member.size(), -1), outer(n, -1);
        unbend::tangent_sines(
            unbend::PlaneNeighbors<double>{points.data(), columns, offset.data(), member.data(), used.get()},
            rows.data(), n, 2, unbend::OtherEdges{other.data(), start.data(), end.data()}, 2, silent,
            share.data(), inner.data(), outer.data());
        for (std::int64_t i = 0; i < n; ++i) assert(std::abs(share[2 * i + 1] - 1) < 1e-9);
        for (const double sine : inner) assert(sine >= 0 && sine < 1e-9);
        for (const double sine : outer) assert(sine > 1 - 1e-9 && sine <= 1);
    }
}

// A row with very many neighbours: nothing grows with the square of their number.
void test_crowded_plane() {
    const std::int64_t n = 1 << 20, columns = 3;
    std::vector<double> points(n * columns, 0.0);
    for (std::int64_t i = 0; i < n; ++i) {
        points[i * columns] = static_cast<double>(i % 1024);
        points[i * columns + 1] = static_cast<double>(i / 1024);
    }
    const std::vector<std::int64_t> offset{0, n - 1}, other{0, 0};
    const std::vector<std::int32_t> rows{0};
    std::vector<std::int32_t> member(n - 1);
    std::iota(member.begin(), member.end(), 1);
    const std::unique_ptr<bool[]> used(new bool[n - 1]);
    std::fill(used.get(), used.get() + n - 1, true);
    std::vector<double> share(2), inner(n - 1, -1);
    unbend::tangent_sines(
        unbend::PlaneNeighbors<double>{points.data(), columns, offset.data(), member.data(), used.get()},
        rows.data(), 1, 2, unbend::OtherEdges{other.data(), nullptr, nullptr}, 1, silent, share.data(),
        inner.data(), nullptr);
    assert(std::abs(share[0] - 0.5) < 1e-9 && std::abs(share[1] - 1) < 1e-9);
    for (const double sine : inner) assert(sine >= 0 && sine < 1e-9);
}

void test_alignment(std::mt19937 &random) {
    const std::int64_t n = 50, blocks = 40, size = 6, width = 2;
    std::vector<std::int64_t> offset{0}, row(n + 1);
    std::vector<std::int32_t> member;
    for (std::int64_t b = 0; b < blocks; ++b) {
        const auto first = static_cast<std::int32_t>(random() % n);
        for (std::int64_t i = 0; i < size; ++i)
            member.push_back(static_cast<std::int32_t>((first + 7 * i) % n));
        offset.push_back(static_cast<std::int64_t>(member.size()));
    }
    std::vector<double> bases(member.size() * width), dense(n * n, 0.0);
    for (double &entry : bases) entry = static_cast<double>(random() % 9) - 4;
    const unbend::Cover cover(n, blocks, offset.data(), member.data());
    unbend::align_rows(cover, 2, row.data());
    std::vector<std::int32_t> column(row[n]);
    std::vector<double> value(row[n]);
    unbend::align(cover, bases.data(), width, true, 2, silent, row.data(), column.data(),
                  value.data());
    for (std::int64_t b = 0; b < blocks; ++b)
        for (std::int64_t e = offset[b]; e < offset[b + 1]; ++e)
            for (std::int64_t q = offset[b]; q < offset[b + 1]; ++q)
                dense[member[e] * n + member[q]] +=
                    (e == q) - bases[2 * e] * bases[2 * q] - bases[2 * e + 1] * bases[2 * q + 1];
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t k = row[i]; k < row[i + 1]; ++k) {
            assert(value[k] == dense[i * n + column[k]]);
            dense[i * n + column[k]] = 0;
        }
    for (const double rest : dense) assert(rest == 0);
}

}  // namespace

int main() {
    std::mt19937 random(0);
    test_bases(random);
    test_leading_pairs(random);
    test_tangent_sines(random);
    test_crowded_plane();
    test_alignment(random);
    std::puts("local: passed");
}
