#include <stdexcept>

#include "align.hpp"
#include "bind.hpp"
#include "local_bases.hpp"
#include "local_gram.hpp"
#include "tangent_planes.hpp"

namespace unbend {

using Blocks = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Bases = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <typename Scalar>
using Output = nb::ndarray<Scalar, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Cover cover_of(const Vector<std::int64_t> &offset, const Vector<std::int32_t> &member,
               std::size_t points) {
    return Cover(static_cast<std::int64_t>(points),
                 static_cast<std::int64_t>(offset.shape(0)) - 1, offset.data(), member.data());
}

template <typename Number>
void bind_gram_of(nb::module_ &module) {
    module.def(
        "local_gram",
        [](Matrix<const Number> points, Matrix<const std::int32_t> members, int threads, Bases gram) {
            const auto count = static_cast<std::int64_t>(members.shape(0));
            const auto size = static_cast<std::int64_t>(members.shape(1));
            if (gram.shape(0) != members.shape(0) || gram.shape(1) != members.shape(1) ||
                gram.shape(2) != members.shape(1) || size == 0)
                throw std::invalid_argument("the arrays do not fit together");
            nb::gil_scoped_release release;
            local_gram(Neighborhoods<Number>{points.data(), static_cast<std::int64_t>(points.shape(1)),
                                             members.data(), size},
                       count, threads, check_signals, gram.data());
        },
        nb::arg("points").noconvert(), nb::arg("members").noconvert(), nb::arg("threads"),
        nb::arg("gram").noconvert());
}

template <typename Number>
void bind_sines_of(nb::module_ &module) {
    module.def(
        "tangent_sines",
        [](Matrix<const Number> points, Vector<std::int64_t> offset, Vector<std::int32_t> member,
           Vector<bool> used, Vector<std::int32_t> rows, Vector<std::int64_t> other,
           Vector<std::int32_t> start, Vector<std::int32_t> end, int threads, nb::object poll,
           Matrix<double> share, Output<double> inner, Output<double> outer) {
            const std::size_t count = rows.shape(0), edges = member.shape(0), others = end.shape(0);
            if (other.shape(0) != count + 1 || share.shape(0) != count || used.shape(0) != edges ||
                inner.shape(0) != edges || start.shape(0) != others || outer.shape(0) != others)
                throw std::invalid_argument("the arrays do not fit together");
            const Poll ask = poll_of(poll);
            nb::gil_scoped_release release;
            tangent_sines(
                PlaneNeighbors<Number>{points.data(), static_cast<std::int64_t>(points.shape(1)),
                                       offset.data(), member.data(), used.data()},
                rows.data(), static_cast<std::int64_t>(count),
                static_cast<std::int64_t>(share.shape(1)),
                OtherEdges{other.data(), start.data(), end.data()}, threads, ask, share.data(),
                inner.data(), outer.data());
        },
        nb::arg("points").noconvert(), nb::arg("offset").noconvert(),
        nb::arg("member").noconvert(), nb::arg("used").noconvert(), nb::arg("rows").noconvert(),
        nb::arg("other").noconvert(), nb::arg("start").noconvert(), nb::arg("end").noconvert(),
        nb::arg("threads"), nb::arg("poll"), nb::arg("share").noconvert(),
        nb::arg("inner").noconvert(), nb::arg("outer").noconvert());
}

}  // namespace unbend

void bind_local(nanobind::module_ &module) {
    using namespace unbend;
    module.def(
        "local_bases",
        [](Blocks points, int d, bool quadratic, int threads, nb::object poll, Bases bases) {
            const Poll ask = poll_of(poll);
            nb::gil_scoped_release release;
            local_bases(GivenPoints{points.data()}, points.shape(0), points.shape(1),
                        points.shape(2), d, quadratic, threads, ask, bases.data());
        },
        nb::arg("points"), nb::arg("d"), nb::arg("quadratic"), nb::arg("threads"), nb::arg("poll"),
        nb::arg("bases").noconvert());
    bind_gram_of<float>(module);
    bind_gram_of<double>(module);
    bind_sines_of<float>(module);
    bind_sines_of<double>(module);
    module.def(
        "gathered_bases",
        [](Matrix<const double> rows, Matrix<const std::int32_t> members, int d, bool quadratic,
           int threads, nb::object poll, Bases bases) {
            const Poll ask = poll_of(poll);
            nb::gil_scoped_release release;
            local_bases(GatheredPoints{rows.data(), members.data()}, members.shape(0),
                        members.shape(1), rows.shape(1), d, quadratic, threads, ask, bases.data());
        },
        nb::arg("rows").noconvert(), nb::arg("members").noconvert(), nb::arg("d"),
        nb::arg("quadratic"), nb::arg("threads"), nb::arg("poll"), nb::arg("bases").noconvert());
    module.def(
        "align_rows",
        [](Vector<std::int64_t> offset, Vector<std::int32_t> member, int threads,
           Output<std::int64_t> row) {
            nb::gil_scoped_release release;
            align_rows(cover_of(offset, member, row.shape(0) - 1), threads, row.data());
        },
        nb::arg("offset"), nb::arg("member"), nb::arg("threads"), nb::arg("row").noconvert());
    module.def(
        "align",
        [](Vector<std::int64_t> offset, Vector<std::int32_t> member, Matrix<const double> bases,
           bool complement, int threads, nb::object poll, Vector<std::int64_t> row,
           Output<std::int32_t> column, Output<double> value) {
            const Poll ask = poll_of(poll);
            nb::gil_scoped_release release;
            align(cover_of(offset, member, row.shape(0) - 1), bases.data(), bases.shape(1),
                  complement, threads, ask, row.data(), column.data(), value.data());
        },
        nb::arg("offset"), nb::arg("member"), nb::arg("bases"), nb::arg("complement"),
        nb::arg("threads"), nb::arg("poll"), nb::arg("row"), nb::arg("column").noconvert(),
        nb::arg("value").noconvert());
}
