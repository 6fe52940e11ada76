// Products that propose neighbours, against sorting the plain distances. Runs under sanitizers.
#undef NDEBUG
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <vector>

#include "offer.hpp"

using namespace unbend;

namespace {

std::mt19937_64 generator(7);

// Small whole numbers, whose products are exact, in panels; what fills the last block is NaN.
template <typename Real>
struct Whole {
    std::int64_t count, padded, coordinates;
    std::vector<Real> rows, panels, squares;

    Whole(std::int64_t count, std::int64_t coordinates)
        : count(count), padded((count + 23) / 24 * 24), coordinates(coordinates),
          rows(padded * coordinates), panels(padded * coordinates),
          squares(padded, std::numeric_limits<Real>::quiet_NaN()) {
        const std::int64_t width = Block<Real>::width;
        for (std::int64_t i = 0; i < count; ++i) {
            squares[i] = 0;
            for (std::int64_t c = 0; c < coordinates; ++c) {
                const Real number = static_cast<Real>(generator() % 4);
                rows[i * coordinates + c] = number;
                panels[(i / width * coordinates + c) * width + i % width] = number;
                squares[i] += number * number;
            }
        }
    }

    Real key(std::int64_t i, const Whole &other, std::int64_t j) const {
        Real sum = 0;
        for (std::int64_t c = 0; c < coordinates; ++c) {
            const Real gap = rows[i * coordinates + c] - other.rows[j * coordinates + c];
            sum += gap * gap;
        }
        return sum;
    }
};

template <typename Real>
struct Filled {
    std::vector<Real> keys, bounds, sorted_keys;
    std::vector<std::int32_t> indices, sizes, sorted_indices;
    Shortlists<Real> lists;

    Filled(std::int64_t count, std::int64_t length, std::int64_t room)
        : keys(count * room), bounds(count, std::numeric_limits<Real>::infinity()),
          sorted_keys(count * length), indices(count * room), sizes(count),
          sorted_indices(count * length),
          lists{keys.data(), bounds.data(), indices.data(), sizes.data(), length, room} {}

    void check(const Whole<Real> &rows, const Whole<Real> &columns, bool own) {
        sort_shortlists(lists, rows.count, 2, sorted_keys.data(), sorted_indices.data());
        for (std::int64_t i = 0; i < rows.count; ++i) {
            Pairs<Real> all;
            for (std::int32_t j = 0; j < columns.count; ++j)
                if (!own || i != j) all.push_back({rows.key(i, columns, j), j});
            std::sort(all.begin(), all.end());
            all.resize(lists.length, {std::numeric_limits<Real>::infinity(),
                                      std::numeric_limits<std::int32_t>::max()});
            for (std::int64_t l = 0; l < lists.length; ++l) {
                assert(sorted_keys[i * lists.length + l] == all[l].first);
                assert(sorted_indices[i * lists.length + l] == all[l].second);
            }
        }
    }
};

// Pairs of tiles give both their lists, and columns those of other rows; ties by index.
template <typename Real>
void check_offers(std::int64_t count, std::int64_t coordinates, std::int64_t length) {
    const Whole<Real> points(count, coordinates), queries(50, coordinates);
    const std::int64_t room = (length + length / 2) / 8 * 8 + 8, tile = 96;
    const Panels<Real> fitted{points.panels.data(), points.squares.data()};
    const Sides<Real> own{fitted, fitted, coordinates};
    Filled<Real> both(points.padded, length, room), rows(queries.padded, length, room);
    const std::int64_t tiles = (points.padded + tile - 1) / tile;
    for (std::int64_t apart = 0; apart < tiles; ++apart)
        for (std::int64_t t = 0; t + apart < tiles; ++t) {
            const std::int64_t pair[] = {t, t + apart};
            offer_pairs(own, points.padded, pair, 1, tile, 1, both.lists);
        }
    both.check(points, points, true);
    const Sides<Real> asked{{queries.panels.data(), queries.squares.data()}, fitted, coordinates};
    offer_columns(asked, queries.padded, points.padded, tile, 2, rows.lists);
    rows.check(queries, points, false);
}

}  // namespace

int main() {
    for (std::int64_t length : {1, 5, 40, 300}) {
        check_offers<float>(230, 3, length);
        check_offers<double>(230, 3, length);
        check_offers<float>(97, 21, length);
    }
    std::puts("products: passed");
}
