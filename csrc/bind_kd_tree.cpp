// Python's view of the KD-tree. Compiled without contraction of a * b + c, so that distances, and
// with them ties, are the same on every machine.
#include <stdexcept>
#include <variant>

#include "bind.hpp"
#include "kd_build.hpp"
#include "kd_search.hpp"

namespace {

namespace nb = nanobind;
using unbend::check_signals;

template <typename Scalar>
using Matrix = unbend::Matrix<const Scalar>;
template <typename Scalar>
using Filled = unbend::Matrix<Scalar>;

std::int64_t length(std::size_t size) { return static_cast<std::int64_t>(size); }

class BoundKdTree {
  public:
    BoundKdTree(Matrix<double> points, double norm, int threads) : norm_(norm) {
        build(points, threads);
    }

    BoundKdTree(Matrix<float> points, double norm, int threads) : norm_(norm) {
        build(points, threads);
    }

    std::int64_t leaves() const {
        return std::visit([](const auto &tree) { return length(tree.leaves.size()); }, tree_);
    }

    void neighbors(std::int64_t first, std::int64_t last, int threads, Filled<std::int32_t> indices,
                   Filled<double> distances) const {
        const std::int64_t k = length(indices.shape(1));
        check(indices, distances, rows_, rows_ - 1);
        if (first < 0 || last > leaves()) throw std::invalid_argument("there are no such leaves");
        nb::gil_scoped_release release;
        for_tree([&](const auto &tree, auto norm) {
            unbend::kd_neighbors<decltype(norm)>(tree, first, last, k, threads, indices.data(),
                                                 distances.data());
        });
    }

    void nearest_of(Matrix<double> points, int threads, Filled<std::int32_t> indices,
                    Filled<double> distances) const {
        const std::int64_t count = length(points.shape(0)), k = length(indices.shape(1));
        check(indices, distances, count, rows_);
        if (length(points.shape(1)) != columns_)
            throw std::invalid_argument("the rows have another number of columns than the tree");
        nb::gil_scoped_release release;
        unbend::largest_size(points.data(), count * columns_);
        for_tree([&](const auto &tree, auto norm) {
            unbend::kd_nearest_of<decltype(norm)>(tree, points.data(), count, k, threads,
                                                  indices.data(), distances.data());
        });
    }

  private:
    template <typename Number>
    void build(const Matrix<Number> &points, int threads) {
        rows_ = length(points.shape(0));
        columns_ = length(points.shape(1));
        if (rows_ == 0 || columns_ == 0)
            throw std::invalid_argument("a tree needs rows and columns");
        nb::gil_scoped_release release;
        tree_ = unbend::build_kd_tree(points.data(), rows_, static_cast<int>(columns_), threads,
                                      check_signals);
    }

    static void check(const Filled<std::int32_t> &indices, const Filled<double> &distances,
                      std::int64_t rows, std::int64_t most) {
        const std::int64_t k = length(indices.shape(1));
        if (k < 1 || k > most || length(indices.shape(0)) != rows ||
            length(distances.shape(0)) != rows || length(distances.shape(1)) != k)
            throw std::invalid_argument("the results have the wrong shape");
    }

    // Calls body(tree, norm) with their types.
    template <typename Body>
    void for_tree(const Body &body) const {
        std::visit(
            [&](const auto &tree) {
                if (norm_ == 1)
                    body(tree, unbend::Manhattan{});
                else if (norm_ == 2)
                    body(tree, unbend::Euclidean{});
                else
                    body(tree, unbend::Chebyshev{});
            },
            tree_);
    }

    std::variant<unbend::KdTree<double>, unbend::KdTree<float>> tree_;
    std::int64_t rows_ = 0, columns_ = 0;
    double norm_;
};

}  // namespace

void bind_kd_tree(nb::module_ &module) {
    nb::class_<BoundKdTree>(module, "KdTree")
        .def(nb::init<Matrix<double>, double, int>(), nb::arg("points").noconvert(),
             nb::arg("norm"), nb::arg("threads"))
        .def(nb::init<Matrix<float>, double, int>(), nb::arg("points").noconvert(),
             nb::arg("norm"), nb::arg("threads"))
        .def_prop_ro("leaves", &BoundKdTree::leaves)
        .def("neighbors", &BoundKdTree::neighbors, nb::arg("first"), nb::arg("last"),
             nb::arg("threads"), nb::arg("indices").noconvert(), nb::arg("distances").noconvert())
        .def("nearest_of", &BoundKdTree::nearest_of, nb::arg("points").noconvert(),
             nb::arg("threads"), nb::arg("indices").noconvert(), nb::arg("distances").noconvert());
}
