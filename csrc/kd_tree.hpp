// A KD-tree of tight boxes: building. Searching is in kd_search.hpp.
//
// Rows are split at a median of the column in which they spread most. Equal rows are never
// separated: they share a leaf, in the order of their indices, of which a search needs only the
// first few. Nothing degenerates, however many rows coincide.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

namespace unbend {

// Rows of a leaf lie side by side, one column after the other, in groups of this many.
constexpr std::int64_t lanes = 8;
// Leaves hold at most this many rows, unless all their rows are equal.
constexpr std::int64_t leaf_rows = 2 * lanes;

// Children of an inner node: two levels of a binary tree at once, so that one vector holds them.
constexpr int arity = 4;

struct KdNode {
    std::int64_t group;           // leaves: the first group of lanes
    std::int32_t count;           // leaves: rows; 0 in inner nodes
    std::int32_t parent;
    std::int32_t child[arity];    // inner nodes; those missing have boxes that nothing is near to
};

struct KdTree {
    std::int64_t rows = 0;
    int columns = 0;
    int depth = 0;
    double scale = 1;                  // powers of two keep squares of coordinates in range
    std::vector<KdNode> nodes;
    // Boxes of the children of each node, column by column: all lows, then all highs.
    std::vector<double> boxes;
    std::vector<double> coordinates;   // group, column, lane; infinite where there is no row
    std::vector<std::int32_t> index;   // row of each lane
    std::vector<std::int32_t> leaves;  // the leaves from left to right

    const double *box(std::int32_t node) const {
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

inline double largest_size(const double *points, std::int64_t numbers) {
    double largest = 0;
    for (std::int64_t i = 0; i < numbers; ++i) {
        if (!std::isfinite(points[i])) throw std::invalid_argument("the rows must be finite");
        largest = std::max(largest, std::fabs(points[i]));
    }
    return largest;
}

class KdBuilder {
  public:
    // `poll` is called now and then, and may throw to stop the building.
    KdBuilder(const double *points, std::int64_t rows, int columns,
              const std::function<void()> &poll)
        : poll_(poll) {
        tree.rows = rows;
        tree.columns = columns;
        tree.scale = safe_scale(largest_size(points, rows * columns));
        rows_.assign(points, points + rows * columns);
        for (double &number : rows_) number *= tree.scale;
        index_.resize(rows);
        for (std::int64_t i = 0; i < rows; ++i) index_[i] = static_cast<std::int32_t>(i);
        values_.resize(rows);
        grow(part(0, rows), -1, 1);
    }

    KdTree tree;

  private:
    static constexpr std::int64_t sample = 127;

    // The box of some rows: lows, then highs.
    void measure(std::int64_t first, std::int64_t last, double *box) const {
        const int columns = tree.columns;
        double *low = box, *high = box + columns;
        std::fill(low, high, std::numeric_limits<double>::infinity());
        std::fill(high, high + columns, -std::numeric_limits<double>::infinity());
        for (std::int64_t i = first; i < last; ++i) {
            const double *row = &rows_[i * columns];
            for (int c = 0; c < columns; ++c) {
                low[c] = std::min(low[c], row[c]);
                high[c] = std::max(high[c], row[c]);
            }
        }
    }

    // Rows in a box (lows, highs): a part of the tree to be.
    struct Part {
        std::int64_t first, last;
        std::vector<double> box;
    };

    Part part(std::int64_t first, std::int64_t last) const {
        Part part{first, last, std::vector<double>(2 * tree.columns)};
        measure(first, last, part.box.data());
        return part;
    }

    int widest(const Part &part) const {
        const double *low = part.box.data(), *high = low + tree.columns;
        int widest = 0;
        for (int c = 1; c < tree.columns; ++c)
            if (high[c] - low[c] > high[widest] - low[widest]) widest = c;
        return widest;
    }

    bool is_leaf(const Part &part) const {
        const int c = widest(part);
        return part.last - part.first <= leaf_rows || part.box[tree.columns + c] == part.box[c];
    }

    // Splits a part in two, or leaves it whole.
    void halve(const Part &whole, std::vector<Part> &parts) {
        if (is_leaf(whole)) {
            parts.push_back(whole);
            return;
        }
        if (whole.last - whole.first > poll_rows) poll_();
        const std::int64_t middle = partition(whole.first, whole.last, widest(whole));
        parts.push_back(part(whole.first, middle));
        parts.push_back(part(middle, whole.last));
    }

    std::int32_t grow(const Part &whole, std::int32_t parent, int depth) {
        const int columns = tree.columns;
        const auto node = static_cast<std::int32_t>(tree.nodes.size());
        tree.nodes.push_back({0, 0, parent, {-1, -1, -1, -1}});
        tree.boxes.resize(tree.boxes.size() + 2 * arity * columns,
                          std::numeric_limits<double>::infinity());
        tree.depth = std::max(tree.depth, depth);
        if (is_leaf(whole)) {
            add_leaf(node, whole.first, whole.last);
            return node;
        }
        std::vector<Part> halves, parts;
        halve(whole, halves);
        for (const Part &half : halves) halve(half, parts);
        for (std::size_t side = 0; side < parts.size(); ++side) {
            const std::int32_t child = grow(parts[side], node, depth + 1);
            tree.nodes[node].child[side] = child;
            double *box = &tree.boxes[static_cast<std::int64_t>(node) * 2 * arity * columns + side];
            for (int c = 0; c < columns; ++c) {
                box[2 * arity * c] = parts[side].box[c];
                box[2 * arity * c + arity] = parts[side].box[columns + c];
            }
        }
        return node;
    }

    // Puts the rows with the smaller numbers in a column first; both sides get some.
    std::int64_t partition(std::int64_t first, std::int64_t last, int column) {
        const std::int64_t count = last - first;
        for (std::int64_t i = 0; i < count; ++i)
            values_[i] = rows_[(first + i) * tree.columns + column];
        double pivot = median_of_sample(count);
        Cut cut = cut_at(pivot, count);
        if (std::min(cut.left, count - cut.left) < count / 8) {
            // An unlucky sample, or a number that many rows share; the true median bounds the
            // depth in the first case and does no harm in the second.
            scratch_.assign(values_.begin(), values_.begin() + count);
            std::nth_element(scratch_.begin(), scratch_.begin() + count / 2, scratch_.end());
            pivot = scratch_[count / 2];
            cut = cut_at(pivot, count);
        }
        return first + move(first, last, column, pivot, cut.with_equal);
    }

    struct Cut {
        std::int64_t left;
        bool with_equal;  // whether numbers equal to the pivot go left
    };

    Cut cut_at(double pivot, std::int64_t count) const {
        std::int64_t less = 0, equal = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            less += values_[i] < pivot;
            equal += values_[i] == pivot;
        }
        const std::int64_t without = std::min(less, count - less);
        const std::int64_t with = std::min(less + equal, count - less - equal);
        return with > without ? Cut{less + equal, true} : Cut{less, false};
    }

    double median_of_sample(std::int64_t count) {
        const std::int64_t size = std::min(count, sample);
        scratch_.resize(size);
        for (std::int64_t i = 0; i < size; ++i) scratch_[i] = values_[i * count / size];
        // Of few rows a whole number of groups goes left, so that leaves are full.
        const std::int64_t middle = size < count ? size / 2 : (size + lanes) / (2 * lanes) * lanes;
        std::nth_element(scratch_.begin(), scratch_.begin() + middle, scratch_.end());
        return scratch_[middle];
    }

    // Swaps rows until all that go left come first; gives their number.
    std::int64_t move(std::int64_t first, std::int64_t last, int column, double pivot,
                      bool with_equal) {
        const int columns = tree.columns;
        const auto goes_left = [&](std::int64_t i) {
            const double value = rows_[i * columns + column];
            return with_equal ? value <= pivot : value < pivot;
        };
        std::int64_t i = first, j = last - 1;
        while (true) {
            while (i <= j && goes_left(i)) ++i;
            while (i <= j && !goes_left(j)) --j;
            if (i > j) return i - first;
            std::swap_ranges(&rows_[i * columns], &rows_[i * columns] + columns,
                             &rows_[j * columns]);
            std::swap(index_[i], index_[j]);
        }
    }

    void add_leaf(std::int32_t node, std::int64_t first, std::int64_t last) {
        const int columns = tree.columns;
        const std::int64_t group = static_cast<std::int64_t>(tree.index.size()) / lanes;
        const std::int64_t groups = (last - first + lanes - 1) / lanes;
        tree.nodes[node].group = group;
        tree.nodes[node].count = static_cast<std::int32_t>(last - first);
        tree.leaves.push_back(node);
        // Rows are equal or few: their order matters only where they are equal.
        if (last - first > leaf_rows) std::sort(&index_[first], &index_[first] + (last - first));
        tree.index.resize((group + groups) * lanes, -1);
        tree.coordinates.resize((group + groups) * lanes * columns,
                                std::numeric_limits<double>::infinity());
        for (std::int64_t i = 0; i < last - first; ++i) {
            const std::int64_t lane = group * lanes + i;
            tree.index[lane] = index_[first + i];
            double *block = &tree.coordinates[(lane / lanes) * lanes * columns + lane % lanes];
            for (int c = 0; c < columns; ++c) block[c * lanes] = rows_[(first + i) * columns + c];
        }
    }

    static constexpr std::int64_t poll_rows = 1 << 16;

    const std::function<void()> &poll_;
    std::vector<double> rows_, values_, scratch_;
    std::vector<std::int32_t> index_;
};

inline KdTree build_kd_tree(const double *points, std::int64_t rows, int columns,
                            const std::function<void()> &poll) {
    return KdBuilder(points, rows, columns, poll).tree;
}

}  // namespace unbend
