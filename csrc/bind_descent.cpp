// Python's view of the descent to approximate neighbours. Here a * b + c may be one instruction:
// products only propose pairs, and the keys of nn_lists.hpp are rounded alike on every machine.
#include <stdexcept>

#include "bind.hpp"
#include "nn_cells.hpp"
#include "nn_join.hpp"
#include "nn_probe.hpp"
#include "nn_propose.hpp"

namespace {

using unbend::Matrix;
using unbend::Vector;
namespace nb = nanobind;

template <typename Scalar>
using Filled = nb::ndarray<Scalar, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

unbend::SingleRows single_rows(const Matrix<const float> &rows) {
    if (rows.shape(1) % unbend::lane_columns != 0)
        throw std::invalid_argument("the columns must be a multiple of 8");
    return {rows.data(), static_cast<std::int64_t>(rows.shape(0)),
            static_cast<std::int64_t>(rows.shape(1))};
}

void join(Matrix<const float> rows, Matrix<const std::int32_t> members,
          Vector<std::int32_t> fresh_members, Vector<std::int32_t> counts, int threads,
          Matrix<float> keys, Matrix<std::int32_t> indices, Matrix<std::uint8_t> fresh) {
    const unbend::SingleRows single = single_rows(rows);
    const unbend::Groups groups{members.data(), fresh_members.data(), counts.data(),
                                static_cast<std::int64_t>(members.shape(0)),
                                static_cast<std::int64_t>(members.shape(1))};
    nb::gil_scoped_release release;
    unbend::join(single, groups, static_cast<std::int64_t>(keys.shape(1)), threads,
                 unbend::check_signals, keys.data(), indices.data(), fresh.data());
}

void join_cells(Matrix<const float> rows, Vector<std::int32_t> members, Vector<std::int64_t> first,
                int threads, Matrix<float> keys, Matrix<std::int32_t> indices,
                Matrix<std::uint8_t> fresh) {
    const unbend::SingleRows single = single_rows(rows);
    const unbend::Cells cells{members.data(), first.data(),
                              static_cast<std::int64_t>(first.shape(0)) - 1};
    nb::gil_scoped_release release;
    unbend::join_cells(single, cells, static_cast<std::int64_t>(keys.shape(1)), threads,
                       unbend::check_signals, keys.data(), indices.data(), fresh.data());
}

void probe_cells(Matrix<const float> queries, Matrix<const std::int32_t> probes,
                 nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu> panels,
                 Vector<float> squares, Matrix<const float> centers, Vector<std::int64_t> first,
                 int threads, Matrix<float> keys, Matrix<std::int32_t> indices) {
    const unbend::SingleRows single = single_rows(queries);
    const unbend::PackedCells cells{{panels.data(), squares.data()}, centers.data(), first.data(),
                                    static_cast<std::int64_t>(first.shape(0)) - 1};
    nb::gil_scoped_release release;
    unbend::probe_cells(single, cells, probes.data(), static_cast<std::int64_t>(probes.shape(1)),
                        static_cast<std::int64_t>(keys.shape(1)), threads, unbend::check_signals,
                        keys.data(), indices.data());
}

void propose(Matrix<const std::int32_t> indices, std::uint64_t seed, int threads,
             Matrix<std::uint8_t> fresh, Matrix<std::int32_t> members,
             Filled<std::int32_t> fresh_members, Filled<std::int32_t> counts) {
    const unbend::NeighborLists lists{indices.data(), fresh.data(),
                                      static_cast<std::int64_t>(indices.shape(0)),
                                      static_cast<std::int64_t>(indices.shape(1))};
    nb::gil_scoped_release release;
    unbend::propose(lists, static_cast<std::int64_t>(members.shape(1)) / 2, seed, threads,
                    members.data(), fresh_members.data(), counts.data());
}

}  // namespace

void bind_descent(nb::module_ &module) {
    module.def("join", &join, nb::arg("rows").noconvert(), nb::arg("members").noconvert(),
               nb::arg("fresh_members").noconvert(), nb::arg("counts").noconvert(),
               nb::arg("threads"), nb::arg("keys").noconvert(), nb::arg("indices").noconvert(),
               nb::arg("fresh").noconvert());
    module.def("join_cells", &join_cells, nb::arg("rows").noconvert(),
               nb::arg("members").noconvert(), nb::arg("first").noconvert(), nb::arg("threads"),
               nb::arg("keys").noconvert(), nb::arg("indices").noconvert(),
               nb::arg("fresh").noconvert());
    module.def("probe_cells", &probe_cells, nb::arg("queries").noconvert(),
               nb::arg("probes").noconvert(), nb::arg("panels").noconvert(),
               nb::arg("squares").noconvert(), nb::arg("centers").noconvert(),
               nb::arg("first").noconvert(), nb::arg("threads"), nb::arg("keys").noconvert(),
               nb::arg("indices").noconvert());
    module.def("propose", &propose, nb::arg("indices").noconvert(), nb::arg("seed"),
               nb::arg("threads"), nb::arg("fresh").noconvert(), nb::arg("members").noconvert(),
               nb::arg("fresh_members").noconvert(), nb::arg("counts").noconvert());
}
