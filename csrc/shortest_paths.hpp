// Shortest paths from many sources over one sparse graph (Dijkstra, 1959).
//
// Free of Python: the module file binds it, and it can be driven by a plain C++ test.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace unbend {

// A graph in compressed rows; lengths are not negative.
template <typename Real>
struct Graph {
    std::int64_t vertices;
    const std::int64_t *row;      // vertices + 1 offsets
    const std::int32_t *column;
    const Real *length;
};

// Indexed 4-ary heap on the tentative distances: shallower than a binary heap, and a vertex sits
// in it at most once, so it never grows beyond the graph.
template <typename Real>
class VertexHeap {
  public:
    explicit VertexHeap(std::int64_t vertices) : place_(vertices, absent) {
        heap_.reserve(vertices);
    }

    bool empty() const { return heap_.empty(); }

    void lower(std::int32_t vertex, const Real *distance) {
        if (place_[vertex] == absent) {
            place_[vertex] = static_cast<std::int32_t>(heap_.size());
            heap_.push_back(vertex);
        }
        rise(place_[vertex], distance);
    }

    std::int32_t pop(const Real *distance) {
        const std::int32_t top = heap_.front();
        const std::int32_t last = heap_.back();
        heap_.pop_back();
        place_[top] = absent;
        if (!heap_.empty()) {
            heap_.front() = last;
            place_[last] = 0;
            sink(0, distance);
        }
        return top;
    }

  private:
    static constexpr std::int32_t absent = -1;
    static constexpr std::int32_t arity = 4;

    void rise(std::int32_t slot, const Real *distance) {
        const std::int32_t vertex = heap_[slot];
        while (slot > 0) {
            const std::int32_t parent = (slot - 1) / arity;
            if (!(distance[vertex] < distance[heap_[parent]])) break;
            put(heap_[parent], slot);
            slot = parent;
        }
        put(vertex, slot);
    }

    void sink(std::int32_t slot, const Real *distance) {
        const auto size = static_cast<std::int32_t>(heap_.size());
        const std::int32_t vertex = heap_[slot];
        for (std::int32_t child = arity * slot + 1; child < size; child = arity * slot + 1) {
            const std::int32_t end = child + arity < size ? child + arity : size;
            std::int32_t least = child;
            for (std::int32_t other = child + 1; other < end; ++other)
                if (distance[heap_[other]] < distance[heap_[least]]) least = other;
            if (!(distance[heap_[least]] < distance[vertex])) break;
            put(heap_[least], slot);
            slot = least;
        }
        put(vertex, slot);
    }

    void put(std::int32_t vertex, std::int32_t slot) {
        heap_[slot] = vertex;
        place_[vertex] = slot;
    }

    std::vector<std::int32_t> heap_;
    std::vector<std::int32_t> place_;
};

// Distances from one source; unreachable vertices stay at infinity.
template <typename Real>
void shortest_paths_from(const Graph<Real> &graph, std::int32_t source, VertexHeap<Real> &heap,
                         Real *distance) {
    for (std::int64_t v = 0; v < graph.vertices; ++v)
        distance[v] = std::numeric_limits<Real>::infinity();
    distance[source] = 0;
    heap.lower(source, distance);
    while (!heap.empty()) {
        const std::int32_t v = heap.pop(distance);
        for (std::int64_t e = graph.row[v]; e < graph.row[v + 1]; ++e) {
            const Real through = distance[v] + graph.length[e];
            const std::int32_t w = graph.column[e];
            if (through < distance[w]) {
                distance[w] = through;
                heap.lower(w, distance);
            }
        }
    }
}

// Row s of `distances` (sources x vertices) holds the distances from sources[s]. Sources are
// independent, so the result does not depend on the number of threads.
template <typename Real>
void shortest_paths(const Graph<Real> &graph, const std::int32_t *sources, std::int64_t count,
                    int threads, Real *distances) {
#pragma omp parallel num_threads(threads)
    {
        VertexHeap<Real> heap(graph.vertices);
#pragma omp for schedule(dynamic, 8)
        for (std::int64_t s = 0; s < count; ++s)
            shortest_paths_from(graph, sources[s], heap, distances + s * graph.vertices);
    }
    (void)threads;
}

}  // namespace unbend
