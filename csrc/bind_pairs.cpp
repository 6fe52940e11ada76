#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <vector>

#include "bind.hpp"
#include "line_stress.hpp"
#include "sorted_order.hpp"

namespace unbend {

namespace {

template <typename Scalar>
using Filled = nb::ndarray<Scalar, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Checks the sizes of all arrays; empty weights mean that all are one.
template <typename Real>
std::vector<LinePart<Real>> line_parts(const std::vector<Vector<Real>> &given,
                                       const std::vector<Vector<Real>> &weights,
                                       const Matrix<const double> &rows) {
    const std::size_t n = rows.shape(0), count = n * (n - 1) / 2;
    if (weights.size() != given.size())
        throw std::invalid_argument("the arrays do not fit together");
    std::vector<LinePart<Real>> parts;
    for (std::size_t k = 0; k < given.size(); ++k) {
        if (given[k].shape(0) != count || (weights[k].shape(0) && weights[k].shape(0) != count))
            throw std::invalid_argument("the arrays do not fit together");
        parts.push_back({given[k].data(), weights[k].shape(0) ? weights[k].data() : nullptr});
    }
    return parts;
}

PairRows pair_rows(const Matrix<const double> &rows) {
    return {rows.data(), static_cast<std::int64_t>(rows.shape(0)),
            static_cast<std::int64_t>(rows.shape(1))};
}

template <typename Real>
void line_sums(std::vector<Vector<Real>> given, std::vector<Vector<Real>> weights,
               Vector<double> centers, Matrix<const double> rows, int threads,
               Matrix<double> sums) {
    const auto parts = line_parts<Real>(given, weights, rows);
    if (centers.shape(0) != parts.size() || sums.shape(0) != parts.size() || sums.shape(1) != 3)
        throw std::invalid_argument("the arrays do not fit together");
    nb::gil_scoped_release release;
    const std::function<void()> poll = check_signals;
    const PairRows pairs = pair_rows(rows);
    const auto found = LineStress<Real>(parts, pairs, threads, poll).sums(centers.data());
    std::copy(found.begin(), found.end(), sums.data());
}

template <typename Real>
void line_residuals(std::vector<Vector<Real>> given, std::vector<Vector<Real>> weights,
                    Matrix<const double> lines, Matrix<const double> rows, int threads,
                    Filled<Real> targets, Filled<double> residuals) {
    const std::size_t n = rows.shape(0);
    const auto parts = line_parts<Real>(given, weights, rows);
    if (lines.shape(0) != parts.size() || lines.shape(1) != 2 ||
        residuals.shape(0) != parts.size() || targets.shape(0) != n * (n - 1) / 2)
        throw std::invalid_argument("the arrays do not fit together");
    std::vector<FittedLine> fitted;
    for (std::size_t k = 0; k < parts.size(); ++k)
        fitted.push_back({lines.data()[2 * k], lines.data()[2 * k + 1]});
    nb::gil_scoped_release release;
    const std::function<void()> poll = check_signals;
    const PairRows pairs = pair_rows(rows);
    const auto found =
        LineStress<Real>(parts, pairs, threads, poll).residuals(fitted, targets.data());
    std::copy(found.begin(), found.end(), residuals.data());
}

template <typename Real>
void bind_pairs_of(nb::module_ &module) {
    module.def(
        "pair_distances",
        [](Matrix<const double> rows, int threads, Filled<Real> distances) {
            const std::size_t n = rows.shape(0);
            if (distances.shape(0) != n * (n - 1) / 2)
                throw std::invalid_argument("the arrays do not fit together");
            nb::gil_scoped_release release;
            pair_distances<Real>(rows.data(), static_cast<std::int64_t>(n),
                                 static_cast<std::int64_t>(rows.shape(1)), threads, check_signals,
                                 distances.data());
        },
        nb::arg("rows"), nb::arg("threads"), nb::arg("distances").noconvert());
    module.def(
        "sorted_order",
        [](Vector<Real> numbers, int threads, Filled<std::int64_t> order) {
            if (order.shape(0) != numbers.shape(0))
                throw std::invalid_argument("the arrays do not fit together");
            nb::gil_scoped_release release;
            const std::function<void()> poll = check_signals;
            SortedOrder<Real>(numbers.data(), static_cast<std::int64_t>(numbers.shape(0)), threads,
                              poll)
                .run(order.data());
        },
        nb::arg("numbers").noconvert(), nb::arg("threads"), nb::arg("order").noconvert());
    module.def("line_sums", &line_sums<Real>, nb::arg("given").noconvert(),
               nb::arg("weights").noconvert(), nb::arg("centers"), nb::arg("rows"),
               nb::arg("threads"), nb::arg("sums").noconvert());
    module.def("line_residuals", &line_residuals<Real>, nb::arg("given").noconvert(),
               nb::arg("weights").noconvert(), nb::arg("lines"), nb::arg("rows"),
               nb::arg("threads"), nb::arg("targets").noconvert(),
               nb::arg("residuals").noconvert());
}

}  // namespace

}  // namespace unbend

void bind_pairs(nanobind::module_ &module) {
    unbend::bind_pairs_of<float>(module);
    unbend::bind_pairs_of<double>(module);
}
