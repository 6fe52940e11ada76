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

nb::tuple monotone_stress_of(Filled<std::int32_t> first, Filled<std::int32_t> second,
                             Matrix<const std::int64_t> ties, Matrix<const double> coordinates,
                             Filled<double> distances, Filled<double> means,
                             Filled<std::int32_t> sizes, Matrix<double> gradient) {
    const std::size_t count = first.shape(0);
    if (second.shape(0) != count || distances.shape(0) != count || means.shape(0) != count ||
        sizes.shape(0) != count || ties.shape(1) != 2 || gradient.shape(0) != coordinates.shape(0) ||
        gradient.shape(1) != coordinates.shape(1))
        throw std::invalid_argument("the arrays do not fit together");
    const SortedPairs pairs{first.data(),     second.data(), static_cast<std::int64_t>(count),
                            distances.data(), means.data(),  sizes.data()};
    const auto columns = static_cast<std::int64_t>(coordinates.shape(1));
    const auto tied = static_cast<std::int64_t>(ties.shape(0));
    std::fill_n(gradient.data(), coordinates.shape(0) * columns, 0.0);
    SquareSums sums{0, 0};
    {
        nb::gil_scoped_release release;
        const auto run = columns == 2   ? monotone_stress<2, void (*)()>
                         : columns == 3 ? monotone_stress<3, void (*)()>
                                        : monotone_stress<0, void (*)()>;
        sums = run(pairs, ties.data(), tied, coordinates.data(), columns, check_signals,
                   gradient.data());
    }
    return nb::make_tuple(sums.residual, sums.distances);
}

}  // namespace unbend

void bind_stress(nanobind::module_ &module) {
    unbend::bind_stress_of<float>(module);
    unbend::bind_stress_of<double>(module);
    module.def("monotone_stress", &unbend::monotone_stress_of, nanobind::arg("first").noconvert(),
               nanobind::arg("second").noconvert(), nanobind::arg("ties").noconvert(),
               nanobind::arg("coordinates"), nanobind::arg("distances").noconvert(),
               nanobind::arg("means").noconvert(), nanobind::arg("sizes").noconvert(),
               nanobind::arg("gradient").noconvert());
}
