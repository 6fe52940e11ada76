// What the binding files share: array types, and the way back to Python from long loops.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

#include "watch.hpp"

namespace unbend {

namespace nb = nanobind;

template <typename Scalar>
using Vector = nb::ndarray<const Scalar, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename Scalar>
using Matrix = nb::ndarray<Scalar, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Calls a Python function (done, total) from a loop that released the lock. Python handles
// signals while it runs, so an interruption arrives here too.
inline Poll poll_of(const nb::object &function) {
    return [&function](std::int64_t done, std::int64_t total) {
        nb::gil_scoped_acquire acquire;
        function(done, total);
    };
}

// What `check_signals` asks beside the signals; it raises to stop a loop. Kept until the process ends.
inline PyObject *&asked() {
    static PyObject *function = nullptr;
    return function;
}

// The same for loops that tell of no progress: lets Ctrl-C through, and a callback that cancels.
inline void check_signals() {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (asked() != nullptr) nb::borrow<nb::callable>(asked())();
}

}  // namespace unbend

void bind_cholesky(nanobind::module_ &module);
void bind_clusters(nanobind::module_ &module);
void bind_descent(nanobind::module_ &module);
void bind_distances(nanobind::module_ &module);
void bind_gram(nanobind::module_ &module);
void bind_kd_tree(nanobind::module_ &module);
void bind_layout(nanobind::module_ &module);
void bind_local(nanobind::module_ &module);
void bind_moments(nanobind::module_ &module);
void bind_neighbors(nanobind::module_ &module);
void bind_pairs(nanobind::module_ &module);
void bind_paths(nanobind::module_ &module);
void bind_products(nanobind::module_ &module);
void bind_ranks(nanobind::module_ &module);
void bind_stress(nanobind::module_ &module);
void bind_team(nanobind::module_ &module);
