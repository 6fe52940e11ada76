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
