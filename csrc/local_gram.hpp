// Inner products of the points of neighbourhoods, relative to the first of each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "dot_tiles.hpp"
#include "poll.hpp"

namespace unbend {

// The neighbourhoods (count, size) of rows of a table.
template <typename Number>
struct Neighborhoods {
    const Number *points;
    std::int64_t columns;
    const std::int32_t *members;
    std::int64_t size;
};

// One neighbourhood at a time: a few columns of its differences stay in the first cache while all their
// products are added up.
template <typename Number>
class LocalGram {
  public:
    explicit LocalGram(const Neighborhoods<Number> &given)
        : given_(given), others_(given.size - 1), padded_((others_ + 3) / 4 * 4),
          differences_(padded_ * at_once), products_(padded_ * 4) {}

    // Fills gram (size, size) of neighbourhood m: zero for the first point.
    void run(std::int64_t m, double *gram) {
        const std::int64_t s = given_.size;
        std::fill(gram, gram + s * s, 0.0);
        dispatch_lanes([&](auto use) UNBEND_INLINE {
            for (std::int64_t first = 0; first < given_.columns; first += at_once) {
                const std::int64_t count = std::min(at_once, given_.columns - first);
                subtract(m, first, count);
                add<typename decltype(use)::type>(count, gram);
            }
        });
        for (std::int64_t i = 1; i < s; ++i)
            for (std::int64_t j = i + 1; j < s; ++j) gram[i * s + j] = gram[j * s + i];
    }

  private:
    static constexpr std::int64_t at_once = 256;

    const Number *row(std::int64_t m, std::int64_t place) const {
        return given_.points + given_.members[m * given_.size + place] * given_.columns;
    }

    UNBEND_INLINE void subtract(std::int64_t m, std::int64_t first, std::int64_t count) {
        const Number *center = row(m, 0) + first;
        for (std::int64_t i = 0; i < others_; ++i) {
            const Number *other = row(m, i + 1) + first;
            double *to = &differences_[i * count];
            for (std::int64_t c = 0; c < count; ++c)
                to[c] = static_cast<double>(other[c]) - static_cast<double>(center[c]);
        }
        double *all = differences_.data();
        std::fill(all + others_ * count, all + padded_ * count, 0.0);
    }

    // Adds the products of these columns below the diagonal, four rows at a time.
    template <typename Lanes>
    UNBEND_INLINE void add(std::int64_t count, double *gram) {
        for (std::int64_t i = 0; i < others_; i += 4) {
            const std::int64_t width = std::min(i + 4, others_);
            dot_rows<Lanes, 4>(&differences_[i * count], differences_.data(), width, count,
                               products_.data(), 4);
            for (std::int64_t r = 0; r < std::min<std::int64_t>(4, others_ - i); ++r)
                for (std::int64_t v = 0; v <= i + r; ++v)
                    gram[(i + r + 1) * given_.size + v + 1] += products_[v * 4 + r];
        }
    }

    const Neighborhoods<Number> given_;
    const std::int64_t others_, padded_;
    std::vector<double> differences_, products_;
};

// gram (count, size, size). Rows may have any number of columns, so it can be interrupted.
template <typename Number>
void local_gram(const Neighborhoods<Number> &given, std::int64_t count, int threads,
                const std::function<void()> &poll, double *gram) {
    const std::int64_t entries = given.size * given.size;
    Poller poller(poll);
    run_tasks(count, threads, poller, [&] { return LocalGram<Number>(given); },
              [&](LocalGram<Number> &own, std::int64_t m) { own.run(m, gram + m * entries); });
    poller.rethrow();
}

}  // namespace unbend
