// Approximate neighbours of new rows: those in the cells whose centres are nearest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "nn_group.hpp"
#include "poll.hpp"

namespace unbend {

// Fitted rows in panels, cell by cell, relative to the centre of their cell; a cell fills whole
// panels, from `first[c]` to `first[c + 1]`.
struct PackedCells {
    Panels<float> panels;
    const float *centers;
    const std::int64_t *first;
    std::int64_t cells;
};

// What one thread needs to search for some queries.
class Probe {
  public:
    Probe(const SingleRows &queries, const PackedCells &cells, const std::int32_t *probes,
          std::int64_t count, std::int64_t length)
        : queries_(queries), cells_(cells), probes_(probes), count_(count), length_(length),
          room_((length + std::max<std::int64_t>(length / 2, 8) + 7) / 8 * 8),
          group_(queries.numbers, queries.columns), start_(cells.cells + 1) {}

    // Writes the `length` nearest candidates of queries first .. last, by their keys.
    UNBEND_INLINE void run(std::int64_t first, std::int64_t last, float *keys,
                           std::int32_t *indices) {
        const std::int64_t own = last - first;
        keys_.resize(own * room_);
        indices_.resize(own * room_);
        sizes_.assign(own, 0);
        bounds_.assign(own, std::numeric_limits<float>::infinity());
        sort_by_cell(first, last);
        const Shortlists<float> lists{keys_.data(),  bounds_.data(), indices_.data(),
                                      sizes_.data(), length_,        room_};
        for (std::int64_t c = 0; c < cells_.cells; ++c)
            for (std::int64_t q = start_[c]; q < start_[c + 1]; q += panel<float>)
                compare(c, by_cell_.data() + q,
                        std::min<std::int64_t>(panel<float>, start_[c + 1] - q), first, lists);
        for (std::int64_t i = 0; i < own; ++i)
            lists.sorted(i, pairs_, keys + (first + i) * length_, indices + (first + i) * length_);
    }

  private:
    // The queries that look into each cell.
    void sort_by_cell(std::int64_t first, std::int64_t last) {
        std::fill(start_.begin(), start_.end(), 0);
        for (std::int64_t p = first * count_; p < last * count_; ++p) ++start_[probes_[p] + 1];
        for (std::int64_t c = 0; c < cells_.cells; ++c) start_[c + 1] += start_[c];
        next_.assign(start_.begin(), start_.end() - 1);
        by_cell_.resize((last - first) * count_);
        for (std::int64_t q = first; q < last; ++q)
            for (std::int64_t p = q * count_; p < (q + 1) * count_; ++p)
                by_cell_[next_[probes_[p]]++] = static_cast<std::int32_t>(q);
    }

    // Offers all rows of a cell to at most a panel of queries.
    UNBEND_INLINE void compare(std::int64_t cell, const std::int32_t *some, std::int64_t count,
                               std::int64_t first, const Shortlists<float> &lists) {
        using Tile = Block<float>;
        group_.pack(some, count, cells_.centers + cell * queries_.columns);
        const Sides<float> sides{group_.sides().rows, cells_.panels, queries_.columns};
        float bounds[Tile::width], none[Tile::width];
        std::fill(none, none + Tile::width, -std::numeric_limits<float>::infinity());
        std::fill(bounds, bounds + Tile::width, -std::numeric_limits<float>::infinity());
        for (std::int64_t q = 0; q < count; ++q) bounds[q] = lists.bounds[some[q] - first];
        for (std::int64_t column = cells_.first[cell]; column < cells_.first[cell + 1];
             column += Tile::width)
            for (std::int64_t row = 0; row < count; row += Tile::height)
                Tile(sides, row, column)
                    .within(bounds + row, none,
                            [&](std::int64_t r, std::int64_t c, float key) UNBEND_INLINE {
                                const std::int64_t own = some[row + r] - first;
                                if (key > lists.bounds[own]) return;
                                lists.take(own, key, column + c);
                                bounds[row + r] = lists.bounds[own];
                            });
    }

    const SingleRows &queries_;
    const PackedCells &cells_;
    const std::int32_t *probes_;
    std::int64_t count_, length_, room_;
    PackedGroup group_;
    std::vector<std::int64_t> start_, next_;
    std::vector<std::int32_t> by_cell_;
    std::vector<float> keys_, bounds_;
    std::vector<std::int32_t> indices_, sizes_;
    Pairs<float> pairs_;
};

// Fills (queries, length) arrays with the nearest rows of the `count` cells that each query probes,
// sorted by (key, place in the panels).
inline void probe_cells(const SingleRows &queries, const PackedCells &cells,
                        const std::int32_t *probes, std::int64_t count, std::int64_t length,
                        int threads, const std::function<void()> &poll, float *keys,
                        std::int32_t *indices) {
    constexpr std::int64_t block = 1024;
    Poller poller(poll);
    run_tasks((queries.rows + block - 1) / block, threads, poller,
              [&] { return Probe(queries, cells, probes, count, length); },
              [&](Probe &own, std::int64_t t) {
                  dispatch([&]() UNBEND_INLINE {
                      own.run(t * block, std::min((t + 1) * block, queries.rows), keys, indices);
                  });
              });
    poller.rethrow();
}

}  // namespace unbend
