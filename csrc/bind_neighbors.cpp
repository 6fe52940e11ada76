// Python's view of the neighbour kernels. Compiled without contraction of a * b + c, so that
// distances, and with them ties, are the same on every machine.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>
#include <utility>

#include "bind.hpp"
#include "both_ways.hpp"
#include "components.hpp"
#include "kd_build.hpp"
#include "kd_search.hpp"
#include "local_weights.hpp"
#include "rank.hpp"
#include "select.hpp"
#include "spanning_trees.hpp"

namespace nb = nanobind;

namespace {

using unbend::check_signals;

template <typename Scalar>
using Vector = nb::ndarray<const Scalar, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename Scalar>
using Matrix = nb::ndarray<const Scalar, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename Scalar>
using Filled = nb::ndarray<Scalar, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::int64_t length(std::size_t size) { return static_cast<std::int64_t>(size); }

class BoundKdTree {
  public:
    BoundKdTree(Matrix<double> points, double norm, int threads) : norm_(norm) {
        if (points.shape(0) == 0 || points.shape(1) == 0)
            throw std::invalid_argument("a tree needs rows and columns");
        nb::gil_scoped_release release;
        tree_ = unbend::build_kd_tree(points.data(), length(points.shape(0)),
                                      static_cast<int>(points.shape(1)), threads, check_signals);
    }

    std::int64_t leaves() const { return length(tree_.leaves.size()); }

    void neighbors(std::int64_t first, std::int64_t last, int threads, Filled<std::int32_t> indices,
                   Filled<double> distances) const {
        const std::int64_t k = length(indices.shape(1));
        check(indices, distances, tree_.rows, tree_.rows - 1);
        if (first < 0 || last > leaves()) throw std::invalid_argument("there are no such leaves");
        nb::gil_scoped_release release;
        for_norm([&](auto norm) {
            unbend::kd_neighbors<decltype(norm)>(tree_, first, last, k, threads, indices.data(),
                                                 distances.data());
        });
    }

    void nearest_of(Matrix<double> points, int threads, Filled<std::int32_t> indices,
                    Filled<double> distances) const {
        const std::int64_t count = length(points.shape(0)), k = length(indices.shape(1));
        check(indices, distances, count, tree_.rows);
        if (length(points.shape(1)) != tree_.columns)
            throw std::invalid_argument("the rows have another number of columns than the tree");
        nb::gil_scoped_release release;
        unbend::largest_size(points.data(), count * tree_.columns);
        for_norm([&](auto norm) {
            unbend::kd_nearest_of<decltype(norm)>(tree_, points.data(), count, k, threads,
                                                  indices.data(), distances.data());
        });
    }

  private:
    static void check(const Filled<std::int32_t> &indices, const Filled<double> &distances,
                      std::int64_t rows, std::int64_t most) {
        const std::int64_t k = length(indices.shape(1));
        if (k < 1 || k > most || length(indices.shape(0)) != rows ||
            length(distances.shape(0)) != rows || length(distances.shape(1)) != k)
            throw std::invalid_argument("the results have the wrong shape");
    }

    template <typename Body>
    void for_norm(const Body &body) const {
        if (norm_ == 1)
            body(unbend::Manhattan{});
        else if (norm_ == 2)
            body(unbend::Euclidean{});
        else
            body(unbend::Chebyshev{});
    }

    unbend::KdTree tree_;
    double norm_;
};

template <typename Real>
void smallest(Matrix<Real> values, int threads, Filled<std::int32_t> indices, Filled<Real> keys) {
    nb::gil_scoped_release release;
    unbend::smallest(values.data(), length(values.shape(0)), length(values.shape(1)),
                     length(indices.shape(1)), threads, indices.data(), keys.data());
}

template <typename Real>
void rank(Matrix<double> points, Matrix<double> queries, double scale,
          Matrix<std::int32_t> candidates, Matrix<Real> bounds, bool complete, int threads,
          Filled<std::int32_t> indices, Filled<double> distances,
          nb::ndarray<bool, nb::ndim<1>, nb::c_contig, nb::device::cpu> sure) {
    const unbend::Candidates<Real> given{candidates.data(), bounds.data(),
                                         length(candidates.shape(1)), complete};
    nb::gil_scoped_release release;
    unbend::rank_all(points.data(), queries.data(), length(queries.shape(0)),
                     length(points.shape(1)), scale, given, length(indices.shape(1)), threads,
                     indices.data(), distances.data(), sure.data());
}

template <typename Scalar>
nb::ndarray<nb::numpy, Scalar, nb::ndim<1>> owned(std::vector<Scalar> &&numbers) {
    auto *kept = new std::vector<Scalar>(std::move(numbers));
    nb::capsule owner(kept, [](void *p) noexcept { delete static_cast<std::vector<Scalar> *>(p); });
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

void components(Vector<std::int64_t> row, Vector<std::int32_t> column,
                nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> labels) {
    nb::gil_scoped_release release;
    unbend::components(length(row.shape(0)) - 1, row.data(), column.data(), labels.data());
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

template <typename Real>
void bind_selection(nb::module_ &module) {
    module.def("smallest", &smallest<Real>, nb::arg("values").noconvert(), nb::arg("threads"),
               nb::arg("indices").noconvert(), nb::arg("keys").noconvert());
    module.def("rank", &rank<Real>, nb::arg("points").noconvert(),
               nb::arg("queries").noconvert(), nb::arg("scale"),
               nb::arg("candidates").noconvert(), nb::arg("bounds").noconvert(),
               nb::arg("complete"), nb::arg("threads"), nb::arg("indices").noconvert(),
               nb::arg("distances").noconvert(), nb::arg("sure").noconvert());
}

}  // namespace

void bind_neighbors(nb::module_ &module) {
    nb::class_<BoundKdTree>(module, "KdTree")
        .def(nb::init<Matrix<double>, double, int>(), nb::arg("points").noconvert(),
             nb::arg("norm"), nb::arg("threads"))
        .def_prop_ro("leaves", &BoundKdTree::leaves)
        .def("neighbors", &BoundKdTree::neighbors, nb::arg("first"), nb::arg("last"),
             nb::arg("threads"), nb::arg("indices").noconvert(), nb::arg("distances").noconvert())
        .def("nearest_of", &BoundKdTree::nearest_of, nb::arg("points").noconvert(),
             nb::arg("threads"), nb::arg("indices").noconvert(), nb::arg("distances").noconvert());
    bind_selection<float>(module);
    bind_selection<double>(module);
    module.def("both_ways", &both_ways, nb::arg("row"), nb::arg("column"), nb::arg("value"),
               nb::arg("absent"));
    module.def("components", &components, nb::arg("row"), nb::arg("column"),
               nb::arg("labels").noconvert());
    module.def("spanning_trees", &spanning_trees, nb::arg("indices").noconvert(),
               nb::arg("distances").noconvert(), nb::arg("inside").noconvert(), nb::arg("widths"),
               nb::arg("counts").noconvert(), nb::arg("lengths").noconvert());
    module.def("barycentric_weights", &barycentric_weights, nb::arg("coordinates").noconvert(),
               nb::arg("reg"), nb::arg("threads"), nb::arg("weights").noconvert());
}
