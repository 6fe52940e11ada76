// An order of rows along a Z-curve, in which near rows are mostly near.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "poll.hpp"
#include "raw_vector.hpp"

namespace unbend {

// Columns, and bits of each, that the order is by.
constexpr int curve_columns = 3, curve_bits = 10;

// Moves ten bits to every third place.
inline std::uint32_t spread_bits(std::uint32_t steps) {
    steps = (steps | (steps << 16)) & 0x030000FFu;
    steps = (steps | (steps << 8)) & 0x0300F00Fu;
    steps = (steps | (steps << 4)) & 0x030C30C3u;
    return (steps | (steps << 2)) & 0x09249249u;
}

template <typename Real>
class SpatialOrder {
  public:
    SpatialOrder(const Real *points, std::int64_t n, std::int64_t columns, int threads)
        : points_(points), n_(n), columns_(columns),
          threads_(threads_for(8.0 * static_cast<double>(n * columns), threads)), low_(columns),
          high_(columns), keys_(n) {}

    // Equal rows keep their order.
    void run(std::int64_t *order) {
        find_extent();
        find_keys();
        sort(order);
    }

  private:
    static constexpr std::int64_t rows_at_once = 4096;

    template <typename Body>
    void each_block(const Body &body) const {
        run_tasks((n_ + rows_at_once - 1) / rows_at_once, threads_, [] { return 0; },
                  [&](int, std::int64_t t) {
                      body(t, t * rows_at_once, std::min((t + 1) * rows_at_once, n_));
                  });
    }

    void find_extent() {
        const std::int64_t blocks = (n_ + rows_at_once - 1) / rows_at_once;
        std::vector<Real> low(blocks * columns_), high(blocks * columns_);
        each_block([&](std::int64_t t, std::int64_t first, std::int64_t last) {
            Real *least = &low[t * columns_], *most = &high[t * columns_];
            std::copy_n(points_ + first * columns_, columns_, least);
            std::copy_n(points_ + first * columns_, columns_, most);
            for (std::int64_t i = first + 1; i < last; ++i)
                for (std::int64_t c = 0; c < columns_; ++c) {
                    const Real x = points_[i * columns_ + c];
                    least[c] = x < least[c] ? x : least[c];
                    most[c] = x > most[c] ? x : most[c];
                }
        });
        for (std::int64_t c = 0; c < columns_; ++c) {
            low_[c] = low[c];
            high_[c] = high[c];
            for (std::int64_t t = 1; t < blocks; ++t) {
                low_[c] = std::min(low_[c], low[t * columns_ + c]);
                high_[c] = std::max(high_[c], high[t * columns_ + c]);
            }
        }
    }

    // Halves, whose difference cannot overflow.
    void find_keys() {
        std::vector<std::int64_t> widest(columns_);
        std::iota(widest.begin(), widest.end(), 0);
        std::stable_sort(widest.begin(), widest.end(), [&](std::int64_t a, std::int64_t b) {
            return low_[a] - high_[a] < low_[b] - high_[b];
        });
        widest.resize(std::min<std::int64_t>(columns_, curve_columns));
        const Real width = high_[widest[0]] / 2 - low_[widest[0]] / 2;
        if (!(width > 0)) widest.clear();
        constexpr Real most = (1 << curve_bits) - 1;
        each_block([&](std::int64_t, std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i) {
                std::uint32_t key = 0;
                for (std::size_t place = 0; place < widest.size(); ++place) {
                    const std::int64_t c = widest[place];
                    const Real share = (points_[i * columns_ + c] / 2 - low_[c] / 2) / width;
                    key |= spread_bits(static_cast<std::uint32_t>(share * most)) << place;
                }
                keys_[i] = key;
            }
        });
    }

    // By ten bits after ten bits, from the lowest.
    void sort(std::int64_t *order) const {
        constexpr int bits = 10;
        RawVector<std::int32_t> now(n_), next(n_);
        std::iota(now.begin(), now.end(), 0);
        for (int shift = 0; shift < curve_columns * curve_bits; shift += bits) {
            std::array<std::int64_t, (1 << bits) + 1> place{};
            const auto digit = [&](std::int32_t i) { return (keys_[i] >> shift) & ((1u << bits) - 1); };
            for (std::int64_t i = 0; i < n_; ++i) ++place[digit(static_cast<std::int32_t>(i)) + 1];
            for (int b = 0; b < (1 << bits); ++b) place[b + 1] += place[b];
            for (const std::int32_t i : now) next[place[digit(i)]++] = i;
            now.swap(next);
        }
        std::copy(now.begin(), now.end(), order);
    }

    const Real *points_;
    const std::int64_t n_, columns_;
    const int threads_;
    std::vector<Real> low_, high_;
    RawVector<std::uint32_t> keys_;
};

}  // namespace unbend
