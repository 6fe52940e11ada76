#include "bind.hpp"
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

}  // namespace unbend

void bind_stress(nanobind::module_ &module) {
    unbend::bind_stress_of<float>(module);
    unbend::bind_stress_of<double>(module);
}
