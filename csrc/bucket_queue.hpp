// A queue of vertices in the order of their distances, up to the width of a bucket.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace unbend {

// Dial's buckets (1969) with distances that are real numbers: vertices in one bucket come out in
// the order they went in. Distances beyond the last bucket wait until the buckets are empty, which
// then start again from the least of them; so any range of lengths will do.
template <typename Real>
class BucketQueue {
  public:
    BucketQueue(std::int64_t vertices, Real width)
        : place_(vertices, absent), buckets_(count), inverse_width_(1 / width) {}

    // Queue a vertex, or bring it forward.
    void push(std::int32_t vertex, Real distance) {
        const std::int32_t bucket = bucket_of(distance);
        if (place_[vertex] <= bucket) return;
        place_[vertex] = bucket;
        if (bucket == count)
            beyond_.emplace_back(vertex, distance);
        else
            buckets_[bucket].push_back(vertex);
    }

    // The next vertex, or -1 when there is none.
    std::int32_t pop() {
        for (;;) {
            std::vector<std::int32_t> &bucket = buckets_[current_];
            while (next_ < bucket.size()) {
                const std::int32_t vertex = bucket[next_++];
                if (place_[vertex] == current_) {
                    place_[vertex] = absent;
                    return vertex;
                }
            }
            bucket.clear();
            next_ = 0;
            if (++current_ < count) continue;
            current_ = 0;
            if (!start_again()) return -1;
        }
    }

  private:
    static constexpr std::int32_t count = 512;
    static constexpr std::int32_t absent = std::numeric_limits<std::int32_t>::max();

    std::int32_t bucket_of(Real distance) const {
        const Real bucket = (distance - origin_) * inverse_width_;
        // A distance may lie before the current bucket: order is a matter of speed alone.
        if (!(bucket > static_cast<Real>(current_))) return current_;
        return bucket < static_cast<Real>(count) ? static_cast<std::int32_t>(bucket) : count;
    }

    // Moves what waits beyond the buckets into them; false if nothing does.
    bool start_again() {
        origin_ = 0;
        std::vector<std::pair<std::int32_t, Real>> waiting;
        Real least = std::numeric_limits<Real>::infinity();
        for (const auto &entry : beyond_) {
            if (place_[entry.first] != count) continue;
            place_[entry.first] = absent;
            waiting.push_back(entry);
            if (entry.second < least) least = entry.second;
        }
        beyond_.clear();
        if (waiting.empty()) return false;
        origin_ = least;
        for (const auto &entry : waiting) push(entry.first, entry.second);
        return true;
    }

    std::vector<std::int32_t> place_;
    std::vector<std::vector<std::int32_t>> buckets_;
    std::vector<std::pair<std::int32_t, Real>> beyond_;
    Real inverse_width_;
    Real origin_ = 0;
    std::int32_t current_ = 0;
    std::size_t next_ = 0;
};

}  // namespace unbend
