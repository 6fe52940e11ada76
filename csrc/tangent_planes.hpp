// Tangent planes of neighbourhoods: what share of the variance they hold, and how far edges leave them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "leading_pairs.hpp"
#include "local_gram.hpp"
#include "watch.hpp"

namespace unbend {

// Neighbours of the rows of a table; those that are not `used` have no part in planes.
template <typename Number>
struct PlaneNeighbors {
    const Number *points;
    std::int64_t columns;
    const std::int64_t *offset;
    const std::int32_t *member;
    const bool *used;
};

// Other edges to compare with planes: those with the plane of number k are offset[k] to offset[k + 1].
struct OtherEdges {
    const std::int64_t *offset;
    const std::int32_t *start, *end;
};

template <typename Number>
class TangentPlane {
  public:
    // Of neighbourhoods of at most so many rows. Matrices have no more rows than there are columns,
    // however many neighbours a row has.
    TangentPlane(const PlaneNeighbors<Number> &given, std::int64_t most, std::int64_t d)
        : given_(given), d_(d), small_(std::min(given.columns, most)),
          gram_(given.points, given.columns, small_), pairs_(small_, d), products_(small_ * small_),
          matrix_(padded_size(small_) * padded_size(small_)),
          differences_(small_ * padded_size(most)), centred_(differences_.size()),
          along_(padded_size(most)), squares_(padded_size(most)),
          directions_(std::min(d, small_) * given.columns) {
        members_.reserve(most);
        entries_.reserve(most);
    }

    // Fits the plane of a row. Directions that are rounding are left out.
    UNBEND_INLINE void fit(std::int64_t row) {
        members_.assign(1, static_cast<std::int32_t>(row));
        entries_.clear();
        for (std::int64_t e = given_.offset[row]; e < given_.offset[row + 1]; ++e)
            if (given_.used[e]) {
                members_.push_back(given_.member[e]);
                entries_.push_back(e);
            }
        size_ = static_cast<std::int64_t>(members_.size());
        padded_ = padded_size(size_);
        narrow_ = given_.columns <= size_;
        if (narrow_)
            take_covariance();
        else
            take_products();
        rank_ = 0;
        while (rank_ < d_ && pairs_.value(rank_) > null_share * pairs_.trace()) ++rank_;
        found_directions_ = false;
    }

    // Shares of the variance in the leading 1, …, d directions.
    UNBEND_INLINE void shares(double *share) const {
        double sum = 0;
        for (std::int64_t a = 0; a < d_; ++a) {
            if (a < rank_) sum += pairs_.value(a);
            share[a] = pairs_.trace() > 0 ? std::min(sum / pairs_.trace(), 1.0) : 1.0;
        }
    }

    // Squared sines between the plane and the edges of the neighbourhood.
    UNBEND_INLINE void inner_sines(double *sine) {
        if (size_ <= d_ + 1) return;
        std::fill(along_.begin(), along_.begin() + padded_, 0.0);
        for (std::int64_t a = 0; a < rank_; ++a) add_along(a);
        for (std::int64_t i = 1; i < size_; ++i)
            sine[entries_[i - 1]] = squared_sine(along_[i], squares_[i]);
    }

    // Squared sine between the plane and an edge; zero where there are too few rows for a plane.
    UNBEND_INLINE double sine(std::int64_t start, std::int64_t end) {
        if (size_ <= d_ + 1) return 0;
        if (!found_directions_) find_directions();
        const Number *first = given_.points + start * given_.columns;
        const Number *second = given_.points + end * given_.columns;
        double along = 0, squares = 0;
        for (std::int64_t c = 0; c < given_.columns; ++c) {
            const double difference = static_cast<double>(second[c]) - static_cast<double>(first[c]);
            squares += difference * difference;
        }
        for (std::int64_t a = 0; a < rank_; ++a) {
            const double *direction = &directions_[a * given_.columns];
            double part = 0;
            for (std::int64_t c = 0; c < given_.columns; ++c)
                part += direction[c] * (static_cast<double>(second[c]) - static_cast<double>(first[c]));
            along += part * part;
        }
        return squared_sine(along, squares);
    }

  private:
    // Eigenvalues below this share of the sum are rounding.
    static constexpr double null_share = 1e-12;

    UNBEND_INLINE static double squared_sine(double along, double squares) {
        return squares > 0 ? std::min(std::max(1 - along / squares, 0.0), 1.0) : 0.0;
    }

    // Few columns: their second moments. Columns are stored one after the other.
    UNBEND_INLINE void take_covariance() {
        const std::int64_t columns = given_.columns, wide = padded_size(columns);
        const Number *center = given_.points + members_[0] * columns;
        std::fill(squares_.begin(), squares_.begin() + padded_, 0.0);
        for (std::int64_t c = 0; c < columns; ++c) {
            double *difference = &differences_[c * padded_], *centred = &centred_[c * padded_];
            double mean = 0;
            for (std::int64_t i = 0; i < size_; ++i) {
                difference[i] = static_cast<double>(given_.points[members_[i] * columns + c]) -
                                static_cast<double>(center[c]);
                mean += difference[i];
            }
            mean /= static_cast<double>(size_);
            std::fill(difference + size_, difference + padded_, 0.0);
            for (std::int64_t i = 0; i < padded_; ++i) {
                squares_[i] += difference[i] * difference[i];
                centred[i] = difference[i] - mean;
            }
            std::fill(centred + size_, centred + padded_, 0.0);
        }
        for (std::int64_t a = 0; a < columns; ++a) {
            std::fill(&matrix_[a * wide] + columns, &matrix_[a * wide] + wide, 0.0);
            for (std::int64_t b = 0; b <= a; ++b)
                matrix_[a * wide + b] = matrix_[b * wide + a] =
                    padded_dot(&centred_[a * padded_], &centred_[b * padded_], padded_);
        }
        pairs_.run(matrix_.data(), columns);
    }

    // Many columns: the inner products of the rows about their mean.
    UNBEND_INLINE void take_products() {
        gram_.run(members_.data(), size_, products_.data());
        double whole = 0;
        for (std::int64_t i = 0; i < size_; ++i) {
            double sum = 0;
            for (std::int64_t j = 0; j < size_; ++j) sum += products_[i * size_ + j];
            squares_[i] = products_[i * size_ + i];
            along_[i] = sum / static_cast<double>(size_);
            whole += along_[i] / static_cast<double>(size_);
        }
        for (std::int64_t i = 0; i < size_; ++i) {
            double *to = &matrix_[i * padded_];
            for (std::int64_t j = 0; j < size_; ++j)
                to[j] = products_[i * size_ + j] - along_[i] - along_[j] + whole;
            std::fill(to + size_, to + padded_, 0.0);
        }
        pairs_.run(matrix_.data(), size_);
    }

    // Adds the squared parts of the edges along one direction.
    UNBEND_INLINE void add_along(std::int64_t a) {
        const double *vector = pairs_.vector(a);
        double *along = along_.data();
        if (!narrow_) {
            const double value = pairs_.value(a);
            for (std::int64_t i = 1; i < size_; ++i) {
                const double part = vector[i] - vector[0];
                along[i] += value * part * part;
            }
            return;
        }
        double *part = centred_.data();
        std::fill(part, part + padded_, 0.0);
        for (std::int64_t c = 0; c < given_.columns; ++c)
            padded_add(vector[c], &differences_[c * padded_], padded_, part);
        for (std::int64_t i = 0; i < padded_; ++i) along[i] += part[i] * part[i];
    }

    UNBEND_INLINE void find_directions() {
        const std::int64_t columns = given_.columns;
        for (std::int64_t a = 0; a < rank_; ++a) {
            double *direction = &directions_[a * columns];
            const double *vector = pairs_.vector(a);
            if (narrow_) {
                std::copy_n(vector, columns, direction);
                continue;
            }
            std::fill(direction, direction + columns, 0.0);
            const double factor = 1 / std::sqrt(pairs_.value(a));
            const Number *center = given_.points + members_[0] * columns;
            for (std::int64_t i = 1; i < size_; ++i) {
                const Number *point = given_.points + members_[i] * columns;
                const double share = factor * vector[i];
                for (std::int64_t c = 0; c < columns; ++c)
                    direction[c] +=
                        share * (static_cast<double>(point[c]) - static_cast<double>(center[c]));
            }
        }
        found_directions_ = true;
    }

    const PlaneNeighbors<Number> given_;
    const std::int64_t d_, small_;
    LocalGram<Number> gram_;
    LeadingPairs pairs_;
    std::vector<double> products_, matrix_, differences_, centred_, along_, squares_, directions_;
    std::vector<std::int32_t> members_;
    std::vector<std::int64_t> entries_;
    std::int64_t size_ = 0, padded_ = 0, rank_ = 0;
    bool narrow_ = false, found_directions_ = false;
};

// For the planes of `count` rows: `share` (count, d) of the variance, `inner` sines of the edges of these
// rows, zero where they are not used, and `outer` sines of other edges.
template <typename Number>
void tangent_sines(const PlaneNeighbors<Number> &given, const std::int32_t *rows, std::int64_t count,
                   std::int64_t d, const OtherEdges &others, int threads, const Poll &poll,
                   double *share, double *inner, double *outer) {
    std::int64_t most = 1;
    for (std::int64_t k = 0; k < count; ++k)
        most = std::max(most, 1 + given.offset[rows[k] + 1] - given.offset[rows[k]]);
    constexpr std::int64_t at_once = 64;
    run_watched(count, at_once, threads, poll, [&] { return TangentPlane<Number>(given, most, d); },
                [&](TangentPlane<Number> &plane, std::int64_t first, std::int64_t last) {
        dispatch([&]() UNBEND_INLINE {
            for (std::int64_t k = first; k < last; ++k) {
                const std::int64_t row = rows[k];
                std::fill(inner + given.offset[row], inner + given.offset[row + 1], 0.0);
                plane.fit(row);
                plane.shares(share + k * d);
                plane.inner_sines(inner);
                for (std::int64_t e = others.offset[k]; e < others.offset[k + 1]; ++e)
                    outer[e] = plane.sine(others.start[e], others.end[e]);
            }
        });
    });
}

}  // namespace unbend
