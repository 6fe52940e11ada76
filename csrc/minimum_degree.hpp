// Approximate minimum degree ordering (Amestoy, Davis and Duff, 1996).
//
// The graph that elimination leaves is kept as a quotient graph: an eliminated vertex becomes an
// element, the clique of its neighbours, and elements that it meets are absorbed. Vertices with
// equal neighbours are eliminated together, and degrees are bounds that are cheap to keep.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "poll.hpp"

namespace unbend {

class MinimumDegree {
  public:
    // Lists of neighbours without the vertex itself, in compressed rows.
    MinimumDegree(std::vector<std::int64_t> row, std::vector<std::int32_t> column)
        : n_(static_cast<std::int32_t>(row.size()) - 1), list_(std::move(column)),
          start_(std::move(row)), length_(n_), elements_(n_, 0), weight_(n_, 1), degree_(n_),
          head_(n_ + 1, -1), next_(n_, -1), previous_(n_, -1), stamp_(n_, 1), last_(n_),
          follower_(n_, -1), bucket_(n_, -1), left_(n_) {
        for (std::int32_t v = 0; v < n_; ++v) {
            length_[v] = degree_[v] = static_cast<std::int32_t>(start_[v + 1] - start_[v]);
            last_[v] = v;
            insert(v);
        }
        start_.resize(n_);
    }

    // Appends all vertices to `order`. Stops, unfinished, once `flops` exceeds `most`.
    bool run(std::vector<std::int32_t> &order, double &flops, double most, Poller &poller) {
        std::int32_t rounds = 0;
        while (left_ > 0) {
            const std::int32_t pivot = lowest();
            eliminate(pivot);
            const double pivots = size_, beyond = beyond_;
            flops += pivots * (beyond * beyond + beyond * pivots + pivots * pivots / 3);
            if (flops > most || ((++rounds & 255) == 0 && poller.stopped())) return false;
            for (std::int32_t v = pivot; v != -1; v = follower_[v]) order.push_back(v);
            left_ -= size_;
        }
        return true;
    }

  private:
    void insert(std::int32_t v) {
        const std::int32_t degree = degree_[v];
        next_[v] = head_[degree];
        previous_[v] = -1;
        if (head_[degree] != -1) previous_[head_[degree]] = v;
        head_[degree] = v;
        lowest_ = std::min(lowest_, degree);
    }

    void remove(std::int32_t v) {
        if (next_[v] != -1) previous_[next_[v]] = previous_[v];
        if (previous_[v] != -1)
            next_[previous_[v]] = next_[v];
        else
            head_[degree_[v]] = next_[v];
    }

    std::int32_t lowest() {
        while (head_[lowest_] == -1) ++lowest_;
        const std::int32_t pivot = head_[lowest_];
        remove(pivot);
        return pivot;
    }

    void eliminate(std::int32_t pivot) {
        form_element(pivot);
        scan_overlaps(pivot);
        update_neighbours(pivot);
        merge_equals();
        finish_element(pivot);
    }

    // Moves the lists that are still in use to the front.
    void collect_garbage() {
        std::vector<std::int32_t> owners;
        for (std::int32_t v = 0; v < n_; ++v)
            if (length_[v] > 0) owners.push_back(v);
        std::sort(owners.begin(), owners.end(),
                  [&](std::int32_t a, std::int32_t b) { return start_[a] < start_[b]; });
        std::int64_t free = 0;
        for (const std::int32_t v : owners) {
            std::copy_n(list_.begin() + start_[v], length_[v], list_.begin() + free);
            start_[v] = free;
            free += length_[v];
        }
        list_.resize(free);
    }

    // The pivot's neighbours, direct or through its elements, become the list of a new element.
    // While they are in it their weight is negative.
    void form_element(std::int32_t pivot) {
        if (list_.size() + n_ > list_.capacity()) collect_garbage();
        size_ = weight_[pivot];
        weight_[pivot] = -size_;
        beyond_ = 0;
        const std::int64_t begin = list_.size();
        const std::int32_t elements = elements_[pivot];
        for (std::int32_t k = 0; k < elements; ++k) {
            const std::int32_t e = list_[start_[pivot] + k];
            take(start_[e], length_[e]);
            length_[e] = 0;
            stamp_[e] = 0;  // absorbed
        }
        take(start_[pivot] + elements, length_[pivot] - elements);
        start_[pivot] = begin;
        length_[pivot] = static_cast<std::int32_t>(list_.size() - begin);
    }

    void take(std::int64_t from, std::int32_t count) {
        for (std::int64_t k = from; k < from + count; ++k) {
            const std::int32_t v = list_[k];
            if (weight_[v] <= 0) continue;
            beyond_ += weight_[v];
            weight_[v] = -weight_[v];
            remove(v);
            list_.push_back(v);
        }
    }

    // stamp - tick becomes the weight of each element outside the new one.
    void scan_overlaps(std::int32_t pivot) {
        tick_ += most_ + 1;
        most_ = std::max<std::int64_t>(most_, beyond_ + size_);
        for (std::int32_t k = 0; k < length_[pivot]; ++k) {
            const std::int32_t v = list_[start_[pivot] + k];
            for (std::int32_t j = 0; j < elements_[v]; ++j) {
                const std::int32_t e = list_[start_[v] + j];
                if (stamp_[e] == 0) continue;
                if (stamp_[e] < tick_) stamp_[e] = tick_ + degree_[e];
                stamp_[e] += weight_[v];  // negative: it is in the new element
            }
        }
    }

    void update_neighbours(std::int32_t pivot) {
        for (std::int32_t k = 0; k < length_[pivot]; ++k) {
            const std::int32_t v = list_[start_[pivot] + k];
            const std::int64_t begin = start_[v];
            std::int64_t put = begin;
            std::uint32_t hash = 0;
            std::int64_t outside = 0;
            for (std::int64_t j = begin; j < begin + elements_[v]; ++j) {
                const std::int32_t e = list_[j];
                if (stamp_[e] == 0) continue;
                if (stamp_[e] == tick_) {  // inside the new element: absorbed as well
                    length_[e] = 0;
                    stamp_[e] = 0;
                    continue;
                }
                outside += stamp_[e] - tick_;
                list_[put++] = e;
                hash += static_cast<std::uint32_t>(e);
            }
            const std::int64_t kept = put;
            const std::int64_t end = begin + length_[v];
            outside += keep_variables(begin + elements_[v], end, put, hash);
            if (outside == 0) {
                size_ -= weight_[v];
                beyond_ += weight_[v];
                absorb(pivot, v);
                continue;
            }
            place_element(v, pivot, begin, kept, put);
            degree_[v] = static_cast<std::int32_t>(std::min<std::int64_t>(degree_[v], outside));
            hash = (hash + static_cast<std::uint32_t>(pivot)) % static_cast<std::uint32_t>(n_);
            if (bucket_[hash] == -1) buckets_.push_back(static_cast<std::int32_t>(hash));
            next_[v] = bucket_[hash];
            bucket_[hash] = v;
        }
    }

    std::int64_t keep_variables(std::int64_t from, std::int64_t end, std::int64_t &put,
                                std::uint32_t &hash) {
        std::int64_t outside = 0;
        for (std::int64_t j = from; j < end; ++j) {
            const std::int32_t u = list_[j];
            if (weight_[u] <= 0) continue;
            outside += weight_[u];
            list_[put++] = u;
            hash += static_cast<std::uint32_t>(u);
        }
        return outside;
    }

    // The pivot takes the first place in v's list. Something has left the list, the pivot itself
    // or an element that it absorbed, so there is room.
    void place_element(std::int32_t v, std::int32_t pivot, std::int64_t begin, std::int64_t kept,
                       std::int64_t put) {
        list_[put] = list_[kept];
        list_[kept] = list_[begin];
        list_[begin] = pivot;
        elements_[v] = static_cast<std::int32_t>(kept - begin + 1);
        length_[v] = static_cast<std::int32_t>(put - begin + 1);
    }

    // v is eliminated together with `into`.
    void absorb(std::int32_t into, std::int32_t v) {
        weight_[into] += weight_[v];
        weight_[v] = 0;
        length_[v] = 0;
        follower_[last_[into]] = v;
        last_[into] = last_[v];
    }

    bool same_lists(std::int32_t u, std::int32_t v) const {
        if (length_[u] != length_[v] || elements_[u] != elements_[v]) return false;
        for (std::int32_t k = 1; k < length_[v]; ++k)
            if (stamp_[list_[start_[v] + k]] != tick_) return false;
        return true;
    }

    // Vertices with equal lists stay equal and are eliminated together.
    void merge_equals() {
        tick_ += most_ + 1;
        for (const std::int32_t hash : buckets_) {
            for (std::int32_t u = bucket_[hash]; u != -1 && next_[u] != -1; u = next_[u]) {
                for (std::int32_t k = 1; k < length_[u]; ++k)
                    stamp_[list_[start_[u] + k]] = tick_;
                std::int32_t before = u;
                for (std::int32_t v = next_[u]; v != -1; v = next_[v]) {
                    if (same_lists(u, v)) {
                        absorb(u, v);
                        next_[before] = next_[v];
                    } else {
                        before = v;
                    }
                }
                ++tick_;
            }
            bucket_[hash] = -1;
        }
        buckets_.clear();
    }

    void finish_element(std::int32_t pivot) {
        std::int64_t put = start_[pivot];
        const std::int64_t end = put + length_[pivot];
        for (std::int64_t k = put; k < end; ++k) {
            const std::int32_t v = list_[k];
            if (weight_[v] == 0) continue;
            weight_[v] = -weight_[v];
            const std::int64_t whole = static_cast<std::int64_t>(degree_[v]) + beyond_ - weight_[v];
            const std::int64_t rest = left_ - size_ - weight_[v];
            degree_[v] = static_cast<std::int32_t>(std::max<std::int64_t>(std::min(whole, rest), 0));
            insert(v);
            list_[put++] = v;
        }
        length_[pivot] = static_cast<std::int32_t>(put - start_[pivot]);
        list_.resize(put);
        degree_[pivot] = static_cast<std::int32_t>(beyond_);
        stamp_[pivot] = length_[pivot] > 0 ? 1 : 0;
        weight_[pivot] = 0;
    }

    const std::int32_t n_;
    std::vector<std::int32_t> list_;
    std::vector<std::int64_t> start_;
    std::vector<std::int32_t> length_, elements_, weight_, degree_, head_, next_, previous_;
    std::vector<std::int64_t> stamp_;
    std::vector<std::int32_t> last_, follower_, bucket_, buckets_;
    std::int32_t lowest_ = 0;
    std::int64_t size_ = 0, beyond_ = 0, tick_ = 1, most_ = 1, left_;
};

}  // namespace unbend
