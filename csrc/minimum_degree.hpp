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

// Columns that are eliminated together, in the order of elimination: `columns` of them, followed by
// `below` more rows of L, all of which are columns or rows of the parent, a later one, or -1.
struct Supernodes {
    std::vector<std::int32_t> vertices, columns, below, parent;

    std::int32_t count() const { return static_cast<std::int32_t>(columns.size()); }
};

// What elimination has left. Vertices have a list of elements and then of neighbours, elements, whose
// weight is zero, one of their vertices. Negative numbers ~u are vertices of another graph.
struct QuotientGraph {
    std::vector<std::int32_t> list;
    std::vector<std::int64_t> start;
    std::vector<std::int32_t> length, elements, weight, degree;
    std::vector<std::int32_t> supernode;   // of elements
};

class MinimumDegree {
  public:
    // Only the first `free` vertices are eliminated: of others not all neighbours are known here.
    MinimumDegree(QuotientGraph graph, std::int32_t free)
        : n_(static_cast<std::int32_t>(graph.start.size())), free_(free),
          list_(std::move(graph.list)), start_(std::move(graph.start)),
          length_(std::move(graph.length)), elements_(std::move(graph.elements)),
          weight_(std::move(graph.weight)), degree_(std::move(graph.degree)),
          supernode_(std::move(graph.supernode)), next_(n_, -1), previous_(n_, -1), stamp_(n_, 1),
          last_(n_), follower_(n_, -1), bucket_(n_, -1) {
        for (const std::int32_t weight : weight_) left_ += weight;
        head_.assign(left_ + 1, -1);
        for (std::int32_t v = 0; v < n_; ++v) {
            last_[v] = v;
            if (weight_[v] == 0) {
                most_ = std::max<std::int64_t>(most_, degree_[v]);
                continue;
            }
            // In its domain a vertex at the border is counted once for each of its elements.
            degree_[v] = static_cast<std::int32_t>(std::min<std::int64_t>(degree_[v], left_ - weight_[v]));
            if (v < free_) insert(v);
        }
    }

    // Appends supernodes of vertices up to a degree. Stops, unfinished, once `flops` exceeds `most`.
    bool run(std::int64_t degree, Supernodes &out, double &flops, double most, Poller &poller) {
        std::int32_t rounds = 0;
        for (std::int32_t pivot = lowest(degree); pivot != -1; pivot = lowest(degree)) {
            eliminate(pivot, out);
            const double pivots = size_, beyond = beyond_;
            flops += pivots * (beyond * beyond + beyond * pivots + pivots * pivots / 3);
            if (flops > most || ((++rounds & 255) == 0 && poller.stopped())) return false;
            for (std::int32_t v = pivot; v != -1; v = follower_[v]) out.vertices.push_back(v);
            out.columns.push_back(static_cast<std::int32_t>(size_));
            out.below.push_back(static_cast<std::int32_t>(beyond_));
            out.parent.push_back(-1);
            left_ -= size_;
        }
        return true;
    }

    std::int32_t size() const { return n_; }

    // Whether it is a vertex that was not eliminated, or an element that was not absorbed.
    bool remains(std::int32_t v) const { return weight_[v] > 0 || length_[v] > 0; }

    // The vertex after v that is eliminated together with it, or -1.
    std::int32_t follower(std::int32_t v) const { return follower_[v]; }

    // Appends what remains, under the numbers that `numbers` has for the `names` of vertices.
    void hand_over(const std::vector<std::int32_t> &names, const std::vector<std::int32_t> &numbers,
                   std::int32_t supernodes, QuotientGraph &to) const {
        for (std::int32_t v = 0; v < n_; ++v) {
            if (!remains(v)) continue;
            const auto begin = static_cast<std::int64_t>(to.list.size());
            const std::int32_t elements = weight_[v] > 0 ? elements_[v] : 0;
            for (std::int64_t k = start_[v]; k < start_[v] + elements; ++k)
                if (stamp_[list_[k]] != 0) to.list.push_back(numbers[names[list_[k]]]);
            to.elements.push_back(static_cast<std::int32_t>(to.list.size() - begin));
            for (std::int64_t k = start_[v] + elements; k < start_[v] + length_[v]; ++k) {
                const std::int32_t u = list_[k];
                if (u < 0)
                    to.list.push_back(numbers[~u]);
                else if (weight_[u] > 0)
                    to.list.push_back(numbers[names[u]]);
            }
            to.start.push_back(begin);
            to.length.push_back(static_cast<std::int32_t>(to.list.size() - begin));
            to.weight.push_back(weight_[v]);
            to.degree.push_back(degree_[v]);
            to.supernode.push_back(supernodes + supernode_[v]);
        }
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

    // A vertex of the lowest degree, taken out, or -1 if that is too high.
    std::int32_t lowest(std::int64_t degree) {
        const std::int64_t most = std::min<std::int64_t>(degree, head_.size() - 1);
        while (lowest_ <= most && head_[lowest_] == -1) ++lowest_;
        if (lowest_ > most) return -1;
        const std::int32_t pivot = head_[lowest_];
        remove(pivot);
        return pivot;
    }

    void eliminate(std::int32_t pivot, Supernodes &out) {
        supernode_[pivot] = out.count();
        form_element(pivot, out);
        scan_overlaps(pivot);
        update_neighbours(pivot, out);
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
    void form_element(std::int32_t pivot, Supernodes &out) {
        if (list_.size() + n_ > list_.capacity()) collect_garbage();
        size_ = weight_[pivot];
        weight_[pivot] = -size_;
        beyond_ = 0;
        const std::int64_t begin = list_.size();
        const std::int32_t elements = elements_[pivot];
        for (std::int32_t k = 0; k < elements; ++k) {
            const std::int32_t e = list_[start_[pivot] + k];
            take(start_[e], length_[e]);
            absorb_element(pivot, e, out);
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
            if (v < free_) remove(v);
            list_.push_back(v);
        }
    }

    void absorb_element(std::int32_t pivot, std::int32_t e, Supernodes &out) {
        length_[e] = 0;
        stamp_[e] = 0;
        out.parent[supernode_[e]] = supernode_[pivot];
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

    void update_neighbours(std::int32_t pivot, Supernodes &out) {
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
                    absorb_element(pivot, e, out);
                    continue;
                }
                outside += stamp_[e] - tick_;
                list_[put++] = e;
                hash += static_cast<std::uint32_t>(e);
            }
            const std::int64_t kept = put;
            const std::int64_t end = begin + length_[v];
            outside += keep_variables(begin + elements_[v], end, put, hash);
            if (outside == 0 && v < free_) {
                size_ -= weight_[v];
                beyond_ += weight_[v];
                absorb(pivot, v);
                continue;
            }
            place_element(v, pivot, begin, kept, put);
            degree_[v] = static_cast<std::int32_t>(std::min<std::int64_t>(degree_[v], outside));
            if (v >= free_) continue;
            hash = (hash + static_cast<std::uint32_t>(pivot)) % static_cast<std::uint32_t>(n_);
            if (bucket_[hash] == -1) buckets_.push_back(static_cast<std::int32_t>(hash));
            next_[v] = bucket_[hash];
            bucket_[hash] = v;
        }
    }

    std::int64_t keep_variables(std::int64_t from, std::int64_t end, std::int64_t &put,
                                std::uint32_t &hash) {
        // No branch: which vertices have left is hard to predict, and takes most of the time.
        std::int64_t outside = 0, next = put;
        std::uint32_t sum = 0;
        std::int32_t *list = list_.data();
        for (std::int64_t j = from; j < end; ++j) {
            const std::int32_t u = list[j];
            const std::int32_t weight = std::max(u < 0 ? 1 : weight_[u], 0);
            const std::int32_t kept = weight > 0;
            list[next] = u;
            next += kept;
            outside += weight;
            sum += static_cast<std::uint32_t>(u) * static_cast<std::uint32_t>(kept);
        }
        put = next;
        hash += sum;
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
            const std::int64_t rest = v < free_ ? left_ - size_ - weight_[v] : whole;
            degree_[v] = static_cast<std::int32_t>(std::max<std::int64_t>(std::min(whole, rest), 0));
            if (v < free_) insert(v);
            list_[put++] = v;
        }
        length_[pivot] = static_cast<std::int32_t>(put - start_[pivot]);
        list_.resize(put);
        degree_[pivot] = static_cast<std::int32_t>(beyond_);
        stamp_[pivot] = length_[pivot] > 0 ? 1 : 0;
        weight_[pivot] = 0;
    }

    const std::int32_t n_, free_;
    std::vector<std::int32_t> list_;
    std::vector<std::int64_t> start_;
    std::vector<std::int32_t> length_, elements_, weight_, degree_, supernode_;
    std::vector<std::int32_t> head_, next_, previous_;
    std::vector<std::int64_t> stamp_;
    std::vector<std::int32_t> last_, follower_, bucket_, buckets_;
    std::int32_t lowest_ = 0;
    std::int64_t size_ = 0, beyond_ = 0, tick_ = 1, most_ = 1, left_ = 0;
};

}  // namespace unbend
