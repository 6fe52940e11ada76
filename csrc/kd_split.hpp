// Splitting rows for a KD-tree: at a median of the column in which they spread most.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "simd_four.hpp"
#include "kd_tree.hpp"

namespace unbend {

// Rows that lie together in the tree to be, and their box: lows, then highs.
struct KdPart {
    std::int64_t first, last;
    std::vector<double> box;

    std::int64_t count() const { return last - first; }

    int widest() const {
        const int columns = static_cast<int>(box.size()) / 2;
        const double *low = box.data(), *high = low + columns;
        int widest = 0;
        for (int c = 1; c < columns; ++c)
            if (high[c] - low[c] > high[widest] - low[widest]) widest = c;
        return widest;
    }

    bool is_leaf() const {
        const int c = widest();
        return count() <= leaf_rows || box[box.size() / 2 + c] == box[c];
    }
};

// The rows on their way to the leaves.
template <typename Real>
class KdRows {
  public:
    // A little longer than the rows, so that whole vectors can be read anywhere.
    KdRows(const Real *points, std::int64_t rows, int columns, double scale)
        : columns(columns), numbers(rows * columns + 3), index(rows) {
        for (std::int64_t i = 0; i < rows * columns; ++i) numbers[i] = static_cast<Real>(points[i] * scale);
        for (std::int64_t i = 0; i < rows; ++i) index[i] = static_cast<std::int32_t>(i);
    }

    KdPart part(std::int64_t first, std::int64_t last) const {
        KdPart part{first, last, std::vector<double>(2 * columns)};
        dispatch([&]() UNBEND_INLINE {
            for (int c = 0; c < columns; c += 4) measure(part, c);
        });
        return part;
    }

    void swap(std::int64_t i, std::int64_t j) {
        std::swap_ranges(&numbers[i * columns], &numbers[i * columns] + columns,
                         &numbers[j * columns]);
        std::swap(index[i], index[j]);
    }

    const int columns;
    std::vector<Real> numbers;
    std::vector<std::int32_t> index;

  private:
    // Extremes of four columns at once; beyond the last one are numbers of the next row, which are
    // not used.
    UNBEND_INLINE void measure(KdPart &part, int column) const {
        Four<Real> low = Four<Real>::all(std::numeric_limits<Real>::infinity());
        Four<Real> high = Four<Real>::all(-std::numeric_limits<Real>::infinity());
        const Real *row = numbers.data() + part.first * columns + column;
        for (std::int64_t i = part.first; i < part.last; ++i, row += columns) {
            const Four<Real> given = Four<Real>::load(row);
            low = smaller(given, low);
            high = larger(given, high);
        }
        Real lows[4], highs[4];
        low.store(lows);
        high.store(highs);
        for (int c = 0; c < 4 && column + c < columns; ++c) {
            part.box[column + c] = lows[c];
            part.box[columns + column + c] = highs[c];
        }
    }
};

// Splits parts in two.
template <typename Real>
class KdSplitter {
  public:
    explicit KdSplitter(KdRows<Real> &rows) : rows_(rows) {}

    // Appends the halves of a part, or the part itself if it is a leaf.
    void halve(const KdPart &whole, std::vector<KdPart> &parts) {
        if (whole.is_leaf()) {
            parts.push_back(whole);
            return;
        }
        const std::int64_t middle = partition(whole, whole.widest());
        parts.push_back(rows_.part(whole.first, middle));
        parts.push_back(rows_.part(middle, whole.last));
    }

  private:
    static constexpr std::int64_t sample = 127;

    struct Cut {
        std::int64_t left;
        bool with_equal;  // whether numbers equal to the pivot go left
    };

    // Puts the rows with the smaller numbers in a column first; both sides get some.
    std::int64_t partition(const KdPart &whole, int column) {
        const std::int64_t count = whole.count();
        values_.resize(std::max<std::size_t>(values_.size(), count));
        for (std::int64_t i = 0; i < count; ++i)
            values_[i] = rows_.numbers[(whole.first + i) * rows_.columns + column];
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
        if (cut.with_equal)
            swap_misplaced(whole.first, count, cut.left, [=](double x) { return x <= pivot; });
        else
            swap_misplaced(whole.first, count, cut.left, [=](double x) { return x < pivot; });
        return whole.first + cut.left;
    }

    // Swaps rows on the wrong side of `left`, of which there are as many on either: found without
    // branches, since no processor foresees them.
    template <typename GoesLeft>
    void swap_misplaced(std::int64_t first, std::int64_t count, std::int64_t left,
                        const GoesLeft &goes_left) {
        from_left_.resize(std::max<std::size_t>(from_left_.size(), count + 1));
        from_right_.resize(from_left_.size());
        const double *values = values_.data();
        std::int32_t *from_left = from_left_.data(), *from_right = from_right_.data();
        std::int64_t misplaced = 0, others = 0;
        for (std::int64_t i = 0; i < left; ++i) {
            from_left[misplaced] = static_cast<std::int32_t>(i);
            misplaced += !goes_left(values[i]);
        }
        for (std::int64_t i = left; i < count; ++i) {
            from_right[others] = static_cast<std::int32_t>(i);
            others += goes_left(values[i]);
        }
        for (std::int64_t m = 0; m < misplaced; ++m)
            rows_.swap(first + from_left[m], first + from_right[m]);
    }

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
        const std::int64_t middle =
            size < count ? size / 2 : (size + abreast) / (2 * abreast) * abreast;
        std::nth_element(scratch_.begin(), scratch_.begin() + middle, scratch_.end());
        return scratch_[middle];
    }

    KdRows<Real> &rows_;
    std::vector<double> values_, scratch_;
    std::vector<std::int32_t> from_left_, from_right_;
};

}  // namespace unbend
