// Hashes of rows, which number them in an order that is not that of the data.
#pragma once

#include <cstdint>
#include <cstring>

#include "poll.hpp"

namespace unbend {

// Mixes bits as splitmix64 does, and its increment.
constexpr std::uint64_t hash_step = 0x9E3779B97F4A7C15u;
inline std::uint64_t mix_bits(std::uint64_t state) {
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9u;
    state = (state ^ (state >> 27)) * 0x94D049BB133111EBu;
    return state ^ (state >> 31);
}

inline std::uint64_t bits_of_number(double number) {
    std::uint64_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}

// A hash of each row of numbers, by odd factors of its columns.
inline void hash_rows(const double *points, std::int64_t n, std::int64_t columns,
                      const std::uint64_t *factors, int threads, std::uint64_t *hashes) {
    run_blocks(
        0, n, 64, threads_for(4.0 * n * columns, threads), [] { return 0; },
        [&](int, std::int64_t i) {
            std::uint64_t sum = 0;
            for (std::int64_t c = 0; c < columns; ++c) {
                // Minus zero is zero.
                const std::uint64_t bits = bits_of_number(points[i * columns + c] + 0.0);
                // Numbers of few digits have them in their highest bits, which products lose.
                sum += (bits ^ bits >> 32) * factors[c];
            }
            hashes[i] = mix_bits(sum);
        });
}

// A hash of each row's state, of its weights to `bits` significant ones, and of the states of its
// entries. A sum modulo 2^64 has no order.
inline void hash_neighbors(const std::int64_t *offsets, const std::int32_t *indices,
                           const double *weights, int bits, const std::uint64_t *state,
                           std::int64_t n, int threads, std::uint64_t *hashes) {
    const int dropped = 53 - bits;
    const std::uint64_t half = std::uint64_t(1) << (dropped - 1);
    run_blocks(
        0, n, 256, threads_for(8.0 * static_cast<double>(offsets[n]), threads), [] { return 0; },
        [&](int, std::int64_t i) {
            std::uint64_t sum = hash_step + state[i];
            for (std::int64_t e = offsets[i]; e < offsets[i + 1]; ++e) {
                const std::uint64_t word = (bits_of_number(weights[e]) + half) >> dropped << dropped;
                sum += mix_bits(mix_bits(word) + state[indices[e]]);
            }
            hashes[i] = mix_bits(sum);
        });
}

}  // namespace unbend
