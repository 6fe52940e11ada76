// Python's view of the descent to approximate neighbours. Compiled without contraction of
// a * b + c, so that it takes the same way on every machine.
#include <stdexcept>

#include "bind.hpp"
#include "nn_join.hpp"
#include "nn_propose.hpp"

namespace {

using unbend::Matrix;
using unbend::Vector;
namespace nb = nanobind;

template <typename Scalar>
using Filled = nb::ndarray<Scalar, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void join(Matrix<const float> rows, Matrix<const std::int32_t> members,
          Vector<std::int32_t> fresh_members, Vector<std::int32_t> counts, int threads,
          Matrix<float> keys, Matrix<std::int32_t> indices, Matrix<std::uint8_t> fresh) {
    if (rows.shape(1) % unbend::head != 0)
        throw std::invalid_argument("the columns must be a multiple of 32");
    const unbend::Groups groups{members.data(), fresh_members.data(), counts.data(),
                                static_cast<std::int64_t>(members.shape(0)),
                                static_cast<std::int64_t>(members.shape(1))};
    nb::gil_scoped_release release;
    unbend::join(rows.data(), static_cast<std::int64_t>(rows.shape(0)),
                 static_cast<std::int64_t>(rows.shape(1)), groups,
                 static_cast<std::int64_t>(keys.shape(1)), threads, unbend::check_signals,
                 keys.data(), indices.data(), fresh.data());
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
    module.def("propose", &propose, nb::arg("indices").noconvert(), nb::arg("seed"),
               nb::arg("threads"), nb::arg("fresh").noconvert(), nb::arg("members").noconvert(),
               nb::arg("fresh_members").noconvert(), nb::arg("counts").noconvert());
}
