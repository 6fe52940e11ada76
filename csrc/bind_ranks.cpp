// Python's view of the counting of nearer rows. Compiled without contraction of a * b + c, as the
// searches are, so that both agree on ties.
#include <stdexcept>
#include <vector>

#include "bind.hpp"
#include "count_nearer.hpp"

namespace {

namespace nb = nanobind;

void count_nearer(unbend::Matrix<const double> points, double scale,
                  unbend::Vector<std::int32_t> asked, unbend::Matrix<const float> approximate,
                  unbend::Vector<double> slack,
                  unbend::Matrix<const std::int32_t> targets, int threads,
                  unbend::Matrix<std::int32_t> ranks) {
    const auto n = static_cast<std::int64_t>(points.shape(0));
    const auto columns = static_cast<std::int64_t>(points.shape(1));
    const auto count = static_cast<std::int64_t>(asked.shape(0));
    const auto k = static_cast<std::int64_t>(targets.shape(1));
    const bool exact = approximate.shape(1) == 0;
    if (targets.shape(0) != asked.shape(0) || ranks.shape(0) != asked.shape(0) ||
        ranks.shape(1) != targets.shape(1) || slack.shape(0) != asked.shape(0) ||
        (!exact && (approximate.shape(0) != asked.shape(0) ||
                    approximate.shape(1) != points.shape(0))))
        throw std::invalid_argument("the arrays do not fit together");
    nb::gil_scoped_release release;
    const auto run = [&](const auto &rows) {
        unbend::count_nearer(rows, asked.data(), count, slack.data(), targets.data(), k, threads,
                             ranks.data());
    };
    if (!exact) return run(unbend::ManyColumns{points.data(), scale, approximate.data(), n, columns});
    std::vector<double> turned(points.size());
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t c = 0; c < columns; ++c)
            turned[c * n + i] = points.data()[i * columns + c];
    run(unbend::FewColumns{points.data(), turned.data(), n, columns});
}

}  // namespace

void bind_ranks(nb::module_ &module) {
    module.def("count_nearer", &count_nearer, nb::arg("points").noconvert(), nb::arg("scale"),
               nb::arg("asked").noconvert(), nb::arg("approximate").noconvert(),
               nb::arg("slack").noconvert(), nb::arg("targets").noconvert(), nb::arg("threads"),
               nb::arg("ranks").noconvert());
}
