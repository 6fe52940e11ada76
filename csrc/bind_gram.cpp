// Python's view of dense kernels of up to a few thousand rows, and of blocks of Krylov spaces.
#include <stdexcept>

#include "bind.hpp"
#include "gram_matrix.hpp"
#include "orthonormal.hpp"
#include "symmetric_eigen.hpp"

namespace {

namespace nb = nanobind;

using Filled = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename Scalar>
std::int64_t side_of(const unbend::Matrix<Scalar> &matrix) {
    if (matrix.shape(0) != matrix.shape(1)) throw std::invalid_argument("the matrix is not square");
    return static_cast<std::int64_t>(matrix.shape(0));
}

void gaussians(unbend::Matrix<double> products, int threads) {
    const std::int64_t n = side_of(products);
    nb::gil_scoped_release release;
    unbend::gaussians(products.data(), n, threads);
}

void add_to_pairs(unbend::Matrix<double> matrix, unbend::Vector<double> values, int threads) {
    const std::int64_t n = side_of(matrix);
    if (values.shape(0) != matrix.shape(0))
        throw std::invalid_argument("the arrays do not fit together");
    nb::gil_scoped_release release;
    unbend::add_to_pairs(matrix.data(), n, values.data(), threads);
}

void few_products(unbend::Matrix<const double> matrix, unbend::Matrix<const double> vectors,
                  unbend::Matrix<double> products, int threads) {
    const std::int64_t n = side_of(matrix);
    if (vectors.shape(1) != matrix.shape(0) || products.shape(0) != vectors.shape(0) ||
        products.shape(1) != vectors.shape(1))
        throw std::invalid_argument("the arrays do not fit together");
    nb::gil_scoped_release release;
    unbend::few_products(matrix.data(), n, vectors.data(),
                         static_cast<std::int64_t>(vectors.shape(0)), threads, products.data());
}

double orthonormal_block(unbend::Matrix<const double> basis, unbend::Matrix<double> block,
                         double well_apart) {
    if (basis.shape(1) != block.shape(0))
        throw std::invalid_argument("the arrays do not fit together");
    nb::gil_scoped_release release;
    return unbend::orthonormal_block(basis.data(), static_cast<std::int64_t>(basis.shape(0)),
                                     block.data(), static_cast<std::int64_t>(block.shape(0)),
                                     static_cast<std::int64_t>(block.shape(1)), well_apart);
}

bool symmetric_eigenpairs(unbend::Matrix<const double> matrix, Filled values,
                          unbend::Matrix<double> vectors) {
    const std::int64_t n = side_of(matrix);
    if (values.shape(0) != matrix.shape(0) || vectors.shape(0) != matrix.shape(0) ||
        vectors.shape(1) != matrix.shape(0))
        throw std::invalid_argument("the arrays do not fit together");
    nb::gil_scoped_release release;
    return unbend::SymmetricEigen(matrix.data(), n, n).run(values.data(), vectors.data());
}

}  // namespace

void bind_gram(nb::module_ &module) {
    module.def("gaussians", &gaussians, nb::arg("products").noconvert(), nb::arg("threads") = 1);
    module.def("add_to_pairs", &add_to_pairs, nb::arg("matrix").noconvert(), nb::arg("values"),
               nb::arg("threads") = 1);
    module.def("few_products", &few_products, nb::arg("matrix").noconvert(),
               nb::arg("vectors").noconvert(), nb::arg("products").noconvert(),
               nb::arg("threads") = 1);
    module.def("orthonormal_block", &orthonormal_block, nb::arg("basis").noconvert(),
               nb::arg("block").noconvert(), nb::arg("well_apart"));
    module.def("symmetric_eigenpairs", &symmetric_eigenpairs, nb::arg("matrix").noconvert(),
               nb::arg("values").noconvert(), nb::arg("vectors").noconvert());
}
