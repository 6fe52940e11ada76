// As many numbers as a wide register holds, side by side.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "dispatch.hpp"

namespace unbend {

// Reached through a pointer: copied by memcpy, GCC takes them through the stack.
template <typename Real>
struct Side {
    static constexpr std::int64_t count = 32 / sizeof(Real);
    typedef Real Lanes __attribute__((vector_size(32), aligned(sizeof(Real)), may_alias));
};

template <typename Real>
UNBEND_INLINE inline const typename Side<Real>::Lanes &lanes(const Real *numbers) {
    return *reinterpret_cast<const typename Side<Real>::Lanes *>(numbers);
}
template <typename Real>
UNBEND_INLINE inline typename Side<Real>::Lanes &lanes(Real *numbers) {
    return *reinterpret_cast<typename Side<Real>::Lanes *>(numbers);
}

// Whether any lane is set in what comparing lanes gave.
template <typename Within>
UNBEND_INLINE inline bool any_of(const Within &within) {
    typedef std::int64_t Words __attribute__((vector_size(32)));
    const Words words = (Words)within;
    return ((words[0] | words[1]) | (words[2] | words[3])) != 0;
}

// One bit for each lane that is set.
template <typename Within>
UNBEND_INLINE inline std::uint32_t bits_of(const Within &within) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < sizeof(Within) / sizeof(within[0]); ++k)
        bits |= static_cast<std::uint32_t>(within[k] & 1) << k;
    return bits;
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
