// Python's view of clusters of rows.
#include <stdexcept>

#include "bind.hpp"
#include "kmeans.hpp"

namespace {

namespace nb = nanobind;

using Numbers = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

nb::tuple kmeans(unbend::Matrix<const double> rows, Numbers numbers, int max_iter, double tolerance,
                 unbend::Matrix<double> centers, int threads) {
    if (rows.shape(0) == 0 || numbers.shape(0) == 0 || numbers.shape(2) == 0 ||
        centers.shape(0) == 0 || numbers.shape(1) != centers.shape(0) ||
        centers.shape(1) != rows.shape(1))
        throw std::invalid_argument("the arrays do not fit together");
    unbend::Clustering found;
    {
        nb::gil_scoped_release release;
        found = unbend::kmeans(rows.data(), static_cast<std::int64_t>(rows.shape(0)),
                               static_cast<std::int64_t>(rows.shape(1)),
                               static_cast<std::int64_t>(centers.shape(0)), numbers.data(),
                               static_cast<std::int64_t>(numbers.shape(0)),
                               static_cast<std::int64_t>(numbers.shape(2)), max_iter, tolerance,
                               threads, unbend::check_signals);
        std::copy(found.centers.begin(), found.centers.end(), centers.data());
    }
    return nb::make_tuple(found.inertia, found.iterations);
}

}  // namespace

void bind_clusters(nb::module_ &module) {
    module.def("kmeans", &kmeans, nb::arg("rows"), nb::arg("numbers"), nb::arg("max_iter"),
               nb::arg("tolerance"), nb::arg("centers").noconvert(), nb::arg("threads") = 1);
}
