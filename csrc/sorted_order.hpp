// The order of numbers: a radix sort of ranges of values, which threads share.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "poll.hpp"

namespace unbend {

// A number as bits that compare like it, and its index.
struct SortedKey {
    std::uint64_t bits;
    std::int64_t index;
};

inline std::uint64_t ordered_bits(double number) {
    number += 0.0;  // no negative zero
    std::uint64_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
}

inline std::uint64_t ordered_bits(float number) {
    number += 0.0f;
    std::uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits >> 31 ? static_cast<std::uint32_t>(~bits) : bits | std::uint32_t{1} << 31;
}

// Sorts by digits from the last to the first; keys that are equal keep their order.
inline void radix_sort(SortedKey *keys, std::int64_t count, std::vector<SortedKey> &room) {
    constexpr int width = 8, digits = 8, values = 1 << width;
    std::array<std::array<std::int64_t, values>, digits> counts{};
    for (std::int64_t k = 0; k < count; ++k)
        for (int digit = 0; digit < digits; ++digit)
            ++counts[digit][keys[k].bits >> (width * digit) & (values - 1)];
    room.resize(std::max<std::size_t>(room.size(), count));
    SortedKey *from = keys, *to = room.data();
    for (int digit = 0; digit < digits && count; ++digit) {
        auto &starts = counts[digit];
        const int shift = width * digit;
        if (starts[from[0].bits >> shift & (values - 1)] == count) continue;
        std::int64_t sum = 0;
        for (std::int64_t &start : starts) sum += std::exchange(start, sum);
        for (std::int64_t k = 0; k < count; ++k)
            to[starts[from[k].bits >> shift & (values - 1)]++] = from[k];
        std::swap(from, to);
    }
    if (from != keys) std::copy(from, from + count, keys);
}

// Indices of numbers in ascending order, those of equal ones ascending; none is NaN.
template <typename Real>
class SortedOrder {
  public:
    SortedOrder(const Real *numbers, std::int64_t count, int threads,
                const std::function<void()> &poll)
        : numbers_(numbers),
          count_(count),
          threads_(threads_for(20.0 * count, threads)),
          poller_(poll) {}

    void run(std::int64_t *order) {
        choose_borders();
        const std::int64_t ranges = static_cast<std::int64_t>(borders_.size()) + 1;
        starts_.assign(parts, std::vector<std::int64_t>(ranges));
        each_part([&](std::int64_t k, std::vector<std::int64_t> &own) {
            ++own[range_of(ordered_bits(numbers_[k]))];
        });
        std::vector<std::int64_t> ends(ranges);
        std::int64_t sum = 0;
        for (std::int64_t range = 0; range < ranges; ++range) {
            for (auto &part : starts_) sum += std::exchange(part[range], sum);
            ends[range] = sum;
        }
        std::vector<SortedKey> keys(count_);
        each_part([&](std::int64_t k, std::vector<std::int64_t> &own) {
            const std::uint64_t bits = ordered_bits(numbers_[k]);
            keys[own[range_of(bits)]++] = {bits, k};
        });
        run_tasks(ranges, threads_, poller_, [] { return std::vector<SortedKey>(); },
                  [&](std::vector<SortedKey> &room, std::int64_t range) {
                      const std::int64_t first = range ? ends[range - 1] : 0;
                      radix_sort(keys.data() + first, ends[range] - first, room);
                      for (std::int64_t k = first; k < ends[range]; ++k) order[k] = keys[k].index;
                  });
        poller_.rethrow();
    }

  private:
    static constexpr std::int64_t parts = 16, sampled = 1024, per_range = 16;

    // Borders of ranges with about as many numbers each, from a sample.
    void choose_borders() {
        if (count_ < sampled * per_range) return;
        std::vector<std::uint64_t> sample;
        for (std::int64_t k = 0; k < sampled; ++k)
            sample.push_back(ordered_bits(numbers_[count_ / sampled * k]));
        std::sort(sample.begin(), sample.end());
        for (std::int64_t k = per_range; k < sampled; k += per_range)
            borders_.push_back(sample[k]);
    }

    std::int64_t range_of(std::uint64_t bits) const {
        return std::upper_bound(borders_.begin(), borders_.end(), bits) - borders_.begin();
    }

    template <typename Body>
    void each_part(const Body &body) {
        run_tasks(parts, threads_, poller_, [] { return 0; }, [&](int &, std::int64_t part) {
            const std::int64_t last = count_ * (part + 1) / parts;
            for (std::int64_t k = count_ * part / parts; k < last; ++k) body(k, starts_[part]);
        });
        poller_.rethrow();
    }

    const Real *const numbers_;
    const std::int64_t count_;
    const int threads_;
    Poller poller_;
    std::vector<std::uint64_t> borders_;
    std::vector<std::vector<std::int64_t>> starts_;
};

}  // namespace unbend
