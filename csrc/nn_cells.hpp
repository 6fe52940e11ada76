// The start of a descent: all rows of a cell are compared by products of matrices, and the nearest
// of each are offered to its list.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "nn_group.hpp"
#include "poll.hpp"

namespace unbend {

// Members of each cell one after another, ascending, from `first[c]` to `first[c + 1]`.
struct Cells {
    const std::int32_t *members;
    const std::int64_t *first;
    std::int64_t cells;
};

// What one thread needs to compare the members of a cell.
class CellJoin {
  public:
    CellJoin(const SingleRows &rows, SharedLists &lists)
        : rows_(rows), lists_(lists), group_(rows.numbers, rows.columns),
          length_(lists.length()),
          room_((length_ + std::max<std::int64_t>(length_ / 2, 8) + 7) / 8 * 8),
          known_((length_ + 7) / 8 * 8, -1), sorted_keys_(length_), sorted_(length_) {}

    // Offers to each member the nearest others, by products as many as a list has entries. Those
    // beyond what a list takes would not come in: they are not even proposed.
    UNBEND_INLINE void run(const std::int32_t *members, std::int64_t count) {
        using Tile = Block<float>;
        if (count < 2) return;
        clear(members, count);
        group_.pack(members, count, rows_.of(pivot(members, count)));
        const Shortlists<float> lists{keys_.data(),  bounds_.data(), indices_.data(),
                                      sizes_.data(), length_,        room_};
        const Sides<float> sides = group_.sides();
        for (std::int64_t column = 0; column < count; column += Tile::width) {
            const std::int64_t last = std::min(column + Tile::width, count);
            for (std::int64_t row = 0; row < last; row += Tile::height)
                Tile(sides, row, column)
                    .within(bounds_.data() + row, bounds_.data() + column,
                            [&](std::int64_t r, std::int64_t c, float key) UNBEND_INLINE {
                                const std::int64_t i = row + r, j = column + c;
                                if (i >= j) return;
                                if (key <= lists.bounds[i]) lists.take(i, key, j);
                                if (key <= lists.bounds[j]) lists.take(j, key, i);
                            });
        }
        for (std::int64_t i = 0; i < count; ++i) offer(members, i, lists);
    }

  private:
    void clear(const std::int32_t *members, std::int64_t count) {
        const std::int64_t padded = (count + panel<float> - 1) / panel<float> * panel<float>;
        keys_.resize(padded * room_);
        indices_.resize(padded * room_);
        sizes_.assign(padded, 0);
        bounds_.assign(padded, -std::numeric_limits<float>::infinity());
        for (std::int64_t m = 0; m < count; ++m) bounds_[m] = lists_.bound(members[m]);
    }

    // The most central of a few members: relative to an outlier, products would lose all digits.
    UNBEND_INLINE std::int32_t pivot(const std::int32_t *members, std::int64_t count) const {
        constexpr std::int64_t sample = 9;
        const std::int64_t some = std::min(sample, count);
        std::int32_t best = members[0];
        float least = std::numeric_limits<float>::infinity();
        for (std::int64_t p = 0; p < some; ++p) {
            float away[sample];
            for (std::int64_t q = 0; q < some; ++q)
                away[q] = key_of(rows_.of(members[p * count / some]),
                                 rows_.of(members[q * count / some]), rows_.columns);
            std::nth_element(away, away + some / 2, away + some);
            if (away[some / 2] >= least) continue;
            least = away[some / 2];
            best = members[p * count / some];
        }
        return best;
    }

    // Offers the candidates of a member to its list, by their keys.
    UNBEND_INLINE void offer(const std::int32_t *members, std::int64_t i,
                             const Shortlists<float> &lists) {
        const std::int32_t own = members[i];
        lists.sorted(i, pairs_, sorted_keys_.data(), sorted_.data());
        lists_.copy(own, known_.data());
        const std::int64_t known = static_cast<std::int64_t>(known_.size());
        for (std::int64_t j = 0; j < std::min<std::int64_t>(length_, lists.sizes[i]); ++j) {
            if (sorted_keys_[j] > lists_.bound(own)) return;
            const std::int32_t other = members[sorted_[j]];
            if (contains(known_.data(), known, other)) continue;
            lists_.offer(own, key_of(rows_.of(own), rows_.of(other), rows_.columns), other);
        }
    }

    const SingleRows &rows_;
    SharedLists &lists_;
    PackedGroup group_;
    std::int64_t length_, room_;
    std::vector<float> keys_, bounds_;           // shortlists of the members
    std::vector<std::int32_t> indices_, sizes_;
    std::vector<std::int32_t> known_;            // the list of one member
    std::vector<float> sorted_keys_;
    std::vector<std::int32_t> sorted_;
    Pairs<float> pairs_;
};

// Updates sorted lists (rows, length) by all cells; entries that come in are marked as fresh.
inline void join_cells(const SingleRows &rows, const Cells &cells, std::int64_t length, int threads,
                       const std::function<void()> &poll, float *keys, std::int32_t *indices,
                       std::uint8_t *fresh) {
    SharedLists lists(rows.rows, length, keys, indices, fresh);
    Poller poller(poll);
    run_tasks(cells.cells, threads, poller, [&] { return CellJoin(rows, lists); },
              [&](CellJoin &own, std::int64_t c) {
                  dispatch([&]() UNBEND_INLINE {
                      own.run(cells.members + cells.first[c], cells.first[c + 1] - cells.first[c]);
                  });
              });
    poller.rethrow();
}

}  // namespace unbend
