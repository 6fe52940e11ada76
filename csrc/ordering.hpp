// A fill-reducing order of a symmetric matrix.
//
// Minimum degree alone: nested dissection with level-set separators was tried in its place and
// above it, and filled 4 to 22 % more on neighbour graphs of 10 000 to a million points. Large graphs
// are cut into domains all the same, but only vertices of low degree are eliminated in each of them,
// which is most of the work; those at their borders wait, and all that is left is eliminated
// together. So the factor hardly changes, threads share the work, and a domain stays in cache.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "minimum_degree.hpp"
#include "poll.hpp"

namespace unbend {

// Rows for which two domains are worth their border; as many domains as leave the border the same
// share, which grows with their number over the root of the rows.
constexpr double two_domains = 25000;
constexpr std::int32_t most_domains = 16;
// Vertices up to the mean degree and so much more are eliminated in their domain.
constexpr std::int64_t low_degree = 24;

// A symmetric pattern in compressed rows; entries on the diagonal are allowed and ignored.
struct Pattern {
    std::int32_t n;
    const std::int64_t *row;
    const std::int32_t *column;
};

// Whether rows with rising columns have the mirror image of every entry: row by row, the entries of a
// column come in the order of that image.
inline bool mirrors_in_order(const Pattern &graph) {
    std::vector<std::int64_t> next(graph.row, graph.row + graph.n);
    for (std::int32_t v = 0; v < graph.n; ++v)
        for (std::int64_t e = graph.row[v]; e < graph.row[v + 1]; ++e) {
            const std::int32_t u = graph.column[e];
            if (next[u] == graph.row[u + 1] || graph.column[next[u]++] != v) return false;
        }
    return true;
}

// Whether every entry has its mirror image, columns in any order: all that follows relies on it.
inline bool is_symmetric(const Pattern &graph) {
    if (mirrors_in_order(graph)) return true;
    const std::int32_t n = graph.n;
    std::vector<std::int64_t> next(n + 1, 0);
    for (std::int64_t e = 0; e < graph.row[n]; ++e) ++next[graph.column[e] + 1];
    for (std::int32_t v = 0; v < n; ++v)
        if (next[v + 1] != graph.row[v + 1] - graph.row[v]) return false;
    for (std::int32_t v = 0; v < n; ++v) next[v] = graph.row[v];
    std::vector<std::int32_t> mirrored(graph.row[n]), mark(n, -1);
    for (std::int32_t v = 0; v < n; ++v)
        for (std::int64_t e = graph.row[v]; e < graph.row[v + 1]; ++e)
            mirrored[next[graph.column[e]]++] = v;
    for (std::int32_t v = 0; v < n; ++v) {
        for (std::int64_t e = graph.row[v]; e < graph.row[v + 1]; ++e) mark[graph.column[e]] = v;
        for (std::int64_t e = graph.row[v]; e < graph.row[v + 1]; ++e)
            if (mark[mirrored[e]] != v) return false;
    }
    return true;
}

// The vertices in an order in which neighbours lie together, and the places they have in it. Those
// joined to a good part of the graph, `dense`, have none (n): they come last whatever their degree
// becomes, and would slow down every step until then.
struct Walk {
    std::vector<std::int32_t> near, place, dense;
};

// Appends the component of a vertex to `order`, breadth first.
inline void search_component(const Pattern &graph, std::int32_t from,
                             std::vector<std::int32_t> &order, std::vector<std::int32_t> &place) {
    std::size_t next = order.size();
    place[from] = static_cast<std::int32_t>(next);
    order.push_back(from);
    for (; next < order.size(); ++next) {
        const std::int32_t v = order[next];
        for (std::int64_t e = graph.row[v]; e < graph.row[v + 1]; ++e) {
            const std::int32_t u = graph.column[e];
            if (place[u] != -1) continue;
            place[u] = static_cast<std::int32_t>(order.size());
            order.push_back(u);
        }
    }
}

inline Walk walk_breadth_first(const Pattern &graph) {
    const std::int32_t n = graph.n;
    const double many = 16 + 10 * std::sqrt(static_cast<double>(n));
    Walk walk;
    walk.place.assign(n, -1);
    walk.near.reserve(n);
    for (std::int32_t v = 0; v < n; ++v)
        if (graph.row[v + 1] - graph.row[v] > many) {
            walk.place[v] = n;
            walk.dense.push_back(v);
        }
    for (std::int32_t v = 0; v < n; ++v)
        if (walk.place[v] == -1) search_component(graph, v, walk.near, walk.place);
    return walk;
}

// Vertices whose elimination begins before others are looked at.
struct Domain {
    std::vector<std::int32_t> vertices;   // places in the whole graph; the last ones only count
    std::unique_ptr<MinimumDegree> degrees;
    Supernodes done;
    double flops = 0;
};

// The vertices at places `first` to `last` of a search through the graph. Those with neighbours
// elsewhere are not eliminated here.
inline Domain open_domain(const Pattern &graph, const Walk &walk, std::int32_t first,
                          std::int32_t last) {
    const std::int32_t size = last - first;
    const auto is_inside = [&](std::int32_t u) { return u >= first && u < last; };
    Domain domain;
    std::vector<std::int32_t> border, number(size);
    domain.vertices.reserve(size);
    std::int64_t entries = 0;
    const bool whole = size == static_cast<std::int32_t>(walk.near.size());
    for (std::int32_t p = first; p < last; ++p) {
        const std::int32_t v = walk.near[p];
        const bool inside = whole || std::all_of(
            graph.column + graph.row[v], graph.column + graph.row[v + 1], [&](std::int32_t u) {
                return is_inside(walk.place[u]) || walk.place[u] == graph.n;
            });
        entries += graph.row[v + 1] - graph.row[v];
        (inside ? domain.vertices : border).push_back(p);
    }
    const auto free = static_cast<std::int32_t>(domain.vertices.size());
    domain.vertices.insert(domain.vertices.end(), border.begin(), border.end());
    for (std::int32_t v = 0; v < size; ++v) number[domain.vertices[v] - first] = v;
    QuotientGraph local;
    local.list.reserve(entries + entries / 5 + size);
    local.list.resize(entries);
    local.start.resize(size);
    local.degree.resize(size);
    std::int64_t put = 0;
    for (std::int32_t v = 0; v < size; ++v) {
        const std::int32_t p = domain.vertices[v];
        local.start[v] = put;
        for (std::int64_t e = graph.row[walk.near[p]]; e < graph.row[walk.near[p] + 1]; ++e) {
            const std::int32_t u = walk.place[graph.column[e]];
            if (u == p || u == graph.n) continue;
            local.list[put++] = is_inside(u) ? number[u - first] : ~u;
        }
        local.degree[v] = static_cast<std::int32_t>(put - local.start[v]);
    }
    local.list.resize(put);
    local.length = local.degree;
    local.elements.assign(size, 0);
    local.weight.assign(size, 1);
    local.supernode.assign(size, -1);
    domain.degrees.reset(new MinimumDegree(std::move(local), free));
    return domain;
}

// Puts what the domains have done together, and what they have left into one graph, whose vertex v
// is vertex[v] of domain owner[v].
struct Remainder {
    Remainder(const std::vector<Domain> &domains, std::int32_t size, Supernodes &out) {
        std::vector<std::int32_t> number(size, -1);
        for (const Domain &domain : domains)
            for (std::int32_t v = 0; v < domain.degrees->size(); ++v)
                if (domain.degrees->remains(v)) {
                    number[domain.vertices[v]] = static_cast<std::int32_t>(vertex.size());
                    owner.push_back(&domain);
                    vertex.push_back(v);
                }
        for (const Domain &domain : domains) {
            const Supernodes &done = domain.done;
            const std::int32_t before = out.count();
            domain.degrees->hand_over(domain.vertices, number, before, graph);
            for (const std::int32_t v : done.vertices) out.vertices.push_back(domain.vertices[v]);
            for (const std::int32_t up : done.parent) out.parent.push_back(up < 0 ? up : up + before);
            out.columns.insert(out.columns.end(), done.columns.begin(), done.columns.end());
            out.below.insert(out.below.end(), done.below.begin(), done.below.end());
        }
        graph.list.reserve(graph.list.size() + graph.list.size() / 5 + vertex.size());
    }

    // Names the vertices that were eliminated last, from `known` on, as the whole graph does.
    void name(Supernodes &out, std::size_t known) const {
        const std::vector<std::int32_t> last(out.vertices.begin() + known, out.vertices.end());
        out.vertices.resize(known);
        for (const std::int32_t v : last)
            for (std::int32_t u = vertex[v]; u != -1; u = owner[v]->degrees->follower(u))
                out.vertices.push_back(owner[v]->vertices[u]);
    }

    QuotientGraph graph;
    std::vector<const Domain *> owner;
    std::vector<std::int32_t> vertex;
};

// Dense vertices are counted as rows of all columns.
inline void append_dense(const std::vector<std::int32_t> &dense, Supernodes &out) {
    if (dense.empty()) return;
    const auto count = static_cast<std::int32_t>(dense.size());
    const std::int32_t last = out.count();
    for (std::int32_t s = 0; s < last; ++s) {
        out.below[s] += count;
        if (out.parent[s] == -1) out.parent[s] = last;
    }
    out.vertices.insert(out.vertices.end(), dense.begin(), dense.end());
    out.columns.push_back(count);
    out.below.push_back(0);
    out.parent.push_back(-1);
}

// The number of domains must not depend on the number of threads, since the order follows from it.
inline std::int32_t count_domains(std::int32_t size) {
    std::int32_t count = 1;
    while (count < most_domains && size >= two_domains * count * count) count *= 2;
    return count;
}

// Supernodes of a small factor; none if that would take more than `most` flops or was stopped.
inline Supernodes fill_reducing_order(const Pattern &graph, const Walk &walk, double most, int threads,
                                      Poller &poller) {
    const auto size = static_cast<std::int32_t>(walk.near.size());
    const std::int32_t count = count_domains(size);
    const std::int64_t degree = count > 1 ? low_degree + graph.row[graph.n] / graph.n : size;
    std::vector<Domain> domains(count);
    run_tasks(count, threads, poller, [] { return 0; }, [&](int, std::int64_t d) {
        const auto cut = [&](std::int64_t k) { return static_cast<std::int32_t>(k * size / count); };
        Domain domain = open_domain(graph, walk, cut(d), cut(d + 1));
        domain.degrees->run(degree, domain.done, domain.flops, most, poller);
        domains[d] = std::move(domain);
    });
    if (poller.stopped()) return {};
    double flops = 0;
    for (const Domain &domain : domains) flops += domain.flops;
    if (flops > most) return {};
    Supernodes out;
    Remainder rest(domains, size, out);
    const std::size_t known = out.vertices.size();
    const auto left = static_cast<std::int32_t>(rest.vertex.size());
    if (!MinimumDegree(std::move(rest.graph), left).run(size, out, flops, most, poller)) return {};
    rest.name(out, known);
    for (std::int32_t &v : out.vertices) v = walk.near[v];
    append_dense(walk.dense, out);
    return out;
}

}  // namespace unbend
