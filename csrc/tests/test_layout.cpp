// Forces of layouts against plain loops, for several numbers of threads. Runs under sanitizers.
#undef NDEBUG
#include <cassert>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "layout_forces.hpp"
#include "layout_mesh.hpp"
#include "layout_placement.hpp"
#include "layout_tree.hpp"

namespace {

std::vector<float> normal_numbers(std::int64_t count, float scale, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal(0.0f, scale);
    std::vector<float> numbers(count);
    for (float &number : numbers) number = normal(generator);
    return numbers;
}

// Repulsion of all pairs and the sum of w with a point itself, in double precision.
template <int D>
void plain_repulsion(const std::vector<float> &points, std::vector<double> &forces,
                     std::vector<double> &sums) {
    const std::size_t n = points.size() / D;
    forces.assign(n * D, 0.0);
    sums.assign(n, 0.0);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            double away[D], square = 0;
            for (int axis = 0; axis < D; ++axis) {
                away[axis] = double(points[i * D + axis]) - points[j * D + axis];
                square += away[axis] * away[axis];
            }
            const double w = 1.0 / (1.0 + square);
            sums[i] += w;
            for (int axis = 0; axis < D; ++axis) forces[i * D + axis] += w * w * away[axis];
        }
}

template <int D>
void check_repulsion(std::int64_t n) {
    // Every third point twice: cells that can be halved no further.
    std::vector<float> points = normal_numbers(n * D, 5.0f, 7);
    for (std::int64_t i = 3; i < n; i += 3) std::copy_n(&points[(i - 3) * D], D, &points[i * D]);
    std::vector<double> expected, masses, sums(n);
    plain_repulsion<D>(points, expected, masses);
    std::vector<float> forces(n * D), first;
    const std::function<void()> nobody;
    double total = 0;
    for (double mass : masses) total += mass - 1;
    for (int threads : {1, 3}) {
        unbend::Poller poller(nobody);
        unbend::repel_by_tree<D>(points.data(), n, 1e-6f, threads, forces.data(), sums.data());
        if (first.empty()) first = forces;
        assert(forces == first);
        for (std::int64_t at = 0; at < n * D; ++at) assert(std::abs(forces[at] - expected[at]) < 2e-4);
        unbend::repel_exactly<D>(points.data(), n, points.data(), n, threads, poller, forces.data(),
                                 sums.data());
        for (std::int64_t i = 0; i < n; ++i) assert(std::abs(sums[i] - masses[i]) < 1e-3);
        const double found = unbend::sum_weights<D>(points.data(), n, threads, poller);
        assert(std::abs(found - total) < 1e-5 * std::max(1.0, total));
    }
}

// Rows of different length, the last one shorter than eight entries and at the end of the arrays.
template <int D>
void check_attraction() {
    const std::int64_t n = 40;
    const std::vector<float> points = normal_numbers(n * D, 2.0f, 3);
    std::vector<std::int64_t> offsets = {0};
    std::vector<std::int32_t> indices;
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < (i * 7 + 3) % 21; ++j)
            indices.push_back(static_cast<std::int32_t>((i * 13 + j * 5) % n));
        offsets.push_back(static_cast<std::int64_t>(indices.size()));
    }
    std::vector<float> weights = normal_numbers(static_cast<std::int64_t>(indices.size()), 1.0f, 5);
    const unbend::Affinities graph{offsets.data(), indices.data(), weights.data()};
    std::vector<float> forces(n * D);
    std::vector<double> energies(n);
    unbend::attract<D>(graph, points.data(), n, 2, forces.data());
    unbend::attractive_energy<D>(graph, points.data(), n, 2, energies.data());
    for (std::int64_t i = 0; i < n; ++i) {
        double force[D] = {}, energy = 0;
        for (std::int64_t e = offsets[i]; e < offsets[i + 1]; ++e) {
            double away[D], square = 0;
            for (int axis = 0; axis < D; ++axis) {
                away[axis] = double(points[i * D + axis]) - points[indices[e] * D + axis];
                square += away[axis] * away[axis];
            }
            energy += weights[e] * std::log1p(square);
            for (int axis = 0; axis < D; ++axis)
                force[axis] += weights[e] * away[axis] / (1 + square);
        }
        assert(std::abs(energies[i] - energy) < 1e-4);
        for (int axis = 0; axis < D; ++axis)
            assert(std::abs(forces[i * D + axis] - force[axis]) < 1e-4);
    }
}

template <int D>
void check_step_and_mesh() {
    const std::int64_t n = 3000, nodes = 64;
    std::vector<float> points = normal_numbers(n * D, 1.0f, 9), velocity(n * D), gains(n * D, 1.0f);
    const std::vector<float> pull = normal_numbers(n * D, 1.0f, 10), push(n * D);
    std::vector<double> box(2 * D);
    unbend::descend<D>(pull.data(), push.data(), n, {0.1f, 0.1f, 0.5f, 5.0f}, 2, velocity.data(),
                       gains.data(), points.data(), box.data());
    unbend::Mesh<D> mesh{nodes, {}, 0.25};
    for (int axis = 0; axis < D; ++axis) {
        double sum = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            sum += points[i * D + axis];
            assert(points[i * D + axis] >= box[axis] && points[i * D + axis] <= box[D + axis]);
        }
        assert(std::abs(sum / n) < 1e-6);
        mesh.origin[axis] = box[axis];
    }
    std::vector<float> density(D == 1 ? nodes : nodes * nodes), forces(n * D);
    unbend::spread_density<D>(points.data(), n, mesh, 2, density.data());
    double total = 0;
    for (float here : density) total += here;
    assert(std::abs(total - n) < 1e-2);
    const std::vector<float> flat(density.size(), 2.0f);
    unbend::gather_forces<D>(points.data(), n, mesh, flat.data(), 0.0f, 2, forces.data());
    for (float force : forces) assert(std::abs(force) < 1e-5);
}

}  // namespace

int main() {
    for (std::int64_t n : {1, 8, 9, 200}) {
        check_repulsion<1>(n);
        check_repulsion<2>(n);
        check_repulsion<3>(n);
    }
    check_attraction<1>();
    check_attraction<2>();
    check_attraction<3>();
    check_step_and_mesh<1>();
    check_step_and_mesh<2>();
    std::puts("layout: ok");
}
