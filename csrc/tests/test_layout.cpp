// Forces of layouts against plain loops, for several numbers of threads. Runs under sanitizers.
#undef NDEBUG
#include <cassert>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "layout_forces.hpp"
#include "layout_graph.hpp"
#include "layout_hash.hpp"
#include "layout_mesh.hpp"
#include "layout_placement.hpp"
#include "layout_tree.hpp"
#include "tall_products.hpp"

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

// The graph of a layout and products with it, of sizes that share their work between threads.
std::vector<double> graph_results(int threads) {
    const std::int64_t n = 30000, degree = 9, width = 5, count = 7;
    std::vector<std::int64_t> offsets(n + 1), back(n + 1), starts(n + 1);
    std::vector<std::int32_t> indices(n * degree), back_indices(n * degree);
    for (std::int64_t i = 0; i <= n; ++i) offsets[i] = i * degree;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t e = 0; e < degree; ++e)
            indices[i * degree + e] = static_cast<std::int32_t>((i + 1 + e * e * 31) % n);
    const std::vector<float> normal = normal_numbers(n * degree, 1.0f, 4);
    std::vector<double> weights(normal.begin(), normal.end()), back_weights(n * degree), found;
    const auto keep = [&](const auto &numbers) {
        found.insert(found.end(), numbers.begin(), numbers.end());
    };
    const unbend::Conditional graph{offsets.data(), indices.data(), weights.data()};
    unbend::transpose(graph, n, threads, back.data(), back_indices.data(), back_weights.data());
    const unbend::Conditional other{back.data(), back_indices.data(), back_weights.data()};
    unbend::count_sums(graph, other, n, threads, starts.data() + 1);
    for (std::int64_t i = 0; i < n; ++i) starts[i + 1] += starts[i];
    std::vector<std::int32_t> columns(starts[n]);
    std::vector<double> sums(starts[n]);
    unbend::add_rows(graph, other, n, starts.data(), threads, columns.data(), sums.data());
    double total = 0, twice = 0;
    for (double weight : weights) total += 2 * weight;
    for (double sum : sums) twice += sum;
    assert(std::abs(total - twice) < 1e-6);
    keep(columns);
    keep(sums);
    const std::vector<float> single(sums.begin(), sums.end());
    std::vector<double> block(n * width), image(n * width), ones(n, 1.0), roots(n, 0.5);
    for (std::size_t at = 0; at < block.size(); ++at) block[at] = normal[at % normal.size()];
    unbend::laplacian_product({starts.data(), columns.data(), single.data()}, n, ones.data(),
                              roots.data(), block.data(), width, threads, image.data());
    keep(image);
    std::vector<double> basis(n * count), products(count * width), gram(width * width);
    for (std::size_t at = 0; at < basis.size(); ++at) basis[at] = normal[(7 * at) % normal.size()];
    unbend::inner_products({basis.data(), count, n}, block.data(), width, threads, products.data());
    unbend::gram(block.data(), n, width, threads, gram.data());
    unbend::add_combinations({basis.data(), count, n}, products.data(), width, threads,
                             block.data());
    keep(products);
    keep(gram);
    keep(block);
    std::vector<std::uint64_t> hashes(n), state(n, 3), factors(width, 5);
    unbend::hash_rows(image.data(), n, width, factors.data(), threads, hashes.data());
    keep(hashes);
    unbend::hash_neighbors(offsets.data(), indices.data(), weights.data(), 12, state.data(), n,
                           threads, hashes.data());
    keep(hashes);
    return found;
}

// What every kernel writes for a layout large enough that it shares its work between threads.
template <int D>
std::vector<float> all_results(int threads) {
    const std::int64_t n = 70000, degree = 12, nodes = 512 / D, new_points = 500;
    std::vector<float> points = normal_numbers(n * D, 8.0f, 1), found;
    const auto keep = [&](const auto &numbers) {
        for (const auto number : numbers) found.push_back(static_cast<float>(number));
    };
    std::vector<std::int64_t> offsets(n + 1), order(n);
    std::vector<std::int32_t> indices(n * degree), inverse(n), columns(n * degree);
    for (std::int64_t i = 0; i <= n; ++i) offsets[i] = i * degree;
    for (std::int64_t e = 0; e < n * degree; ++e)
        indices[e] = static_cast<std::int32_t>(e * 7919 % n);
    for (std::int64_t i = 0; i < n; ++i) {
        order[i] = i * 31 % n;
        inverse[order[i]] = static_cast<std::int32_t>(i);
    }
    std::vector<float> weights = normal_numbers(n * degree, 1.0f, 2), renumbered(n * degree);
    for (float &weight : weights) weight = std::abs(weight);
    const unbend::Affinities graph{offsets.data(), indices.data(), weights.data()};
    std::vector<float> attraction(n * D), repulsion(n * D), velocity(n * D), gains(n * D, 1.0f);
    std::vector<double> sums(n), box(2 * D);
    unbend::attract<D>(graph, points.data(), n, threads, attraction.data());
    unbend::attractive_energy<D>(graph, points.data(), n, threads, sums.data());
    unbend::renumber(graph, order.data(), inverse.data(), n, offsets.data(), threads,
                     columns.data(), renumbered.data());
    keep(attraction);
    keep(sums);
    keep(columns);
    keep(renumbered);
    const std::int64_t few = 2000;
    const std::function<void()> nobody;
    unbend::Poller poller(nobody);
    unbend::repel_by_tree<D>(points.data(), 10 * few, 0.8f, threads, repulsion.data(), sums.data());
    keep(repulsion);
    unbend::repel_exactly<D>(points.data(), few, points.data(), few, threads, poller,
                             repulsion.data(), sums.data());
    keep(repulsion);
    keep(sums);
    keep(std::vector<double>{unbend::sum_weights<D>(points.data(), few, threads, poller)});
    const unbend::Step step{1e-3f, 1e-3f, 0.5f, 5.0f};
    unbend::descend<D>(attraction.data(), repulsion.data(), n, step, threads, velocity.data(),
                       gains.data(), points.data(), box.data());
    keep(points);
    keep(velocity);
    std::vector<float> near(new_points * degree, 1.0f / degree), placed(new_points * D);
    const unbend::Tree<D> tree(points.data(), few, 0.8f, threads);
    std::vector<std::int32_t> some(new_points * degree);
    for (std::size_t e = 0; e < some.size(); ++e) some[e] = static_cast<std::int32_t>(e * 37 % few);
    unbend::place_points<D>(some.data(), near.data(), new_points, degree, points.data(), tree, 0.01f,
                            20, threads, poller, placed.data());
    keep(placed);
    if constexpr (D < 3) {
        unbend::Mesh<D> mesh{nodes, {}, 0.0};
        for (int axis = 0; axis < D; ++axis) {
            mesh.origin[axis] = box[axis];
            mesh.spacing = std::max(mesh.spacing, (box[D + axis] - box[axis]) / (nodes - 5.0));
        }
        std::vector<float> density(D == 1 ? nodes : nodes * nodes);
        unbend::spread_density<D>(points.data(), n, mesh, threads, density.data());
        unbend::gather_forces<D>(points.data(), n, mesh, density.data(), 0.1f, threads,
                                 repulsion.data());
        keep(density);
        keep(repulsion);
        const unbend::MeshField<D> field{mesh, density.data()};
        unbend::place_points<D>(some.data(), near.data(), new_points, degree, points.data(), field,
                                0.001f, 20, threads, poller, placed.data());
        keep(placed);
        std::vector<float> waves = normal_numbers(2 * n * D, 1.0f, 4);
        waves.resize(400000, 0.5f);
        const std::vector<float> factors = normal_numbers(200000, 1.0f, 5);
        keep(std::vector<double>{unbend::convolve(waves.data(), factors.data(), factors.data(),
                                                  200000, threads)});
        keep(waves);
    }
    return found;
}

// Threads of a region and kept threads write the bits of one thread.
template <int D>
void check_threads() {
    const std::vector<float> one = all_results<D>(1);
    assert(all_results<D>(3) == one);
    unbend::Team team(3);
    unbend::Team::current() = &team;
    assert(all_results<D>(3) == one);
    unbend::Team::current() = nullptr;
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
    check_threads<1>();
    check_threads<2>();
    check_threads<3>();
    const std::vector<double> one = graph_results(1);
    for (int threads : {2, 3}) assert(graph_results(threads) == one);
    std::puts("layout: ok");
}
