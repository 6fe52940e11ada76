// Python's view of the neighbour kernels. Compiled without contraction of a * b + c, so that
// distances, and with them ties, are the same on every machine.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>
#include <utility>

#include "barycentric.hpp"
#include "bind.hpp"
#include "both_ways.hpp"
#include "components.hpp"
#include "glue.hpp"
#include "local_weights.hpp"
#include "rank.hpp"
#include "select.hpp"
#include "spanning_trees.hpp"
#include "spatial_order.hpp"

namespace nb = nanobind;

namespace {

template <typename Scalar>
using Vector = nb::ndarray<const Scalar, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename Scalar>
using Matrix = nb::ndarray<const Scalar, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename Scalar>
using Filled = nb::ndarray<Scalar, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Order = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::int64_t length(std::size_t size) { return static_cast<std::int64_t>(size); }

template <typename Real>
void smallest(Matrix<Real> values, int threads, Filled<std::int32_t> indices, Filled<Real> keys) {
    nb::gil_scoped_release release;
    unbend::smallest(values.data(), length(values.shape(0)), length(values.shape(1)),
                     length(indices.shape(1)), threads, indices.data(), keys.data());
}

template <typename Number, typename Query, typename Real>
void rank(Matrix<Number> points, Matrix<Query> queries, Vector<std::int32_t> rows, double scale,
          Matrix<std::int32_t> candidates, Matrix<Real> bounds, bool complete, int threads,
          Filled<std::int32_t> indices, Filled<double> distances,
          nb::ndarray<bool, nb::ndim<1>, nb::c_contig, nb::device::cpu> sure) {
    const unbend::Candidates<Real> given{candidates.data(), bounds.data(),
                                         length(candidates.shape(1)), complete};
    nb::gil_scoped_release release;
    const unbend::Queries<Query> asked{queries.data(), rows.data(), length(rows.shape(0))};
    unbend::rank_all(points.data(), asked, length(points.shape(1)), scale, given, length(indices.shape(1)), threads,
                     indices.data(), distances.data(), sure.data());
}

template <typename Numbers>
nb::ndarray<nb::numpy, typename Numbers::value_type, nb::ndim<1>> owned(Numbers &&numbers) {
    auto *kept = new Numbers(std::move(numbers));
    nb::capsule owner(kept, [](void *p) noexcept { delete static_cast<Numbers *>(p); });
    return {kept->data(), {kept->size()}, owner};
}

nb::tuple both_ways(Vector<std::int64_t> row, Vector<std::int32_t> column, Vector<double> value,
                    double absent) {
    unbend::BothWays<double> result;
    {
        nb::gil_scoped_release release;
        result = unbend::both_ways(length(row.shape(0)) - 1, row.data(), column.data(),
                                   value.data(), absent);
    }
    return nb::make_tuple(owned(std::move(result.row)), owned(std::move(result.column)),
                          owned(std::move(result.forth)), owned(std::move(result.back)));
}

nb::tuple merge_directions(Vector<std::int64_t> row, Vector<std::int32_t> column,
                           Vector<double> value, int how, int threads) {
    if (how < 0 || how > 2) throw std::invalid_argument("directions are merged in three ways");
    unbend::Compressed<double> result;
    {
        nb::gil_scoped_release release;
        result = unbend::merge_directions(length(row.shape(0)) - 1, row.data(), column.data(),
                                          value.data(), static_cast<unbend::Merge>(how), threads);
    }
    return nb::make_tuple(owned(std::move(result.row)), owned(std::move(result.column)),
                          owned(std::move(result.value)));
}

void components(Vector<std::int64_t> row, Vector<std::int32_t> column,
                nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> labels) {
    nb::gil_scoped_release release;
    unbend::components(length(row.shape(0)) - 1, row.data(), column.data(), labels.data());
}

void glue_blocks(std::int64_t points, Vector<std::int64_t> offset, Vector<std::int32_t> member,
                 std::int32_t least,
                 nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> piece) {
    nb::gil_scoped_release release;
    unbend::glue_blocks(points, length(offset.shape(0)) - 1, offset.data(), member.data(), least,
                        piece.data());
}

void spanning_trees(Matrix<std::int32_t> indices, Matrix<double> distances, Matrix<bool> inside,
                    Vector<std::int64_t> widths,
                    nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> counts,
                    nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu> lengths) {
    nb::gil_scoped_release release;
    unbend::spanning_trees(indices.data(), distances.data(), length(indices.shape(0)),
                           length(indices.shape(1)), inside.data(), widths.data(),
                           length(widths.shape(0)), counts.data(), lengths.data());
}

void barycentric_weights(nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>
                             coordinates,
                         double reg, int threads, Filled<double> weights) {
    nb::gil_scoped_release release;
    unbend::barycentric_weights(coordinates.data(), length(coordinates.shape(0)),
                                length(coordinates.shape(1)), length(coordinates.shape(2)), reg,
                                threads, weights.data());
}

template <typename Number>
void place_barycentric(Matrix<Number> points, Matrix<double> values, Matrix<double> queries,
                       Matrix<std::int32_t> near, double reg, int threads, Filled<double> placed) {
    if (queries.shape(1) != points.shape(1) || near.shape(0) != queries.shape(0) ||
        placed.shape(0) != queries.shape(0) || placed.shape(1) != values.shape(1))
        throw std::invalid_argument("the arrays do not fit each other");
    const unbend::Stored<Number> stored{points.data(), values.data(), length(points.shape(1)),
                                        length(values.shape(1))};
    nb::gil_scoped_release release;
    unbend::place_barycentric(stored, queries.data(), near.data(), length(near.shape(0)),
                              length(near.shape(1)), reg, threads, placed.data());
}

void combine_rows(Matrix<double> values, Matrix<std::int32_t> near, Matrix<double> weights,
                  int threads, Filled<double> sums) {
    nb::gil_scoped_release release;
    unbend::combine_rows(values.data(), length(values.shape(1)), near.data(), weights.data(),
                         length(near.shape(0)), length(near.shape(1)), threads, sums.data());
}

template <typename Number>
void spatial_order(Matrix<Number> points, int threads, Order order) {
    if (points.shape(0) != order.shape(0) || points.shape(0) == 0 || points.shape(1) == 0)
        throw std::invalid_argument("the order needs a place for each of the points");
    nb::gil_scoped_release release;
    unbend::SpatialOrder<Number>(points.data(), length(points.shape(0)), length(points.shape(1)),
                                 threads)
        .run(order.data());
}

template <typename Number>
void bind_spatial_order(nb::module_ &module) {
    module.def("spatial_order", &spatial_order<Number>, nb::arg("points").noconvert(),
               nb::arg("threads"), nb::arg("order").noconvert());
}

template <typename Number>
void bind_placement(nb::module_ &module) {
    module.def("place_barycentric", &place_barycentric<Number>, nb::arg("points").noconvert(),
               nb::arg("values").noconvert(), nb::arg("queries").noconvert(),
               nb::arg("near").noconvert(), nb::arg("reg"), nb::arg("threads"),
               nb::arg("placed").noconvert());
}

template <typename Number, typename Query, typename Real>
void bind_rank(nb::module_ &module) {
    module.def("rank", &rank<Number, Query, Real>, nb::arg("points").noconvert(),
               nb::arg("queries").noconvert(), nb::arg("rows").noconvert(), nb::arg("scale"),
               nb::arg("candidates").noconvert(), nb::arg("bounds").noconvert(),
               nb::arg("complete"), nb::arg("threads"), nb::arg("indices").noconvert(),
               nb::arg("distances").noconvert(), nb::arg("sure").noconvert());
}

template <typename Real>
void bind_selection(nb::module_ &module) {
    module.def("smallest", &smallest<Real>, nb::arg("values").noconvert(), nb::arg("threads"),
               nb::arg("indices").noconvert(), nb::arg("keys").noconvert());
    bind_rank<double, double, Real>(module);
    bind_rank<double, float, Real>(module);
    bind_rank<float, double, Real>(module);
    bind_rank<float, float, Real>(module);
}

}  // namespace

void bind_neighbors(nb::module_ &module) {
    bind_selection<float>(module);
    bind_selection<double>(module);
    module.def("both_ways", &both_ways, nb::arg("row"), nb::arg("column"), nb::arg("value"),
               nb::arg("absent"));
    module.def("merge_directions", &merge_directions, nb::arg("row"), nb::arg("column"),
               nb::arg("value"), nb::arg("how"), nb::arg("threads") = 1);
    module.def("components", &components, nb::arg("row"), nb::arg("column"),
               nb::arg("labels").noconvert());
    module.def("glue_blocks", &glue_blocks, nb::arg("points"), nb::arg("offset"),
               nb::arg("member"), nb::arg("least"), nb::arg("piece").noconvert());
    module.def("spanning_trees", &spanning_trees, nb::arg("indices").noconvert(),
               nb::arg("distances").noconvert(), nb::arg("inside").noconvert(), nb::arg("widths"),
               nb::arg("counts").noconvert(), nb::arg("lengths").noconvert());
    bind_placement<float>(module);
    bind_placement<double>(module);
    module.def("combine_rows", &combine_rows, nb::arg("values").noconvert(),
               nb::arg("near").noconvert(), nb::arg("weights").noconvert(), nb::arg("threads"),
               nb::arg("sums").noconvert());
    bind_spatial_order<float>(module);
    bind_spatial_order<double>(module);
    module.def("barycentric_weights", &barycentric_weights, nb::arg("coordinates").noconvert(),
               nb::arg("reg"), nb::arg("threads"), nb::arg("weights").noconvert());
}
