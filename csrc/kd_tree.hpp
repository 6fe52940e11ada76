// A KD-tree of tight boxes. Building is in kd_build.hpp, searching in kd_search.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace unbend {

// Rows of a leaf lie side by side, one column after the other, in groups of this many.
constexpr std::int64_t abreast = 8;
// Leaves hold at most this many rows, unless all their rows are equal.
constexpr std::int64_t leaf_rows = 2 * abreast;

// Children of an inner node: two levels of a binary tree at once, so that one vector holds them.
constexpr int arity = 4;

struct KdNode {
    std::int64_t group;           // leaves: the first group of rows
    std::int32_t count;           // leaves: rows; 0 in inner nodes
    std::int32_t parent;
    std::int32_t child[arity];    // inner nodes; those missing have boxes that nothing is near to
};

// Numbers are stored as they are given, in single or double precision; what is computed is double.
template <typename Real>
struct KdTree {
    using Number = Real;
    std::int64_t rows = 0;
    int columns = 0;
    int depth = 0;
    double scale = 1;                  // powers of two keep squares of coordinates in range
    std::vector<KdNode> nodes;
    // Boxes of the children of each node, column by column: all lows, then all highs.
    std::vector<Real> boxes;
    std::vector<Real> coordinates;     // group, column, lane; infinite where there is no row
    std::vector<std::int32_t> index;   // row of each lane
    std::vector<std::int32_t> leaves;  // the leaves from left to right

    const Real *box(std::int32_t node) const {
        return boxes.data() + static_cast<std::int64_t>(node) * 2 * arity * columns;
    }
};

// The factor 2^e that brings the largest number near one; 1 where squares do no harm anyway.
inline double safe_scale(double largest) {
    if (largest == 0 || (largest >= 0x1p-250 && largest <= 0x1p400)) return 1;
    int exponent = 0;
    std::frexp(largest, &exponent);
    return std::ldexp(1.0, std::min(-exponent, 1000));
}

template <typename Real>
double largest_size(const Real *points, std::int64_t numbers) {
    double largest = 0;
    for (std::int64_t i = 0; i < numbers; ++i) {
        if (!std::isfinite(points[i])) throw std::invalid_argument("the rows must be finite");
        largest = std::max(largest, std::fabs(static_cast<double>(points[i])));
    }
    return largest;
}

}  // namespace unbend
