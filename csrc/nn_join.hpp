// The step of a descent to approximate neighbours: members of a group become candidates of each
// other (Dong, Moses and Li, 2011).
//
// Products of matrices give lower bounds of the keys of all pairs; a key is computed, by differences,
// only where the bound is within what one of the lists still takes. So the products cannot show in
// what is found, whatever their rounding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "nn_group.hpp"
#include "poll.hpp"

namespace unbend {

// What one thread needs to compare the members of a group.
class Join {
  public:
    // `before` are the lists as they were: a pair in them has been offered to both of its rows.
    Join(const SingleRows &rows, std::int64_t width, const std::int32_t *before, SharedLists &lists)
        : rows_(rows), before_(before), lists_(lists), group_(rows.numbers, rows.columns),
          bounds_((width + panel<float> - 1) / panel<float> * panel<float>,
                  -std::numeric_limits<float>::infinity()),
          known_length_((lists.length() + 7) / 8 * 8), known_(width * known_length_, -1) {}

    // Offers each of the first `fresh` members to all members, and these to it.
    UNBEND_INLINE void run(const std::int32_t *members, std::int64_t fresh, std::int64_t count) {
        using Tile = Block<float>;
        if (fresh == 0 || count < 2) return;
        group_.pack(members, count, rows_.of(members[0]));
        for (std::int64_t m = 0; m < count; ++m) {
            bounds_[m] = lists_.bound(members[m]);
            std::memcpy(known_.data() + m * known_length_, before_ + members[m] * lists_.length(),
                        lists_.length() * sizeof(std::int32_t));
        }
        const Sides<float> sides = group_.sides();
        for (std::int64_t row = 0; row < fresh; row += Tile::height)
            for (std::int64_t column = row / Tile::width * Tile::width; column < count;
                 column += Tile::width)
                Tile(sides, row, column)
                    .within(bounds_.data() + row, bounds_.data() + column,
                            [&](std::int64_t r, std::int64_t c, float) UNBEND_INLINE {
                                const std::int64_t p = row + r, m = column + c;
                                if (p < fresh && p < m) offer(members, p, m);
                            });
    }

  private:
    UNBEND_INLINE void offer(const std::int32_t *members, std::int64_t p, std::int64_t m) {
        const std::int32_t a = members[p], b = members[m];
        if (knows(p, b) || knows(m, a)) return;
        const float key = key_of(rows_.of(a), rows_.of(b), rows_.columns);
        lists_.offer(a, key, b);
        lists_.offer(b, key, a);
        bounds_[p] = lists_.bound(a);
        bounds_[m] = lists_.bound(b);
    }

    // Whether a member had a row in its list before.
    UNBEND_INLINE bool knows(std::int64_t member, std::int32_t row) const {
        return contains(known_.data() + member * known_length_, known_length_, row);
    }

    const SingleRows &rows_;
    const std::int32_t *before_;
    SharedLists &lists_;
    PackedGroup group_;
    std::vector<float> bounds_;  // of the lists of the members
    std::int64_t known_length_;
    std::vector<std::int32_t> known_;  // the lists of the members as they were
};

// Groups of members, in rows of a fixed width: the first `fresh` of `count` are new to the others.
struct Groups {
    const std::int32_t *members;
    const std::int32_t *fresh, *count;
    std::int64_t groups, width;
};

// Updates sorted lists (rows, length) by all groups; entries that come in are marked as fresh.
inline void join(const SingleRows &rows, const Groups &groups, std::int64_t length, int threads,
                 const std::function<void()> &poll, float *keys, std::int32_t *indices,
                 std::uint8_t *fresh) {
    constexpr std::int64_t block = 16;
    const std::vector<std::int32_t> before(indices, indices + rows.rows * length);
    SharedLists lists(rows.rows, length, keys, indices, fresh);
    Poller poller(poll);
    run_tasks((groups.groups + block - 1) / block, threads, poller,
              [&] { return Join(rows, groups.width, before.data(), lists); },
              [&](Join &own, std::int64_t task) {
                  const std::int64_t last = std::min((task + 1) * block, groups.groups);
                  dispatch([&]() UNBEND_INLINE {
                      for (std::int64_t g = task * block; g < last; ++g)
                          own.run(groups.members + g * groups.width, groups.fresh[g],
                                  groups.count[g]);
                  });
              });
    poller.rethrow();
}

}  // namespace unbend
