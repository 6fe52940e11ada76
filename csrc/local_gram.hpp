// Inner products of the points of neighbourhoods, relative to the first of each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "dot_tiles.hpp"
#include "poll.hpp"

namespace unbend {

// One neighbourhood at a time, of at most so many rows of a table: a few columns of its differences stay
// in the first cache while all their products are added up.
template <typename Number>
class LocalGram {
  public:
    LocalGram(const Number *points, std::int64_t columns, std::int64_t most)
        : points_(points), columns_(columns), differences_(padded(most - 1) * at_once),
          products_(padded(most - 1) * 4) {}

    // Fills gram (size, size) of the neighbourhood of some rows: zero for the first one.
    void run(const std::int32_t *members, std::int64_t size, double *gram) {
        std::fill(gram, gram + size * size, 0.0);
        dispatch_lanes([&](auto use) UNBEND_INLINE {
            for (std::int64_t first = 0; first < columns_; first += at_once) {
                const std::int64_t count = std::min(at_once, columns_ - first);
                subtract(members, size, first, count);
                add<typename decltype(use)::type>(size, count, gram);
            }
        });
        for (std::int64_t i = 1; i < size; ++i)
            for (std::int64_t j = i + 1; j < size; ++j) gram[i * size + j] = gram[j * size + i];
    }

  private:
    static constexpr std::int64_t at_once = 256;

    static std::int64_t padded(std::int64_t others) { return (others + 3) / 4 * 4; }

    UNBEND_INLINE void subtract(const std::int32_t *members, std::int64_t size, std::int64_t first,
                                std::int64_t count) {
        const Number *center = points_ + members[0] * columns_ + first;
        for (std::int64_t i = 0; i + 1 < size; ++i) {
            const Number *other = points_ + members[i + 1] * columns_ + first;
            double *to = &differences_[i * count];
            for (std::int64_t c = 0; c < count; ++c)
                to[c] = static_cast<double>(other[c]) - static_cast<double>(center[c]);
        }
        double *all = differences_.data();
        std::fill(all + (size - 1) * count, all + padded(size - 1) * count, 0.0);
    }

    // Adds the products of these columns below the diagonal, four rows at a time.
    template <typename Lanes>
    UNBEND_INLINE void add(std::int64_t size, std::int64_t count, double *gram) {
        const std::int64_t others = size - 1;
        for (std::int64_t i = 0; i < others; i += 4) {
            const std::int64_t width = std::min(i + 4, others);
            dot_rows<Lanes, 4>(&differences_[i * count], differences_.data(), width, count,
                               products_.data(), 4);
            for (std::int64_t r = 0; r < std::min<std::int64_t>(4, others - i); ++r)
                for (std::int64_t v = 0; v <= i + r; ++v)
                    gram[(i + r + 1) * size + v + 1] += products_[v * 4 + r];
        }
    }

    const Number *points_;
    const std::int64_t columns_;
    std::vector<double> differences_, products_;
};

// The neighbourhoods (count, size) of rows of a table.
template <typename Number>
struct Neighborhoods {
    const Number *points;
    std::int64_t columns;
    const std::int32_t *members;
    std::int64_t size;
};

// gram (count, size, size). Rows may have any number of columns, so it can be interrupted.
template <typename Number>
void local_gram(const Neighborhoods<Number> &given, std::int64_t count, int threads,
                const std::function<void()> &poll, double *gram) {
    const std::int64_t entries = given.size * given.size;
    Poller poller(poll);
    run_tasks(count, threads, poller, [&] { return LocalGram<Number>(given.points, given.columns, given.size); },
              [&](LocalGram<Number> &own, std::int64_t m) {
                  own.run(given.members + m * given.size, given.size, gram + m * entries);
              });
    poller.rethrow();
}

}  // namespace unbend
