// SIMD vectors of the widest register.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "dispatch.hpp"
#include "simd_memory.hpp"

namespace unbend {

template <typename Real>
struct Side {
    static constexpr std::int64_t count = 32 / sizeof(Real);
    typedef Real Lanes __attribute__((vector_size(32)));
};

template <typename Real>
UNBEND_INLINE inline typename Side<Real>::Lanes lanes(const Real *numbers) {
    return load_lanes<typename Side<Real>::Lanes>(numbers);
}

// Whether any lane is set in what comparing lanes gave.
template <typename Within>
UNBEND_INLINE inline bool any_of(Within within) {
    typedef std::int64_t Words __attribute__((vector_size(32)));
    const Words words = (Words)within;
    return ((words[0] | words[1]) | (words[2] | words[3])) != 0;
}

// One bit for each lane that is set, of comparisons side by side.
template <typename Within, std::size_t count>
UNBEND_INLINE inline std::uint32_t bits_of(const Within (&within)[count]) {
    typedef std::int64_t Words __attribute__((vector_size(32)));
    constexpr int wide = sizeof(Within) / sizeof(within[0][0]);
    static_assert(count * wide <= 32, "a bit for each lane");
    Within bits;
    for (int lane = 0; lane < wide; ++lane) bits[lane] = 1 << lane;
    Within set = within[0] & bits;
    for (std::size_t part = 1; part < count; ++part) set |= within[part] & bits << (part * wide);
    const Words words = (Words)set;
    const std::int64_t word = (words[0] | words[1]) | (words[2] | words[3]);
    // Lanes of half a word leave bits in both halves.
    return static_cast<std::uint32_t>(word | word >> 32);
}

UNBEND_INLINE inline float root(float number) { return std::sqrt(number); }
UNBEND_INLINE inline double root(double number) { return std::sqrt(number); }
template <typename Lanes>
UNBEND_INLINE inline Lanes root(Lanes numbers) {
    for (std::size_t k = 0; k < sizeof(Lanes) / sizeof(numbers[0]); ++k)
        numbers[k] = std::sqrt(numbers[k]);
    return numbers;
}

template <typename Lanes>
UNBEND_INLINE inline double sum_of(const Lanes &numbers) {
    double sum = 0;
    for (std::size_t k = 0; k < sizeof(Lanes) / sizeof(numbers[0]); ++k) sum += numbers[k];
    return sum;
}

}  // namespace unbend
