// Python's view of what is measured on rows of numbers before anything else.
#include <stdexcept>

#include "bind.hpp"
#include "column_spread.hpp"
#include "distinct.hpp"
#include "near_products.hpp"
#include "thin_products.hpp"

namespace {

namespace nb = nanobind;

template <typename Scalar>
using Filled = nb::ndarray<Scalar, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::tuple distinct_rows(unbend::Matrix<const double> points, double vanishing,
                        Filled<std::int64_t> copies) {
    if (copies.shape(0) != points.shape(0) || points.shape(0) >= std::size_t{1} << 31)
        throw std::invalid_argument("there must be a number for each row, and rows for 31 bits");
    unbend::Survey survey;
    {
        nb::gil_scoped_release release;
        survey = unbend::distinct_rows(points.data(), static_cast<std::int64_t>(points.shape(0)),
                                       static_cast<std::int64_t>(points.shape(1)), vanishing,
                                       copies.data());
    }
    return nb::make_tuple(survey.finite, survey.largest, survey.vanishing, survey.distinct);
}

nb::tuple near_products(unbend::Matrix<const double> points, double far,
                        unbend::Matrix<double> products) {
    const std::size_t columns = points.shape(1);
    if (points.shape(0) == 0 || products.shape(0) != columns || products.shape(1) != columns)
        throw std::invalid_argument("the arrays do not fit together");
    std::int64_t kept;
    double fourth;
    {
        nb::gil_scoped_release release;
        unbend::NearProducts near(points.data(), static_cast<std::int64_t>(points.shape(0)),
                                  static_cast<std::int64_t>(columns), far, products.data());
        kept = near.run();
        fourth = near.fourth();
    }
    return nb::make_tuple(kept, fourth);
}

void thin_products(unbend::Matrix<const double> rows, unbend::Vector<double> center,
                   unbend::Matrix<const double> axes, unbend::Matrix<double> products) {
    const auto count = static_cast<std::int64_t>(axes.shape(0));
    if (count < 1 || count > unbend::most_axes || axes.shape(1) != rows.shape(1) ||
        center.shape(0) != rows.shape(1) || products.shape(0) != rows.shape(0) ||
        products.shape(1) != axes.shape(0))
        throw std::invalid_argument("the arrays do not fit together");
    nb::gil_scoped_release release;
    unbend::thin_products(rows.data(), static_cast<std::int64_t>(rows.shape(0)), center.data(),
                          axes.data(), count, static_cast<std::int64_t>(rows.shape(1)),
                          products.data());
}

double largest_magnitude(unbend::Vector<double> numbers) {
    nb::gil_scoped_release release;
    return unbend::largest_magnitude(numbers.data(), static_cast<std::int64_t>(numbers.shape(0)));
}

void column_spread(unbend::Matrix<const double> rows, std::int64_t step, Filled<double> sums,
                   Filled<double> squares) {
    const std::size_t columns = rows.shape(1);
    if (rows.shape(0) == 0 || step < 1 || sums.shape(0) != columns || squares.shape(0) != columns)
        throw std::invalid_argument("the arrays do not fit together");
    nb::gil_scoped_release release;
    unbend::column_spread(rows.data(), static_cast<std::int64_t>(rows.shape(0)),
                          static_cast<std::int64_t>(columns), step, sums.data(), squares.data());
}

}  // namespace

void bind_moments(nb::module_ &module) {
    module.def("largest_magnitude", &largest_magnitude, nb::arg("numbers").noconvert());
    module.def("column_spread", &column_spread, nb::arg("rows").noconvert(), nb::arg("step"),
               nb::arg("sums").noconvert(), nb::arg("squares").noconvert());
    module.def("distinct_rows", &distinct_rows, nb::arg("points").noconvert(),
               nb::arg("vanishing"), nb::arg("copies").noconvert());
    module.def("near_products", &near_products, nb::arg("points").noconvert(), nb::arg("far"),
               nb::arg("products").noconvert());
    module.def("thin_products", &thin_products, nb::arg("rows").noconvert(), nb::arg("center"),
               nb::arg("axes"), nb::arg("products").noconvert());
}
