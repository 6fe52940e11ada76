#include "bind.hpp"
#include "paths_of_new.hpp"
#include "squared_products.hpp"

namespace unbend {

template <typename Real>
void bind_squared_products(nb::module_ &module) {
    module.def(
        "squared_products",
        [](Matrix<const Real> distances, bool squared, double shift, Matrix<const double> vectors,
           int threads, nb::object poll, Matrix<double> result) {
            const Poll ask = poll_of(poll);
            nb::gil_scoped_release release;
            squared_products<Real>(distances.data(), distances.shape(0), distances.shape(1),
                                   {squared, shift}, vectors.data(), vectors.shape(1), threads, ask,
                                   result.data());
        },
        nb::arg("distances").noconvert(), nb::arg("squared"), nb::arg("shift"),
        nb::arg("vectors"), nb::arg("threads"), nb::arg("poll"), nb::arg("result").noconvert());
}

template <typename Real>
void bind_place_by_paths(nb::module_ &module) {
    module.def(
        "place_by_paths",
        [](Matrix<const Real> paths, Matrix<const std::int32_t> neighbors,
           Matrix<const Real> distances, double shift, Matrix<const double> weights, int threads,
           nb::object poll, Matrix<double> placed) {
            const FittedPaths<Real> fitted{paths.data(),
                                           static_cast<std::int64_t>(paths.shape(0)),
                                           static_cast<std::int64_t>(paths.shape(1)),
                                           shift,
                                           weights.data(),
                                           static_cast<std::int64_t>(weights.shape(0))};
            const NewRows<Real> rows{neighbors.data(), distances.data(),
                                     static_cast<std::int64_t>(neighbors.shape(0)),
                                     static_cast<std::int64_t>(neighbors.shape(1))};
            const Poll ask = poll_of(poll);
            nb::gil_scoped_release release;
            place_by_paths(fitted, rows, threads, ask, placed.data());
        },
        nb::arg("paths").noconvert(), nb::arg("neighbors"), nb::arg("distances"), nb::arg("shift"),
        nb::arg("weights"), nb::arg("threads"), nb::arg("poll"), nb::arg("placed").noconvert());
}

}  // namespace unbend

void bind_distances(nanobind::module_ &module) {
    unbend::bind_squared_products<float>(module);
    unbend::bind_squared_products<double>(module);
    unbend::bind_place_by_paths<float>(module);
    unbend::bind_place_by_paths<double>(module);
}
