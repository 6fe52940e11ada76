// The step of a descent to approximate neighbours: members of a group become candidates of each
// other (Dong, Moses and Li, 2011).
//
// Lists keep the least of all that was offered, by (key, index): neither the order of the work nor
// the number of threads can show. A distance is given up as soon as part of its sum exceeds what
// both lists still take; sums only grow, whatever the rounding, so that this cannot show either.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "dispatch.hpp"
#include "poll.hpp"
#include "select.hpp"
#include "simd_wide.hpp"

namespace unbend {

typedef float Eight __attribute__((vector_size(32)));
typedef std::int32_t EightIndices __attribute__((vector_size(32)));

// Columns that are compared for many pairs at once, one pair a lane; rows have a multiple of it.
constexpr std::int64_t head = 32;
// Pairs whose heads are compared together.
constexpr std::int64_t at_once = 32;

UNBEND_INLINE inline Eight load_eight(const float *numbers) {
    Eight eight;
    std::memcpy(&eight, numbers, sizeof(eight));
    return eight;
}

UNBEND_INLINE inline float sum_of(const Eight (&parts)[4]) {
    const Eight s = (parts[0] + parts[1]) + (parts[2] + parts[3]);
    const float a = s[0] + s[4], b = s[1] + s[5], c = s[2] + s[6], d = s[3] + s[7];
    return (a + b) + (c + d);
}

// Adds the squared differences beyond the head, always in the same order; false once the sum
// exceeds `most`.
UNBEND_INLINE inline bool add_tail(const float *a, const float *b, std::int64_t columns, float most,
                                   float &key) {
    const float start = key;
    Eight parts[4] = {};
    for (std::int64_t c = head; c < columns;) {
        const std::int64_t stop = std::min(c + 2 * head, columns);
        for (; c < stop; c += head)
            for (int part = 0; part < 4; ++part) {
                const Eight difference = load_eight(a + c + 8 * part) - load_eight(b + c + 8 * part);
                parts[part] = parts[part] + difference * difference;
            }
        key = start + sum_of(parts);
        if (key > most) return false;
    }
    return true;
}

// The lists of all rows while several threads fill them.
class SharedLists {
  public:
    SharedLists(std::int64_t rows, std::int64_t length, float *keys, std::int32_t *indices,
                std::uint8_t *fresh)
        : length_(length), keys_(keys), indices_(indices), fresh_(fresh),
          before_(indices, indices + rows * length), bounds_(rows), locks_(rows) {
        for (std::int64_t i = 0; i < rows; ++i) {
            bounds_[i].store(keys[(i + 1) * length - 1], std::memory_order_relaxed);
            locks_[i].store(0, std::memory_order_relaxed);
        }
    }

    std::int64_t length() const { return length_; }

    // The list of a row as it was at first: a pair in it has been offered to both of its rows.
    UNBEND_INLINE const std::int32_t *before(std::int32_t row) const {
        return before_.data() + row * length_;
    }

    // What a list still takes; it may be less by the time it is used, never more.
    UNBEND_INLINE float bound(std::int32_t row) const {
        return bounds_[row].load(std::memory_order_relaxed);
    }

    UNBEND_INLINE void offer(std::int32_t row, float key, std::int32_t index) {
        if (key > bound(row)) return;
        while (locks_[row].exchange(1, std::memory_order_acquire)) continue;
        insert(row, key, index);
        locks_[row].store(0, std::memory_order_release);
    }

  private:
    UNBEND_INLINE void insert(std::int32_t row, float key, std::int32_t index) {
        SortedList<float> list{keys_ + row * length_, indices_ + row * length_, length_};
        std::int64_t place = 0;
        while (place + 8 < length_ && list.keys[place + 7] < key) place += 8;
        while (place < length_ && !list.before(key, index, place)) ++place;
        if (place == length_ || (place > 0 && list.indices[place - 1] == index)) return;
        std::uint8_t *fresh = fresh_ + row * length_;
        const std::int64_t moved = length_ - 1 - place;
        std::memmove(list.keys + place + 1, list.keys + place, moved * sizeof(float));
        std::memmove(list.indices + place + 1, list.indices + place, moved * sizeof(std::int32_t));
        std::memmove(fresh + place + 1, fresh + place, moved);
        list.keys[place] = key;
        list.indices[place] = index;
        fresh[place] = 1;
        bounds_[row].store(list.bound(), std::memory_order_relaxed);
    }

    std::int64_t length_;
    float *keys_;
    std::int32_t *indices_;
    std::uint8_t *fresh_;
    std::vector<std::int32_t> before_;
    std::vector<std::atomic<float>> bounds_;
    std::vector<std::atomic<std::uint8_t>> locks_;
};

// What one thread needs to compare the members of a group.
class Join {
  public:
    Join(const float *rows, std::int64_t columns, std::int64_t width, SharedLists &lists)
        : rows_(rows), columns_(columns), lists_(lists),
          stride_((width + at_once - 1) / at_once * at_once),
          heads_(head * stride_, std::numeric_limits<float>::infinity()), bounds_(stride_),
          known_length_((lists.length() + 7) / 8 * 8), known_(width * known_length_, -1) {}

    // Offers each of the first `fresh` members to all members, and these to it.
    UNBEND_INLINE void run(const std::int32_t *members, std::int64_t fresh, std::int64_t count) {
        for (std::int64_t m = 0; m < count; ++m) {
            const float *row = rows_ + members[m] * columns_;
            for (std::int64_t c = 0; c < head; ++c) heads_[c * stride_ + m] = row[c];
            bounds_[m] = lists_.bound(members[m]);
            std::memcpy(known_.data() + m * known_length_, lists_.before(members[m]),
                        lists_.length() * sizeof(std::int32_t));
        }
        for (std::int64_t p = 0; p < fresh; ++p)
            for (std::int64_t first = (p + 1) / at_once * at_once; first < count; first += at_once)
                compare(members, p, first, std::min(first + at_once, count));
    }

  private:
    // Offers member p and the later ones among first <= m < last to each other.
    UNBEND_INLINE void compare(const std::int32_t *members, std::int64_t p, std::int64_t first,
                               std::int64_t last) {
        alignas(32) float keys[at_once];
        const bool any = compare_heads(p, first, keys);
        if (!any) return;
        for (std::int64_t m = std::max(first, p + 1); m < last; ++m) {
            float key = keys[m - first];
            const float most = std::max(bounds_[p], bounds_[m]);
            if (key > most) continue;
            const std::int32_t a = members[p], b = members[m];
            if (knows(p, b) || knows(m, a)) continue;
            if (!add_tail(rows_ + a * columns_, rows_ + b * columns_, columns_, most, key)) continue;
            lists_.offer(a, key, b);
            lists_.offer(b, key, a);
            bounds_[p] = lists_.bound(a);
            bounds_[m] = lists_.bound(b);
        }
    }

    // Whether a member had a row in its list before.
    UNBEND_INLINE bool knows(std::int64_t member, std::int32_t row) const {
        const std::int32_t *known = known_.data() + member * known_length_;
        const EightIndices wanted = EightIndices{} + row;
        EightIndices found = {};
        for (std::int64_t e = 0; e < known_length_; e += 8) {
            EightIndices some;
            std::memcpy(&some, known + e, sizeof(some));
            found |= some == wanted;
        }
        return any_of(found);
    }

    // Squared distances of the heads; says whether any is within the bound of its pair.
    UNBEND_INLINE bool compare_heads(std::int64_t p, std::int64_t first, float *keys) const {
        Eight sum[4] = {};
        for (std::int64_t c = 0; c < head; ++c) {
            const float *column = heads_.data() + c * stride_;
            const Eight own = Eight{} + column[p];
            for (int v = 0; v < 4; ++v) {
                const Eight difference = load_eight(column + first + 8 * v) - own;
                sum[v] = sum[v] + difference * difference;
            }
        }
        const Eight own = Eight{} + bounds_[p];
        EightIndices within = {};
        for (int v = 0; v < 4; ++v) {
            const Eight bound = load_eight(bounds_.data() + first + 8 * v);
            within |= (sum[v] <= own) | (sum[v] <= bound);
            std::memcpy(keys + 8 * v, &sum[v], sizeof(Eight));
        }
        return any_of(within);
    }

    const float *rows_;
    std::int64_t columns_;
    SharedLists &lists_;
    std::int64_t stride_;
    std::vector<float> heads_;   // column, member
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
inline void join(const float *rows, std::int64_t n, std::int64_t columns, const Groups &groups,
                 std::int64_t length, int threads, const std::function<void()> &poll, float *keys,
                 std::int32_t *indices, std::uint8_t *fresh) {
    constexpr std::int64_t block = 16;
    SharedLists lists(n, length, keys, indices, fresh);
    Poller poller(poll);
    run_tasks((groups.groups + block - 1) / block, threads, poller,
              [&] { return Join(rows, columns, groups.width, lists); },
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
