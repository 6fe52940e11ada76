// Shortest paths from many sources over one sparse graph, by label correction in buckets.
//
// Sources that are near each other share their way: up to 32 are served at once, one in each lane
// of a vector, and a vertex is looked at in the order of its distance from the nearest of them.
// Every distance is the least floating-point sum over all paths, whatever the order of the work:
// the result does not depend on lanes, threads or buckets, and equals Dijkstra's.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "bucket_queue.hpp"
#include "dispatch.hpp"
#include "graph.hpp"
#include "simd_lanes.hpp"
#include "watch.hpp"

namespace unbend {

// Sources of one run: their places in the list of sources.
using Group = std::vector<std::int64_t>;

// Fewer sources than this are served one by one: lanes cost more than they save.
constexpr std::size_t least_group = 4;

// Gathers sources that are at most a few edges apart; source s starts at vertex starts[s].
template <typename Real>
std::vector<Group> nearby_groups(const Graph<Real> &graph, const std::vector<std::int32_t> &starts,
                                 std::size_t room) {
    // The sources at one vertex, as a chain: first[v], then next[first[v]], ...
    std::vector<std::int64_t> first(graph.vertices, -1), next(starts.size());
    for (std::size_t s = 0; s < starts.size(); ++s) {
        next[s] = first[starts[s]];
        first[starts[s]] = static_cast<std::int64_t>(s);
    }
    std::vector<Group> groups;
    std::vector<std::int64_t> seen(graph.vertices, -1);
    std::vector<std::int32_t> near;
    const std::size_t reach = 8 * room;
    for (std::int64_t v = 0; v < graph.vertices; ++v) {
        while (first[v] >= 0) {
            const auto mark = static_cast<std::int64_t>(groups.size());
            Group group;
            near.assign(1, static_cast<std::int32_t>(v));
            seen[v] = mark;
            for (std::size_t i = 0; i < near.size() && i < reach && group.size() < room; ++i) {
                std::int64_t &here = first[near[i]];
                for (; here >= 0 && group.size() < room; here = next[here]) group.push_back(here);
                for (std::int64_t e = graph.row[near[i]]; e < graph.row[near[i] + 1]; ++e) {
                    const std::int32_t w = graph.column[e];
                    if (seen[w] != mark) {
                        seen[w] = mark;
                        near.push_back(w);
                    }
                }
            }
            groups.push_back(std::move(group));
        }
    }
    return groups;
}

// The distances of all vertices from the sources of one group at a time.
template <typename Real, template <typename> class LanesOf>
class PathsFromGroup {
  public:
    using Lanes = LanesOf<Real>;

    PathsFromGroup(const Graph<Real> &graph, Real width)
        : graph_(graph), queue_(graph.vertices, width), distance_(graph.vertices) {}

    // Fills the row of each source in `distances`, columns in the old numbers of the vertices.
    void run(const Group &group, const std::vector<std::int32_t> &starts,
             const std::vector<std::int32_t> &place, Real *distances) {
        dispatch([&]() UNBEND_INLINE {
            spread(group, starts);
            write(group, place, distances);
        });
    }

  private:
    UNBEND_INLINE void spread(const Group &group, const std::vector<std::int32_t> &starts) {
        const auto nowhere = Lanes::all(std::numeric_limits<Real>::infinity());
        for (Lanes &distance : distance_) distance = nowhere;
        for (std::size_t lane = 0; lane < group.size(); ++lane) {
            distance_[starts[group[lane]]].set(static_cast<int>(lane), 0);
            queue_.push(starts[group[lane]], 0);
        }
        for (std::int32_t v = queue_.pop(); v >= 0; v = queue_.pop()) {
            const Lanes from = distance_[v];
            for (std::int64_t e = graph_.row[v]; e < graph_.row[v + 1]; ++e) {
                const std::int32_t w = graph_.column[e];
                if (from.relax(graph_.length[e], distance_[w]))
                    queue_.push(w, distance_[w].least());
            }
        }
    }

    // Square tiles are turned in registers, so that several columns of a row are written at once.
    UNBEND_INLINE void write(const Group &group, const std::vector<std::int32_t> &place,
                             Real *distances) const {
        constexpr int side = Tile<Real>::side;
        const std::int64_t n = graph_.vertices, whole = Lanes::count > 1 ? n / side * side : 0;
        const auto sources = static_cast<int>(group.size());
        for (std::int64_t first = 0; first < whole; first += side)
            for (int lane = 0; lane < sources; lane += side) {
                typename Tile<Real>::Vector tile[side];
                for (int v = 0; v < side; ++v)
                    std::memcpy(&tile[v], distance_[place[first + v]].from(lane), sizeof(tile[v]));
                Tile<Real>::transpose(tile);
                for (int l = 0; l < side && lane + l < sources; ++l)
                    std::memcpy(distances + group[lane + l] * n + first, &tile[l], sizeof(tile[l]));
            }
        for (int lane = 0; lane < sources; ++lane)
            for (std::int64_t v = whole; v < n; ++v)
                distances[group[lane] * n + v] = *distance_[place[v]].from(lane);
    }

    const Graph<Real> &graph_;
    BucketQueue<Real> queue_;
    std::vector<Lanes> distance_;
};

// Mean length of the edges that have one: about the distance between two neighbours.
template <typename Real>
Real bucket_width(const Graph<Real> &graph) {
    double total = 0, count = 0;
    for (std::int64_t e = 0; e < graph.row[graph.vertices]; ++e)
        if (graph.length[e] > 0 && std::isfinite(graph.length[e])) {
            total += graph.length[e] / 4.0;
            count += 0.25;
        }
    const Real width = count > 0 ? static_cast<Real>(total / count) : Real(1);
    return width > 0 && std::isfinite(width) && std::isfinite(1 / width) ? width : Real(1);
}

// Shortest paths of one graph, from any sources.
template <typename Real>
class ShortestPaths {
  public:
    explicit ShortestPaths(const Graph<Real> &graph)
        : renumbered_(graph, level_order(graph)), width_(bucket_width(graph)) {}

    std::int64_t vertices() const { return renumbered_.graph().vertices; }

    // Row s of `distances` (sources x vertices) holds the distances from sources[s], infinite
    // where there is no path.
    void run(const std::int32_t *sources, std::int64_t count, int threads, const Poll &poll,
             Real *distances) const {
        const Graph<Real> graph = renumbered_.graph();
        const std::vector<std::int32_t> &place = renumbered_.place();
        std::vector<std::int32_t> starts(count);
        for (std::int64_t s = 0; s < count; ++s) starts[s] = place[sources[s]];
        const auto groups = nearby_groups(graph, starts, ManyLanes<Real>::count);
        Watch watch(poll, count);
        run_tasks(static_cast<std::int64_t>(groups.size()), threads, watch,
                  [] { return Searches(); }, [&](Searches &searches, std::int64_t g) {
            auto &[one, many] = searches;
            if (groups[g].size() >= least_group) {
                if (!many) many.reset(new PathsFromGroup<Real, ManyLanes>(graph, width_));
                many->run(groups[g], starts, place, distances);
            } else {
                if (!one) one.reset(new PathsFromGroup<Real, OneLane>(graph, width_));
                for (const std::int64_t s : groups[g])
                    one->run(Group(1, s), starts, place, distances);
            }
            watch.advance(static_cast<std::int64_t>(groups[g].size()));
        });
        watch.finish();
    }

  private:
    // Of one thread, each made when the first group needs it.
    struct Searches {
        std::unique_ptr<PathsFromGroup<Real, OneLane>> one;
        std::unique_ptr<PathsFromGroup<Real, ManyLanes>> many;
    };

    Renumbered<Real> renumbered_;
    Real width_;
};

}  // namespace unbend
