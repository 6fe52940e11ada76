// Who is to be compared in the next step of a descent: for each row some of its neighbours and of
// the rows that have it as neighbour, fresh ones first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "poll.hpp"

namespace unbend {

// A number that looks random, of a seed and a pair (Steele, Lea and Flood, 2014): samples depend
// neither on the order of the work nor on the machine.
inline std::uint64_t priority(std::uint64_t seed, std::int32_t row, std::int32_t member) {
    std::uint64_t bits = seed + ((static_cast<std::uint64_t>(row) << 32) | static_cast<std::uint32_t>(member));
    bits += 0x9E3779B97F4A7C15u;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return bits ^ (bits >> 31);
}

constexpr std::int32_t free_place = std::numeric_limits<std::int32_t>::max();

// Sorted lists (rows, length) as the descent keeps them.
struct NeighborLists {
    const std::int32_t *indices;
    std::uint8_t *fresh;
    std::int64_t rows, length;
};

// Who has each row in its list: in compressed rows, ~i where the entry is not fresh.
class Reverse {
  public:
    explicit Reverse(const NeighborLists &lists) : first(lists.rows + 1), from(0) {
        for_each(lists, [&](std::int64_t, std::int64_t e) { ++first[lists.indices[e] + 1]; });
        for (std::int64_t i = 0; i < lists.rows; ++i) first[i + 1] += first[i];
        from.resize(first[lists.rows]);
        std::vector<std::int64_t> next(first.begin(), first.end() - 1);
        for_each(lists, [&](std::int64_t i, std::int64_t e) {
            const auto row = static_cast<std::int32_t>(i);
            from[next[lists.indices[e]]++] = lists.fresh[e] ? row : ~row;
        });
    }

    std::vector<std::int64_t> first;
    std::vector<std::int32_t> from;

  private:
    template <typename Body>
    static void for_each(const NeighborLists &lists, const Body &body) {
        for (std::int64_t i = 0; i < lists.rows; ++i)
            for (std::int64_t e = i * lists.length; e < (i + 1) * lists.length; ++e)
                if (lists.indices[e] != free_place) body(i, e);
    }
};

// What one thread needs to choose the members of groups.
class Proposal {
  public:
    Proposal(const NeighborLists &lists, const Reverse &reverse, std::int64_t limit,
             std::uint64_t seed)
        : lists_(lists), reverse_(reverse), limit_(limit), seed_(seed) {}

    // Writes at most `limit` fresh members and as many others; entries whose turn has come are no
    // longer fresh.
    void run(std::int64_t row, std::int32_t *members, std::int32_t &fresh, std::int32_t &count) {
        gather(static_cast<std::int32_t>(row));
        const auto middle = std::partition(all_.begin(), all_.end(),
                                           [](const Entry &e) { return !e.old; });
        const Entry last = cut(all_.begin(), middle, members, fresh);
        std::int32_t others = 0;
        cut(middle, all_.end(), members + fresh, others);
        count = fresh + others;
        for (std::int64_t e = row * lists_.length; e < (row + 1) * lists_.length; ++e)
            if (lists_.fresh[e] && lists_.indices[e] != free_place &&
                !(last < entry(static_cast<std::int32_t>(row), lists_.indices[e], false)))
                lists_.fresh[e] = 0;
    }

  private:
    struct Entry {
        std::uint64_t priority;
        std::int32_t member;
        bool old;
        bool operator<(const Entry &other) const {
            return std::tie(priority, member, old) <
                   std::tie(other.priority, other.member, other.old);
        }
    };
    using Place = std::vector<Entry>::iterator;

    Entry entry(std::int32_t row, std::int32_t member, bool old) const {
        return {priority(seed_, row, member), member, old};
    }

    // All candidates once; fresh if either entry is.
    void gather(std::int32_t row) {
        const std::int32_t *own = lists_.indices + row * lists_.length;
        const std::uint8_t *fresh = lists_.fresh + row * lists_.length;
        // Free places are the last.
        std::int64_t count = lists_.length;
        while (count > 0 && own[count - 1] == free_place) --count;
        all_.clear();
        for (std::int64_t e = 0; e < count; ++e) all_.push_back(entry(row, own[e], !fresh[e]));
        for (std::int64_t r = reverse_.first[row]; r < reverse_.first[row + 1]; ++r) {
            const bool old = reverse_.from[r] < 0;
            const std::int32_t from = old ? ~reverse_.from[r] : reverse_.from[r];
            std::int64_t place = -1;
            for (std::int64_t e = 0; e < count; ++e) place = own[e] == from ? e : place;
            if (place < 0)
                all_.push_back(entry(row, from, old));
            else
                all_[place].old = all_[place].old && old;
        }
    }

    // Writes the first few by their priorities; gives the last one written.
    Entry cut(Place first, Place end, std::int32_t *members, std::int32_t &count) const {
        count = static_cast<std::int32_t>(std::min<std::int64_t>(end - first, limit_));
        if (count < end - first) std::nth_element(first, first + count, end);
        std::sort(first, first + count);
        for (std::int32_t m = 0; m < count; ++m) members[m] = first[m].member;
        return count ? first[count - 1] : Entry{0, -1, false};
    }

    const NeighborLists &lists_;
    const Reverse &reverse_;
    std::int64_t limit_;
    std::uint64_t seed_;
    std::vector<Entry> all_;
};

// Fills a group for each row: `members` (rows, 2 limit), how many are fresh, and how many there are.
inline void propose(const NeighborLists &lists, std::int64_t limit, std::uint64_t seed, int threads,
                    std::int32_t *members, std::int32_t *fresh, std::int32_t *count) {
    const Reverse reverse(lists);
    run_blocks(0, lists.rows, 64, threads, [&] { return Proposal(lists, reverse, limit, seed); },
               [&](Proposal &own, std::int64_t i) {
                   own.run(i, members + i * 2 * limit, fresh[i], count[i]);
               });
}

}  // namespace unbend
