// Ranks of some rows only: how many others are nearer, counted and never sorted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "nearest.hpp"
#include "poll.hpp"
#include "rank.hpp"
#include "simd_wide.hpp"

namespace unbend {

// Rows looked at together: their squared distances stay in the first cache.
constexpr std::int64_t counted_at_once = 512;
// Buckets of equal width from zero to the last band, and the last bucket for what is beyond.
constexpr std::int32_t buckets = 512;
// Counters of the same place, so that one need not wait for another.
constexpr std::int64_t counters = 4;
// As many ends of bands as are compared with every value; of more, buckets are looked up.
constexpr std::size_t compared = 32;
// Columns from which on exact squared distances of all targets take longer than wider bands.
constexpr std::int64_t long_rows = 1000;

// Rows seen through exact squared distances, gathered column by column as a KD-tree does.
struct FewColumns {
    using Real = double;

    const double *points;  // (rows, columns)
    const double *turned;  // (columns, rows)
    std::int64_t rows, columns;

    bool rough() const { return false; }
    UNBEND_INLINE double estimate(std::int64_t, std::int64_t) const { return 0; }

    UNBEND_INLINE double power(std::int64_t from, std::int64_t to) const {
        double sum = 0;
        for (std::int64_t c = 0; c < columns; ++c) {
            const double difference = points[to * columns + c] - points[from * columns + c];
            sum = sum + difference * difference;
        }
        return sum;
    }

    UNBEND_INLINE const double *about(std::int64_t, std::int64_t from, std::int64_t first,
                                      std::int64_t count, double *room) const {
        for (std::int64_t l = 0; l < count; ++l) room[l] = 0;
        for (std::int64_t c = 0; c < columns; ++c) {
            const double *column = turned + c * rows + first, here = points[from * columns + c];
            for (std::int64_t l = 0; l < count; ++l) {
                const double difference = column[l] - here;
                room[l] = room[l] + difference * difference;
            }
        }
        return room;
    }
};

// Rows seen through squared distances that are only known up to a slack.
struct ManyColumns {
    using Real = float;

    const double *points;      // (rows, columns)
    double scale;              // of the numbers, a power of two: squares have its square
    const float *approximate;  // (asked, rows)
    std::int64_t rows, columns;

    // Whether targets are seen so, too, and exactly only if others lie in their band.
    bool rough() const { return columns >= long_rows; }
    UNBEND_INLINE double estimate(std::int64_t asked, std::int64_t to) const {
        return approximate[asked * rows + to];
    }

    UNBEND_INLINE double power(std::int64_t from, std::int64_t to) const {
        return squared_distance(points + to * columns, points + from * columns, columns, scale);
    }

    UNBEND_INLINE const float *about(std::int64_t asked, std::int64_t, std::int64_t first,
                                     std::int64_t, float *) const {
        return approximate + asked * rows + first;
    }
};

// Counts, for the targets of one row, the rows that are nearer. Around every target lies a band in
// which only exact distances decide; bands that overlap are one. The ends of the bands, ascending,
// part the line into places: even ones lie between bands, odd ones inside.
template <typename Rows>
class NearerCounts {
  public:
    using Real = typename Rows::Real;
    // As wide as the numbers: what comparing them gives.
    using Count = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;

    NearerCounts(const Rows &rows, std::int64_t k)
        : rows_(rows), k_(k), room_(counted_at_once), order_(k), targets_(k), nearer_(k) {
        for (reach_ = 1; reach_ < 2 * k; reach_ *= 2) {}
        ends_.resize(reach_);
        counts_.resize(counters * (2 * k + 1));
        places_.resize(buckets);
        beyond_.resize(compared * wide);
    }

    UNBEND_INLINE void count(std::int64_t asked, std::int64_t from, double slack,
                             const std::int32_t *targets, std::int32_t *ranks) {
        begin(asked, from, slack, targets);
        for (std::int64_t first = 0; first < rows_.rows; first += counted_at_once) {
            const std::int64_t here = std::min(counted_at_once, rows_.rows - first);
            const Real *about = rows_.about(asked, from, first, here, room_.data());
            if (2 * bands_.size() <= compared)
                compare(about, first, here, from);
            else
                look(about, first, here, from);
        }
        if (2 * bands_.size() <= compared) sum_up();
        finish(from, ranks);
    }

  private:
    UNBEND_INLINE void begin(std::int64_t asked, std::int64_t from, double slack,
                             const std::int32_t *targets) {
        const bool rough = rows_.rough();
        for (std::int64_t j = 0; j < k_; ++j) {
            const double power =
                rough ? rows_.estimate(asked, targets[j]) : rows_.power(from, targets[j]);
            targets_[j] = {power, targets[j]};
            order_[j] = j;
            nearer_[j] = 0;
        }
        std::sort(order_.begin(), order_.end(), [&](std::int64_t a, std::int64_t b) {
            return targets_[a].power < targets_[b].power;
        });
        bands_.clear();
        exact_.clear();
        std::fill(ends_.begin(), ends_.end(), std::numeric_limits<Real>::infinity());
        std::fill(counts_.begin(), counts_.end(), 0);
        const double rounding = 2 * same_root + 2 * std::numeric_limits<Real>::epsilon();
        // A target that is only estimated may be off by the slack as well.
        const double off = rough ? slack : 0;
        for (std::int64_t place = 0; place < k_; ++place) {
            const double power = targets_[order_[place]].power;
            const double band = slack + off + rounding * (std::abs(power) + off) +
                                std::numeric_limits<Real>::min();
            const Real low = static_cast<Real>(power - band);
            const Real high = static_cast<Real>(power + band);
            if (bands_.empty() || low > ends_[2 * bands_.size() - 1]) {
                bands_.push_back(place);
                exact_.push_back(!rough);
                ends_[2 * bands_.size() - 2] = low;
            }
            ends_[2 * bands_.size() - 1] = high;
        }
        last_ = ends_[2 * bands_.size() - 1];
        std::fill(beyond_.begin(), beyond_.end(), 0);
        looked_at_ = 0;
        if (2 * bands_.size() > compared) fill_buckets();
    }

    // Multiplying and truncating keep the order, so that an end in another bucket than a value is
    // below it if its bucket is. The place of a whole bucket is known unless it holds an end;
    // inside bands and around ends, where `searched` stands, each value is looked at by itself.
    UNBEND_INLINE void fill_buckets() {
        per_unit_ = last_ > std::numeric_limits<Real>::min() ? (buckets - 2) / last_ : Real(0);
        std::int32_t next = 0;
        for (std::size_t end = 0; end <= 2 * bands_.size(); ++end) {
            const std::int32_t stop =
                end < 2 * bands_.size() ? bucket_of(ends_[end]) : buckets;
            const std::int32_t place = end % 2 == 1 ? searched : static_cast<std::int32_t>(end);
            for (; next < stop; ++next) places_[next] = place;
            if (next == stop && stop < buckets) places_[next++] = searched;
        }
    }

    UNBEND_INLINE std::int32_t bucket_of(Real value) const {
        const Real scaled = value * per_unit_;
        return static_cast<std::int32_t>(
            std::min(std::max(scaled, Real(0)), static_cast<Real>(buckets - 1)));
    }

    // How many ends lie below the value.
    UNBEND_INLINE std::int64_t place_of(Real value) const {
        const Real *ends = ends_.data();
        std::int64_t place = 0;
        for (std::int64_t step = reach_ / 2; step > 0; step /= 2)
            place += ends[place + step - 1] < value ? step : 0;
        return place + (ends[place] < value);
    }

    // Counts the values beyond each end, several at once, and looks at those inside a band by
    // themselves: inside are those beyond an odd number of ends.
    UNBEND_INLINE void compare(const Real *about, std::int64_t first, std::int64_t count,
                               std::int64_t from) {
        using Counts = typename Side<Count>::Lanes;
        constexpr int parts = 4;
        std::int64_t start = 0;
        for (; start + parts * wide <= count; start += parts * wide) {
            typename Side<Real>::Lanes value[parts];
            Counts inside[parts] = {}, near = {};
            for (int p = 0; p < parts; ++p) {
                value[p] = lanes(about + start + p * wide);
                near |= (Counts)(value[p] <= last_);
            }
            if (!any_of(near)) continue;
            looked_at_ += parts * wide;
            for (std::size_t end = 0; end < 2 * bands_.size(); ++end) {
                Counts sum = {};
                for (int p = 0; p < parts; ++p) {
                    const Counts beyond = (Counts)(value[p] > ends_[end]);
                    sum += beyond;
                    inside[p] ^= beyond;
                }
                Count *beyond = beyond_.data() + end * wide;
                store_lanes(beyond, lanes(beyond) - sum);
            }
            if (!any_of((inside[0] | inside[1]) | (inside[2] | inside[3]))) continue;
            for (std::int64_t l = start; l < start + parts * wide; ++l) {
                const std::int64_t place = place_of(about[l]);
                if (place % 2 == 1) decide(place / 2, first + l, from);
            }
        }
        for (; start < count; ++start) enter(place_of(about[start]), first + start, from);
    }

    // Values in a place are those beyond the end before it and not beyond the one after it.
    UNBEND_INLINE void sum_up() {
        std::int64_t before = looked_at_;
        for (std::size_t end = 0; end < 2 * bands_.size(); ++end) {
            std::int64_t here = 0;
            for (std::int64_t l = 0; l < wide; ++l) here += beyond_[end * wide + l];
            counts_[end * counters] += before - here;
            before = here;
        }
    }

    UNBEND_INLINE void look(const Real *about, std::int64_t first, std::int64_t count,
                            std::int64_t from) {
        constexpr std::int64_t together = 8;
        std::int64_t start = 0;
        for (; start + together <= count; start += together) {
            int within = 0;
            for (std::int64_t l = 0; l < together; ++l) within += about[start + l] <= last_;
            if (within == 0) continue;
            std::int32_t chosen[together];
            for (std::int64_t l = 0; l < together; ++l) chosen[l] = bucket_of(about[start + l]);
            for (std::int64_t l = 0; l < together; ++l) {
                const std::int32_t place = places_[chosen[l]];
                if (place == searched)
                    enter(place_of(about[start + l]), first + start + l, from);
                else
                    ++counts_[place * counters + l % counters];
            }
        }
        for (; start < count; ++start) enter(place_of(about[start]), first + start, from);
    }

    UNBEND_INLINE void enter(std::int64_t place, std::int64_t other, std::int64_t from) {
        ++counts_[place * counters];
        if (place % 2 == 1) decide(place / 2, other, from);
    }

    UNBEND_INLINE std::int64_t counted(std::int64_t place) const {
        std::int64_t sum = 0;
        for (std::int64_t l = 0; l < counters; ++l) sum += counts_[place * counters + l];
        return sum;
    }

    // The target of every place of the band that the row is nearer than.
    UNBEND_INLINE void decide(std::int64_t band, std::int64_t other, std::int64_t from) {
        const std::int64_t end = band + 1 < std::int64_t(bands_.size()) ? bands_[band + 1] : k_;
        if (!exact_[band]) {
            // A target alone in its band is not nearer than itself.
            if (end == bands_[band] + 1 && targets_[order_[end - 1]].index == other) return;
            for (std::int64_t place = bands_[band]; place < end; ++place) {
                Candidate &target = targets_[order_[place]];
                target.power = rows_.power(from, target.index);
            }
            exact_[band] = true;
        }
        const Candidate candidate{rows_.power(from, other), static_cast<std::int32_t>(other)};
        for (std::int64_t place = bands_[band]; place < end; ++place)
            nearer_[order_[place]] += nearer<Euclidean>(candidate, targets_[order_[place]]);
    }

    UNBEND_INLINE void finish(std::int64_t from, std::int32_t *ranks) {
        const Candidate itself{0, static_cast<std::int32_t>(from)};
        std::int64_t before = 0;
        for (std::size_t band = 0; band < bands_.size(); ++band) {
            before += counted(2 * band);
            const std::int64_t end = band + 1 < bands_.size() ? bands_[band + 1] : k_;
            for (std::int64_t place = bands_[band]; place < end; ++place) {
                const std::int64_t j = order_[place];
                // The row itself was counted wherever it is nearer: that is its own rank 0. In the
                // band of an estimate it would have made that exact.
                const std::int64_t own = nearer<Euclidean>(itself, targets_[j]) ? 0 : 1;
                ranks[j] = static_cast<std::int32_t>(before + nearer_[j] + own);
            }
            before += counted(2 * band + 1);
        }
    }

    static constexpr std::int32_t searched = -1;
    static constexpr std::int64_t wide = Side<Real>::count;

    const Rows &rows_;
    std::int64_t k_, reach_ = 1;
    std::vector<Real> room_, ends_;
    std::vector<std::int64_t> order_, bands_, counts_;
    std::vector<Candidate> targets_;
    std::vector<std::int64_t> nearer_;
    std::vector<std::int32_t> places_;
    std::vector<char> exact_;  // whether the targets of a band are
    std::vector<Count> beyond_;
    std::int64_t looked_at_ = 0;
    Real last_ = 0, per_unit_ = 0;
};

// ranks[a, j] = 1 + how many rows are nearer to row asked[a] than its target j, itself left out.
template <typename Rows>
void count_nearer(const Rows &rows, const std::int32_t *asked, std::int64_t count,
                  const double *slack, const std::int32_t *targets, std::int64_t k, int threads,
                  std::int32_t *ranks) {
    run_blocks(0, count, 8, threads, [&] { return NearerCounts<Rows>(rows, k); },
               [&](NearerCounts<Rows> &own, std::int64_t a) UNBEND_INLINE {
                   own.count(a, asked[a], slack[a], targets + a * k, ranks + a * k);
               });
}

}  // namespace unbend
