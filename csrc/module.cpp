// Python's view of the compiled kernels: array types are checked here, nothing else.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "shortest_paths.hpp"

namespace nb = nanobind;

template <typename Scalar>
using Vector = nb::ndarray<const Scalar, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename Scalar>
using Matrix = nb::ndarray<Scalar, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <typename Real>
void shortest_paths(Vector<std::int64_t> row, Vector<std::int32_t> column, Vector<Real> length,
                    Vector<std::int32_t> sources, int threads, Matrix<Real> distances) {
    const unbend::Graph<Real> graph{static_cast<std::int64_t>(row.shape(0)) - 1, row.data(),
                                    column.data(), length.data()};
    nb::gil_scoped_release release;
    unbend::shortest_paths(graph, sources.data(), static_cast<std::int64_t>(sources.shape(0)),
                           threads, distances.data());
}

void bind_neighbors(nb::module_ &module);

NB_MODULE(_native, module) {
    module.doc() = "Compiled kernels; unbend._kernels.reference holds their plain twins.";
    module.def("shortest_paths", &shortest_paths<double>, nb::arg("row"), nb::arg("column"),
               nb::arg("length"), nb::arg("sources"), nb::arg("threads"),
               nb::arg("distances").noconvert());
    module.def("shortest_paths", &shortest_paths<float>, nb::arg("row"), nb::arg("column"),
               nb::arg("length"), nb::arg("sources"), nb::arg("threads"),
               nb::arg("distances").noconvert());
    bind_neighbors(module);
}
