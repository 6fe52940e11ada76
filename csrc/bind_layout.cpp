#include "bind.hpp"
#include "layout_forces.hpp"
#include "layout_graph.hpp"
#include "layout_hash.hpp"
#include "layout_mesh.hpp"
#include "layout_placement.hpp"
#include "layout_tree.hpp"
#include "tall_products.hpp"

namespace unbend {

namespace {

template <int D>
Mesh<D> mesh_of(std::int64_t nodes, const Vector<double> &origin, double spacing) {
    Mesh<D> mesh;
    mesh.nodes = nodes;
    mesh.spacing = spacing;
    for (int axis = 0; axis < D; ++axis) mesh.origin[axis] = origin(axis);
    return mesh;
}

// Calls `body` with the number of columns, 1 to `most`, as a constant.
template <int most = 3, typename Body>
void with_dimension(std::size_t columns, const Body &body) {
    if (most == 1 || columns == 1)
        body(std::integral_constant<int, 1>());
    else if (most == 2 || columns == 2)
        body(std::integral_constant<int, 2>());
    else
        body(std::integral_constant<int, most>());
}

using Flat = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Hashes = nb::ndarray<std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Offsets = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

}  // namespace

void bind_layout_functions(nb::module_ &module) {
    module.def(
        "spread_density",
        [](Matrix<const float> points, Vector<double> origin, double spacing, std::int64_t nodes,
           int threads, Flat density) {
            nb::gil_scoped_release release;
            with_dimension<2>(points.shape(1), [&](auto d) {
                constexpr int D = decltype(d)::value;
                spread_density<D>(points.data(), points.shape(0), mesh_of<D>(nodes, origin, spacing),
                                  threads, density.data());
            });
        },
        nb::arg("points").noconvert(), nb::arg("origin").noconvert(), nb::arg("spacing"),
        nb::arg("nodes"), nb::arg("threads"), nb::arg("density").noconvert());
    module.def(
        "gather_forces",
        [](Matrix<const float> points, Vector<double> origin, double spacing, std::int64_t nodes,
           Vector<float> potential, float own_force, int threads, Matrix<float> forces) {
            nb::gil_scoped_release release;
            with_dimension<2>(points.shape(1), [&](auto d) {
                constexpr int D = decltype(d)::value;
                gather_forces<D>(points.data(), points.shape(0), mesh_of<D>(nodes, origin, spacing),
                                 potential.data(), own_force, threads, forces.data());
            });
        },
        nb::arg("points").noconvert(), nb::arg("origin").noconvert(), nb::arg("spacing"),
        nb::arg("nodes"), nb::arg("potential").noconvert(), nb::arg("own_force"),
        nb::arg("threads"), nb::arg("forces").noconvert());
    module.def(
        "convolve",
        [](Flat waves, Vector<float> for_potential, Vector<float> for_sums, int threads) {
            nb::gil_scoped_release release;
            return convolve(waves.data(), for_potential.data(), for_sums.data(),
                            for_sums.shape(0), threads);
        },
        nb::arg("waves").noconvert(), nb::arg("for_potential").noconvert(),
        nb::arg("for_sums").noconvert(), nb::arg("threads"));
    module.def(
        "attract",
        [](Vector<std::int64_t> offsets, Vector<std::int32_t> indices, Vector<float> weights,
           Matrix<const float> points, int threads, Matrix<float> forces) {
            nb::gil_scoped_release release;
            with_dimension(points.shape(1), [&](auto d) {
                attract<decltype(d)::value>({offsets.data(), indices.data(), weights.data()},
                                            points.data(), points.shape(0), threads, forces.data());
            });
        },
        nb::arg("offsets").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("points").noconvert(), nb::arg("threads"),
        nb::arg("forces").noconvert());
    module.def(
        "attractive_energy",
        [](Vector<std::int64_t> offsets, Vector<std::int32_t> indices, Vector<float> weights,
           Matrix<const float> points, int threads, Sums energies) {
            nb::gil_scoped_release release;
            with_dimension(points.shape(1), [&](auto d) {
                attractive_energy<decltype(d)::value>(
                    {offsets.data(), indices.data(), weights.data()}, points.data(),
                    points.shape(0), threads, energies.data());
            });
        },
        nb::arg("offsets").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("points").noconvert(), nb::arg("threads"),
        nb::arg("energies").noconvert());
    module.def(
        "renumber",
        [](Vector<std::int64_t> offsets, Vector<std::int32_t> indices, Vector<float> weights,
           Vector<std::int64_t> order, Vector<std::int32_t> inverse,
           Vector<std::int64_t> new_offsets, int threads, Numbers new_indices, Flat new_weights) {
            nb::gil_scoped_release release;
            renumber({offsets.data(), indices.data(), weights.data()}, order.data(),
                     inverse.data(), order.shape(0), new_offsets.data(), threads,
                     new_indices.data(), new_weights.data());
        },
        nb::arg("offsets").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("order").noconvert(),
        nb::arg("inverse").noconvert(), nb::arg("new_offsets").noconvert(), nb::arg("threads"),
        nb::arg("new_indices").noconvert(), nb::arg("new_weights").noconvert());
    module.def(
        "descend",
        [](Matrix<const float> attraction, Matrix<const float> repulsion, float pull, float push,
           float momentum, float longest, int threads, Matrix<float> velocity, Matrix<float> gains,
           Matrix<float> points, Matrix<double> box) {
            nb::gil_scoped_release release;
            with_dimension(points.shape(1), [&](auto d) {
                descend<decltype(d)::value>(attraction.data(), repulsion.data(), points.shape(0),
                                            {pull, push, momentum, longest}, threads,
                                            velocity.data(), gains.data(), points.data(),
                                            box.data());
            });
        },
        nb::arg("attraction").noconvert(), nb::arg("repulsion").noconvert(), nb::arg("pull"),
        nb::arg("push"), nb::arg("momentum"), nb::arg("longest"), nb::arg("threads"),
        nb::arg("velocity").noconvert(), nb::arg("gains").noconvert(),
        nb::arg("points").noconvert(), nb::arg("box").noconvert());
    module.def(
        "place_on_mesh",
        [](Matrix<const std::int32_t> indices, Matrix<const float> weights,
           Matrix<const float> layout, Vector<double> origin, double spacing, std::int64_t nodes,
           Vector<float> potential, float push, int most, int threads, Matrix<float> placed) {
            nb::gil_scoped_release release;
            const std::function<void()> poll = check_signals;
            Poller poller(poll);
            with_dimension<2>(layout.shape(1), [&](auto d) {
                constexpr int D = decltype(d)::value;
                const MeshField<D> field{mesh_of<D>(nodes, origin, spacing), potential.data()};
                place_points<D>(indices.data(), weights.data(), indices.shape(0), indices.shape(1),
                                layout.data(), field, push, most, threads, poller, placed.data());
            });
        },
        nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("layout").noconvert(), nb::arg("origin").noconvert(), nb::arg("spacing"),
        nb::arg("nodes"), nb::arg("potential").noconvert(), nb::arg("push"), nb::arg("most"),
        nb::arg("threads"), nb::arg("placed").noconvert());
    module.def(
        "place_by_tree",
        [](Matrix<const std::int32_t> indices, Matrix<const float> weights,
           Matrix<const float> layout, float opening, float push, int most, int threads,
           Matrix<float> placed) {
            nb::gil_scoped_release release;
            const std::function<void()> poll = check_signals;
            Poller poller(poll);
            with_dimension(layout.shape(1), [&](auto d) {
                constexpr int D = decltype(d)::value;
                const Tree<D> tree(layout.data(), layout.shape(0), opening, threads);
                place_points<D>(indices.data(), weights.data(), indices.shape(0), indices.shape(1),
                                layout.data(), tree, push, most, threads, poller, placed.data());
            });
        },
        nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("layout").noconvert(), nb::arg("opening"), nb::arg("push"), nb::arg("most"),
        nb::arg("threads"), nb::arg("placed").noconvert());
    module.def(
        "repel_by_tree",
        [](Matrix<const float> points, float opening, int threads, Matrix<float> forces,
           Sums normalizers) {
            nb::gil_scoped_release release;
            with_dimension(points.shape(1), [&](auto d) {
                repel_by_tree<decltype(d)::value>(points.data(), points.shape(0), opening, threads,
                                                  forces.data(), normalizers.data());
            });
        },
        nb::arg("points").noconvert(), nb::arg("opening"), nb::arg("threads"),
        nb::arg("forces").noconvert(), nb::arg("normalizers").noconvert());
    module.def(
        "repel_exactly",
        [](Matrix<const float> points, Matrix<const float> others, int threads,
           Matrix<float> forces, Sums normalizers) {
            nb::gil_scoped_release release;
            const std::function<void()> poll = check_signals;
            Poller poller(poll);
            with_dimension(points.shape(1), [&](auto d) {
                repel_exactly<decltype(d)::value>(points.data(), points.shape(0), others.data(),
                                                  others.shape(0), threads, poller, forces.data(),
                                                  normalizers.data());
            });
        },
        nb::arg("points").noconvert(), nb::arg("others").noconvert(), nb::arg("threads"),
        nb::arg("forces").noconvert(), nb::arg("normalizers").noconvert());
    module.def(
        "sum_weights",
        [](Matrix<const float> points, int threads) {
            nb::gil_scoped_release release;
            const std::function<void()> poll = check_signals;
            Poller poller(poll);
            double total = 0;
            with_dimension(points.shape(1), [&](auto d) {
                total = sum_weights<decltype(d)::value>(points.data(), points.shape(0), threads,
                                                        poller);
            });
            return total;
        },
        nb::arg("points").noconvert(), nb::arg("threads"));
}

void bind_graph_functions(nb::module_ &module) {
    module.def(
        "transpose",
        [](Vector<std::int64_t> offsets, Vector<std::int32_t> indices, Vector<double> weights,
           int threads, Offsets new_offsets, Numbers new_indices, Sums new_weights) {
            nb::gil_scoped_release release;
            transpose({offsets.data(), indices.data(), weights.data()}, offsets.shape(0) - 1,
                      threads, new_offsets.data(), new_indices.data(), new_weights.data());
        },
        nb::arg("offsets").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("threads"), nb::arg("new_offsets").noconvert(),
        nb::arg("new_indices").noconvert(), nb::arg("new_weights").noconvert());
    module.def(
        "count_sums",
        [](Vector<std::int64_t> offsets, Vector<std::int32_t> indices,
           Vector<std::int64_t> other_offsets, Vector<std::int32_t> other_indices, int threads,
           Offsets counts) {
            nb::gil_scoped_release release;
            count_sums({offsets.data(), indices.data(), nullptr},
                       {other_offsets.data(), other_indices.data(), nullptr},
                       offsets.shape(0) - 1, threads, counts.data());
        },
        nb::arg("offsets").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("other_offsets").noconvert(), nb::arg("other_indices").noconvert(),
        nb::arg("threads"), nb::arg("counts").noconvert());
    module.def(
        "add_rows",
        [](Vector<std::int64_t> offsets, Vector<std::int32_t> indices, Vector<double> weights,
           Vector<std::int64_t> other_offsets, Vector<std::int32_t> other_indices,
           Vector<double> other_weights, Vector<std::int64_t> new_offsets, int threads,
           Numbers new_indices, Sums new_weights) {
            nb::gil_scoped_release release;
            add_rows({offsets.data(), indices.data(), weights.data()},
                     {other_offsets.data(), other_indices.data(), other_weights.data()},
                     offsets.shape(0) - 1, new_offsets.data(), threads, new_indices.data(),
                     new_weights.data());
        },
        nb::arg("offsets").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("other_offsets").noconvert(),
        nb::arg("other_indices").noconvert(), nb::arg("other_weights").noconvert(),
        nb::arg("new_offsets").noconvert(), nb::arg("threads"), nb::arg("new_indices").noconvert(),
        nb::arg("new_weights").noconvert());
    module.def(
        "laplacian_product",
        [](Vector<std::int64_t> offsets, Vector<std::int32_t> indices, Vector<float> weights,
           Vector<double> diagonal, Vector<double> scale, Matrix<const double> block, int threads,
           Matrix<double> image) {
            nb::gil_scoped_release release;
            laplacian_product({offsets.data(), indices.data(), weights.data()},
                              offsets.shape(0) - 1, diagonal.data(), scale.data(), block.data(),
                              block.shape(1), threads, image.data());
        },
        nb::arg("offsets").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("diagonal").noconvert(),
        nb::arg("scale").noconvert(), nb::arg("block").noconvert(), nb::arg("threads"),
        nb::arg("image").noconvert());
    module.def(
        "inner_products",
        [](Matrix<const double> basis, Matrix<const double> block, int threads,
           Matrix<double> products) {
            nb::gil_scoped_release release;
            inner_products({basis.data(), static_cast<std::int64_t>(basis.shape(0)),
                            static_cast<std::int64_t>(basis.shape(1))},
                           block.data(), block.shape(1), threads, products.data());
        },
        nb::arg("basis").noconvert(), nb::arg("block").noconvert(), nb::arg("threads"),
        nb::arg("products").noconvert());
    module.def(
        "gram",
        [](Matrix<const double> block, int threads, Matrix<double> products) {
            nb::gil_scoped_release release;
            gram(block.data(), block.shape(0), block.shape(1), threads, products.data());
        },
        nb::arg("block").noconvert(), nb::arg("threads"), nb::arg("products").noconvert());
    module.def(
        "store_columns",
        [](Matrix<const double> block, int threads, Matrix<double> vectors) {
            nb::gil_scoped_release release;
            store_columns(block.data(), block.shape(0), block.shape(1), threads, vectors.data());
        },
        nb::arg("block").noconvert(), nb::arg("threads"), nb::arg("vectors").noconvert());
    module.def(
        "turn_rows",
        [](Matrix<const double> block, Matrix<const double> turn, int threads,
           Matrix<double> turned) {
            nb::gil_scoped_release release;
            turn_rows(block.data(), block.shape(0), block.shape(1), turn.data(), threads,
                      turned.data());
        },
        nb::arg("block").noconvert(), nb::arg("turn").noconvert(), nb::arg("threads"),
        nb::arg("turned").noconvert());
    module.def(
        "hash_rows",
        [](Matrix<const double> points, Vector<std::uint64_t> factors, int threads,
           Hashes hashes) {
            nb::gil_scoped_release release;
            hash_rows(points.data(), points.shape(0), points.shape(1), factors.data(), threads,
                      hashes.data());
        },
        nb::arg("points").noconvert(), nb::arg("factors").noconvert(), nb::arg("threads"),
        nb::arg("hashes").noconvert());
    module.def(
        "hash_neighbors",
        [](Vector<std::int64_t> offsets, Vector<std::int32_t> indices, Vector<double> weights,
           int bits, Vector<std::uint64_t> state, int threads, Hashes hashes) {
            nb::gil_scoped_release release;
            hash_neighbors(offsets.data(), indices.data(), weights.data(), bits, state.data(),
                           offsets.shape(0) - 1, threads, hashes.data());
        },
        nb::arg("offsets").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("bits"), nb::arg("state").noconvert(),
        nb::arg("threads"), nb::arg("hashes").noconvert());
    module.def(
        "add_combinations",
        [](Matrix<const double> basis, Matrix<const double> coefficients, int threads,
           Matrix<double> block) {
            nb::gil_scoped_release release;
            add_combinations({basis.data(), static_cast<std::int64_t>(basis.shape(0)),
                              static_cast<std::int64_t>(basis.shape(1))},
                             coefficients.data(), coefficients.shape(1), threads, block.data());
        },
        nb::arg("basis").noconvert(), nb::arg("coefficients").noconvert(), nb::arg("threads"),
        nb::arg("block").noconvert());
}

}  // namespace unbend

void bind_layout(nanobind::module_ &module) {
    unbend::bind_layout_functions(module);
    unbend::bind_graph_functions(module);
}
