#include <stdexcept>

#include "bind.hpp"
#include "monotone_stress.hpp"
#include "stress.hpp"

namespace unbend {

// Empty weights mean that all are one; an empty spread is not wanted.
template <typename Real>
void bind_stress_of(nb::module_ &module) {
    module.def(
        "stress",
        [](Vector<Real> dissimilarities, Vector<Real> weights, int loss,
           Matrix<const double> coordinates, int threads, Matrix<double> gradient,
           nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu> spread) {
            const Pairs<Real> pairs{static_cast<std::int64_t>(coordinates.shape(0)),
                                    dissimilarities.data(),
                                    weights.shape(0) ? weights.data() : nullptr};
            nb::gil_scoped_release release;
            return stress<Real>(pairs, static_cast<Loss>(loss), coordinates.data(),
                                coordinates.shape(1), threads, check_signals, gradient.data(),
                                spread.shape(0) ? spread.data() : nullptr);
        },
        nb::arg("dissimilarities").noconvert(), nb::arg("weights").noconvert(), nb::arg("loss"),
        nb::arg("coordinates"), nb::arg("threads"), nb::arg("gradient").noconvert(),
        nb::arg("spread").noconvert());
}

template <typename Scalar>
using Filled = nb::ndarray<Scalar, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <int D>
auto run_monotone(const SortedPairs &pairs, const Matrix<const std::int64_t> &ties,
                  const Matrix<const double> &places, int threads, double *gradient) {
    const std::function<void()> poll = check_signals;
    return MonotoneStress<D>(pairs, ties.data(), static_cast<std::int64_t>(ties.shape(0)),
                             places.data(), static_cast<std::int64_t>(places.shape(0)),
                             static_cast<std::int64_t>(places.shape(1)), threads, poll)
        .run(gradient);
}

nb::tuple monotone_stress_of(Filled<std::int32_t> first, Filled<std::int32_t> second,
                             Matrix<const std::int64_t> ties, Matrix<const double> coordinates,
                             int threads, Filled<double> distances, Filled<double> sums,
                             Filled<std::int64_t> starts, Matrix<double> gradient) {
    const std::size_t count = first.shape(0), columns = coordinates.shape(1);
    if (second.shape(0) != count || distances.shape(0) != count || sums.shape(0) != count ||
        starts.shape(0) != count || ties.shape(1) != 2 || gradient.shape(1) != columns ||
        gradient.shape(0) != coordinates.shape(0))
        throw std::invalid_argument("the arrays do not fit together");
    const SortedPairs pairs{first.data(),     second.data(), static_cast<std::int64_t>(count),
                            distances.data(), sums.data(),   starts.data()};
    std::fill_n(gradient.data(), gradient.size(), 0.0);
    std::pair<SquareSums, std::int64_t> found;
    {
        nb::gil_scoped_release release;
        const auto run = columns == 2   ? run_monotone<2>
                         : columns == 3 ? run_monotone<3>
                                        : run_monotone<0>;
        found = run(pairs, ties, coordinates, threads, gradient.data());
    }
    return nb::make_tuple(found.first.residual, found.first.distances, found.second);
}

}  // namespace unbend

void bind_stress(nanobind::module_ &module) {
    unbend::bind_stress_of<float>(module);
    unbend::bind_stress_of<double>(module);
    module.def("monotone_stress", &unbend::monotone_stress_of, nanobind::arg("first").noconvert(),
               nanobind::arg("second").noconvert(), nanobind::arg("ties").noconvert(),
               nanobind::arg("coordinates"), nanobind::arg("threads"),
               nanobind::arg("distances").noconvert(), nanobind::arg("sums").noconvert(),
               nanobind::arg("starts").noconvert(),
               nanobind::arg("gradient").noconvert());
}
