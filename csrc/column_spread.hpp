// What checks of a table need: the largest magnitude of its numbers, and how far columns spread.
#pragma once

#include <cstdint>
#include <limits>

#include "moments.hpp"

namespace unbend {

// Largest magnitude; NaN if there is one.
inline double largest_magnitude(const double *numbers, std::int64_t count) {
    double result = 0;
    dispatch_lanes([&](auto use) UNBEND_INLINE {
        using Lanes = typename decltype(use)::type;
        using Bits = typename BitsOf<Lanes>::type;
        constexpr int step = lanes_of<Lanes>, parts = 4;
        const Bits sign_off = Bits{} + 0x7fffffffffffffff;
        Lanes largest[parts] = {};
        Bits nan[parts] = {};
        std::int64_t i = 0;
        for (; i + parts * step <= count; i += parts * step)
            for (int p = 0; p < parts; ++p) {
                const Lanes number = load_lanes<Lanes>(numbers + i + p * step);
                const Lanes size = (Lanes)((Bits)number & sign_off);
                largest[p] = size > largest[p] ? size : largest[p];
                nan[p] |= (Bits)(number != number);
            }
        bool any = false;
        for (int p = 0; p < parts; ++p) {
            double sizes[step];
            std::uint64_t flags[step];
            store_lanes(sizes, largest[p]);
            store_lanes(flags, nan[p]);
            for (int l = 0; l < step; ++l) {
                result = sizes[l] > result ? sizes[l] : result;
                any |= flags[l] != 0;
            }
        }
        for (; i < count; ++i) {
            const double size = numbers[i] < 0 ? -numbers[i] : numbers[i];
            result = size > result ? size : result;
            any |= size != size;
        }
        if (any) result = std::numeric_limits<double>::quiet_NaN();
    });
    return result;
}

// Sums of the differences of every `step`-th row from the first, and of their squares.
inline void column_spread(const double *rows, std::int64_t n, std::int64_t columns,
                          std::int64_t step, double *sums, double *squares) {
    dispatch([&]() UNBEND_INLINE {
        for (std::int64_t c = 0; c < columns; ++c) sums[c] = squares[c] = 0;
        for (std::int64_t i = step; i < n; i += step) {
            const double *row = rows + i * columns;
            for (std::int64_t c = 0; c < columns; ++c) {
                const double difference = row[c] - rows[c];
                sums[c] += difference;
                squares[c] += difference * difference;
            }
        }
    });
}

}  // namespace unbend
