// Python's view of sparse symmetric matrices: their Cholesky factorisation and their products.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <limits>
#include <memory>

#include "bind.hpp"
#include "edge_blocks.hpp"
#include "krylov_blocks.hpp"
#include "laplacian.hpp"
#include "solve.hpp"
#include "sparse_product.hpp"

namespace nb = nanobind;

namespace {

using unbend::check_signals;

template <typename Scalar>
using Vector = nb::ndarray<const Scalar, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Sides = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Solved = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename Scalar>
using Pairs = nb::ndarray<const Scalar, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
template <typename Scalar>
using Filled = nb::ndarray<Scalar, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Values = Filled<double>;

struct Analysis {
    std::shared_ptr<const unbend::Structure> structure;
};

unbend::Pattern pattern(const Vector<std::int64_t> &row, const Vector<std::int32_t> &column) {
    const auto n = static_cast<std::int64_t>(row.shape(0)) - 1;
    if (n < 1 || n > std::numeric_limits<std::int32_t>::max())
        throw std::invalid_argument("the matrix needs at least one row and fewer than 2^31");
    return {static_cast<std::int32_t>(n), row.data(), column.data()};
}

Analysis analyse(Vector<std::int64_t> row, Vector<std::int32_t> column, double most_flops,
                 int threads) {
    const unbend::Pattern graph = pattern(row, column);
    nb::gil_scoped_release release;
    return {std::make_shared<const unbend::Structure>(
        unbend::analyse(graph, most_flops, threads, check_signals))};
}

unbend::Factor factor(const Analysis &analysis, Vector<std::int64_t> row,
                      Vector<std::int32_t> column, Vector<double> values, double shift,
                      int threads, bool indefinite) {
    const unbend::Pattern graph = pattern(row, column);
    if (!analysis.structure->complete)
        throw std::invalid_argument("the analysis was given up: it has no structure to fill");
    nb::gil_scoped_release release;
    return unbend::Factorisation(analysis.structure, graph, values.data(), shift, indefinite,
                                 threads, check_signals)
        .run();
}

void solve(const unbend::Factor &factor, Sides right, int threads, Solved solution) {
    const auto n = static_cast<std::size_t>(factor.structure->n);
    if (right.shape(0) != n || solution.shape(0) != n || solution.shape(1) != right.shape(1))
        throw std::invalid_argument("right-hand sides and solution need the rows of the matrix");
    nb::gil_scoped_release release;
    unbend::Solution(factor, static_cast<std::int64_t>(right.shape(1)), threads, check_signals)
        .run(right.data(), solution.data());
}

std::int64_t grow_blocks(const unbend::Factor &factor, Solved basis, std::int64_t trivial,
                         std::int64_t size, Solved images, Solved small, Sides block,
                         std::int64_t count, double well_apart, double little, int threads,
                         std::int64_t wanted, std::int64_t blocks, double tolerance, double spread,
                         double least_gap) {
    const auto n = static_cast<std::int64_t>(block.shape(0));
    const auto width = static_cast<std::int64_t>(block.shape(1));
    const auto room = static_cast<std::int64_t>(small.shape(0));
    if (n != factor.structure->n || basis.shape(1) != block.shape(0) ||
        images.shape(1) != block.shape(0) || static_cast<std::int64_t>(images.shape(0)) != room ||
        static_cast<std::int64_t>(basis.shape(0)) != trivial + room ||
        small.shape(1) != small.shape(0) || count < 1 || size + count * width > room)
        throw std::invalid_argument("the blocks do not fit into the space");
    nb::gil_scoped_release release;
    const unbend::BlockSpace space{n,           width,         trivial,      size, room,
                                   basis.data(), images.data(), small.data()};
    const unbend::Acceptance acceptance{wanted, blocks, tolerance, spread, least_gap};
    return unbend::BlockGrowth(factor, space, well_apart, little, acceptance, threads, check_signals)
        .run(block.data(), count);
}

void sparse_product(Vector<std::int64_t> row, Vector<std::int32_t> column, Vector<double> values,
                    Sides block, int threads, Solved image) {
    const auto n = static_cast<std::int64_t>(row.shape(0)) - 1;
    if (n < 0 || static_cast<std::int64_t>(image.shape(0)) != n ||
        image.shape(1) != block.shape(1))
        throw std::invalid_argument("the image needs the rows of the matrix");
    nb::gil_scoped_release release;
    unbend::sparse_product({row.data(), column.data(), values.data()}, n, block.data(),
                           static_cast<std::int64_t>(block.shape(1)), threads, image.data());
}

std::int64_t scaled_difference(Vector<std::int64_t> row, Vector<std::int32_t> column,
                               Vector<double> values, Vector<double> degree, Vector<double> factor,
                               Filled<std::int64_t> new_row, Filled<std::int32_t> new_column,
                               Filled<double> new_values) {
    const std::size_t n = degree.shape(0), entries = column.shape(0);
    if (row.shape(0) != n + 1 || values.shape(0) != entries || factor.shape(0) != n ||
        new_row.shape(0) != n + 1 || new_column.shape(0) != entries + n ||
        new_values.shape(0) != entries + n)
        throw std::invalid_argument("weights, degrees and the result disagree in size");
    nb::gil_scoped_release release;
    return unbend::scaled_difference(
        {static_cast<std::int64_t>(n), row.data(), column.data(), values.data()}, degree.data(),
        factor.data(), new_row.data(), new_column.data(), new_values.data());
}

void edge_blocks(Vector<std::int64_t> row, Vector<std::int64_t> own, Pairs<std::int32_t> ends,
                 Pairs<std::int64_t> slots, Vector<double> across, Vector<double> along,
                 Sides differences, double diagonal, Values values) {
    const auto n = static_cast<std::int64_t>(own.shape(0)), m = static_cast<std::int64_t>(ends.shape(0));
    const auto rank = static_cast<std::int64_t>(differences.shape(1));
    if (static_cast<std::int64_t>(row.shape(0)) != n * rank + 1 || slots.shape(0) != ends.shape(0) ||
        across.shape(0) != ends.shape(0) || along.shape(0) != ends.shape(0) ||
        differences.shape(0) != ends.shape(0))
        throw std::invalid_argument("edges and points disagree in number");
    nb::gil_scoped_release release;
    unbend::edge_blocks({n, rank, row.data(), own.data()}, {m, ends.data(), slots.data()},
                        across.data(), along.data(), differences.data(), diagonal, values.data());
}

}  // namespace

void bind_cholesky(nb::module_ &module) {
    nb::class_<Analysis>(module, "Analysis")
        .def_prop_ro("entries", [](const Analysis &a) { return a.structure->entries; })
        .def_prop_ro("stored", [](const Analysis &a) { return a.structure->stored(); })
        .def_prop_ro("flops", [](const Analysis &a) { return a.structure->flops; })
        .def_prop_ro("complete", [](const Analysis &a) { return a.structure->complete; });
    nb::class_<unbend::Factor>(module, "Factor")
        .def_prop_ro("entries", [](const unbend::Factor &f) { return f.structure->entries; })
        .def_prop_ro("negative", [](const unbend::Factor &f) { return f.negative; })
        .def_prop_ro("replaced", [](const unbend::Factor &f) { return f.replaced; })
        .def("solve", &solve, nb::arg("right"), nb::arg("threads"),
             nb::arg("solution").noconvert())
        .def("grow_blocks", &grow_blocks, nb::arg("basis").noconvert(), nb::arg("trivial"),
             nb::arg("size"), nb::arg("images").noconvert(), nb::arg("small").noconvert(),
             nb::arg("block").noconvert(), nb::arg("count"), nb::arg("well_apart"),
             nb::arg("little"), nb::arg("threads"), nb::arg("wanted") = 0, nb::arg("blocks") = 0,
             nb::arg("tolerance") = 0.0, nb::arg("spread") = 0.0, nb::arg("least_gap") = 0.0);
    module.def("analyse", &analyse, nb::arg("row"), nb::arg("column"), nb::arg("most_flops"),
               nb::arg("threads") = 1);
    module.def("factor", &factor, nb::arg("analysis"), nb::arg("row"), nb::arg("column"),
               nb::arg("values"), nb::arg("shift"), nb::arg("threads"), nb::arg("indefinite") = false);
    module.def("edge_blocks", &edge_blocks, nb::arg("row"), nb::arg("own"), nb::arg("ends"),
               nb::arg("slots"), nb::arg("across"), nb::arg("along"), nb::arg("differences"),
               nb::arg("diagonal"), nb::arg("values").noconvert());
    module.def("scaled_difference", &scaled_difference, nb::arg("row"), nb::arg("column"),
               nb::arg("values"), nb::arg("degree"), nb::arg("factor"),
               nb::arg("new_row").noconvert(), nb::arg("new_column").noconvert(),
               nb::arg("new_values").noconvert());
    module.def("sparse_product", &sparse_product, nb::arg("row"), nb::arg("column"),
               nb::arg("values"), nb::arg("block"), nb::arg("threads"),
               nb::arg("image").noconvert());
}
