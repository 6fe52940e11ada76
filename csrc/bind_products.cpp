// Python's view of products that propose neighbours. Here a * b + c may be one instruction: the
// bounds of rounding hold either way, and distances are those of bind_neighbors.cpp.
#include "bind.hpp"
#include "offer.hpp"

namespace unbend {

template <typename Scalar>
using Numbers = nb::ndarray<Scalar, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename Real>
using Packed = nb::ndarray<const Real, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

template <typename Real>
Shortlists<Real> shortlists(const Matrix<Real> &keys, const Numbers<Real> &bounds,
                            const Matrix<std::int32_t> &indices,
                            const Numbers<std::int32_t> &sizes, std::int64_t length) {
    return {keys.data(),  bounds.data(), indices.data(),
            sizes.data(), length,        static_cast<std::int64_t>(keys.shape(1))};
}

template <typename Real>
void bind_offers(nb::module_ &module) {
    module.def(
        "offer_pairs",
        [](Packed<Real> panels, Vector<Real> squares, Matrix<const std::int64_t> pairs,
           std::int64_t tile, int threads, Matrix<Real> keys,
           Numbers<Real> bounds, Matrix<std::int32_t> indices, Numbers<std::int32_t> sizes,
           std::int64_t length) {
            const Panels<Real> points{panels.data(), squares.data()};
            const Sides<Real> sides{points, points, static_cast<std::int64_t>(panels.shape(1))};
            nb::gil_scoped_release release;
            offer_pairs(sides, squares.shape(0), pairs.data(), pairs.shape(0), tile, threads,
                        shortlists(keys, bounds, indices, sizes, length));
        },
        nb::arg("panels").noconvert(), nb::arg("squares").noconvert(),
        nb::arg("pairs").noconvert(), nb::arg("tile"), nb::arg("threads"),
        nb::arg("keys").noconvert(), nb::arg("bounds").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("sizes").noconvert(), nb::arg("length"));
    module.def(
        "offer_columns",
        [](Packed<Real> rows, Vector<Real> row_squares, Packed<Real> columns,
           Vector<Real> column_squares, std::int64_t tile, int threads, Matrix<Real> keys,
           Numbers<Real> bounds, Matrix<std::int32_t> indices, Numbers<std::int32_t> sizes,
           std::int64_t length) {
            const Sides<Real> sides{{rows.data(), row_squares.data()},
                                    {columns.data(), column_squares.data()},
                                    static_cast<std::int64_t>(rows.shape(1))};
            nb::gil_scoped_release release;
            offer_columns(sides, row_squares.shape(0), column_squares.shape(0), tile, threads,
                          shortlists(keys, bounds, indices, sizes, length));
        },
        nb::arg("rows").noconvert(), nb::arg("row_squares").noconvert(),
        nb::arg("columns").noconvert(), nb::arg("column_squares").noconvert(), nb::arg("tile"),
        nb::arg("threads"), nb::arg("keys").noconvert(), nb::arg("bounds").noconvert(),
        nb::arg("indices").noconvert(), nb::arg("sizes").noconvert(), nb::arg("length"));
    module.def(
        "sort_shortlists",
        [](Matrix<Real> keys, Numbers<Real> bounds, Matrix<std::int32_t> indices,
           Numbers<std::int32_t> sizes, std::int64_t length, int threads, Matrix<Real> sorted_keys,
           Matrix<std::int32_t> sorted_indices) {
            nb::gil_scoped_release release;
            sort_shortlists(shortlists(keys, bounds, indices, sizes, length),
                            sorted_keys.shape(0), threads, sorted_keys.data(),
                            sorted_indices.data());
        },
        nb::arg("keys").noconvert(), nb::arg("bounds").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("sizes").noconvert(), nb::arg("length"), nb::arg("threads"),
        nb::arg("sorted_keys").noconvert(), nb::arg("sorted_indices").noconvert());
}

}  // namespace unbend

void bind_products(nanobind::module_ &module) {
    unbend::bind_offers<float>(module);
    unbend::bind_offers<double>(module);
}
