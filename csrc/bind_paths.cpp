#include "bind.hpp"
#include "shortest_paths.hpp"

namespace unbend {

template <typename Real>
void bind_paths_of(nb::module_ &module, const char *name) {
    using Paths = ShortestPaths<Real>;
    nb::class_<Paths>(module, name)
        .def(
            "__init__",
            [](Paths *paths, Vector<std::int64_t> row, Vector<std::int32_t> column,
               Vector<Real> length) {
                const auto vertices = static_cast<std::int64_t>(row.shape(0)) - 1;
                new (paths) Paths({vertices, row.data(), column.data(), length.data()});
            },
            nb::arg("row"), nb::arg("column"), nb::arg("length"))
        .def(
            "run",
            [](const Paths &paths, Vector<std::int32_t> sources, int threads, nb::object poll,
               Matrix<Real> distances) {
                const Poll ask = poll_of(poll);
                nb::gil_scoped_release release;
                paths.run(sources.data(), static_cast<std::int64_t>(sources.shape(0)), threads,
                          ask, distances.data());
            },
            nb::arg("sources"), nb::arg("threads"), nb::arg("poll"),
            nb::arg("distances").noconvert());
}

}  // namespace unbend

void bind_paths(nanobind::module_ &module) {
    unbend::bind_paths_of<float>(module, "ShortestPaths32");
    unbend::bind_paths_of<double>(module, "ShortestPaths64");
}
