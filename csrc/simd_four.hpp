// SIMD vectors of four numbers: one AVX register, two of SSE2 or NEON, or a loop.
//
// Written out because compilers unroll such short loops before they see vectors in them. Every
// operation rounds as the plain one does.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "dispatch.hpp"

namespace unbend {

template <typename Real>
struct Four {
#if defined(__GNUC__)
    // Aligned as one number: the wide alignment is not the same for all instruction sets.
    typedef Real Pack __attribute__((vector_size(4 * sizeof(Real)), aligned(alignof(Real))));
#else
    struct Pack {
        Real value[4];
        Real operator[](int lane) const { return value[lane]; }
    };
#endif
    Pack pack;

    static UNBEND_INLINE Four load(const Real *numbers) {
        Four four;
        std::memcpy(&four.pack, numbers, sizeof(Pack));
        return four;
    }
    // Converts numbers of another type, which for floats as doubles is exact. One by one: GCC splits
    // a vector conversion for the baseline, before wider registers are enabled.
    template <typename Other>
    static UNBEND_INLINE Four load(const Other *numbers) {
        const auto at = [&](int i) UNBEND_INLINE { return static_cast<Real>(numbers[i]); };
        return {Pack{at(0), at(1), at(2), at(3)}};
    }
    static UNBEND_INLINE Four all(Real number) {
        const Real numbers[4] = {number, number, number, number};
        return load(numbers);
    }
    UNBEND_INLINE void store(Real *numbers) const { std::memcpy(numbers, &pack, sizeof(Pack)); }
};

#if defined(__GNUC__)
template <typename Real>
UNBEND_INLINE inline Four<Real> operator+(const Four<Real> &a, const Four<Real> &b) {
    return {a.pack + b.pack};
}
template <typename Real>
UNBEND_INLINE inline Four<Real> operator-(const Four<Real> &a, const Four<Real> &b) {
    return {a.pack - b.pack};
}
template <typename Real>
UNBEND_INLINE inline Four<Real> operator*(const Four<Real> &a, const Four<Real> &b) {
    return {a.pack * b.pack};
}
template <typename Real>
UNBEND_INLINE inline Four<Real> operator/(const Four<Real> &a, const Four<Real> &b) {
    return {a.pack / b.pack};
}
template <typename Real>
UNBEND_INLINE inline Four<Real> larger(const Four<Real> &a, const Four<Real> &b) {
    return {a.pack > b.pack ? a.pack : b.pack};
}
template <typename Real>
UNBEND_INLINE inline Four<Real> smaller(const Four<Real> &a, const Four<Real> &b) {
    return {a.pack < b.pack ? a.pack : b.pack};
}
// Whether any number of `a` or `b` is at most its counterpart in `bound`.
template <typename Real>
UNBEND_INLINE inline bool any_within(const Four<Real> &a, const Four<Real> &b,
                                     const Four<Real> &bound) {
    const auto within = (a.pack <= bound.pack) | (b.pack <= bound.pack);
    std::int64_t words[sizeof(within) / 8];
    std::memcpy(words, &within, sizeof(within));
    std::int64_t any = 0;
    for (std::int64_t word : words) any |= word;
    return any != 0;
}
#else
template <typename Real, typename Operation>
Four<Real> each(const Four<Real> &a, const Four<Real> &b, const Operation &operation) {
    Four<Real> four;
    for (int i = 0; i < 4; ++i) four.pack.value[i] = operation(a.pack[i], b.pack[i]);
    return four;
}
template <typename Real>
Four<Real> operator+(const Four<Real> &a, const Four<Real> &b) {
    return each(a, b, [](Real x, Real y) { return x + y; });
}
template <typename Real>
Four<Real> operator-(const Four<Real> &a, const Four<Real> &b) {
    return each(a, b, [](Real x, Real y) { return x - y; });
}
template <typename Real>
Four<Real> operator*(const Four<Real> &a, const Four<Real> &b) {
    return each(a, b, [](Real x, Real y) { return x * y; });
}
template <typename Real>
Four<Real> operator/(const Four<Real> &a, const Four<Real> &b) {
    return each(a, b, [](Real x, Real y) { return x / y; });
}
template <typename Real>
Four<Real> larger(const Four<Real> &a, const Four<Real> &b) {
    return each(a, b, [](Real x, Real y) { return x > y ? x : y; });
}
template <typename Real>
Four<Real> smaller(const Four<Real> &a, const Four<Real> &b) {
    return each(a, b, [](Real x, Real y) { return x < y ? x : y; });
}
template <typename Real>
bool any_within(const Four<Real> &a, const Four<Real> &b, const Four<Real> &bound) {
    for (int i = 0; i < 4; ++i)
        if (a.pack[i] <= bound.pack[i] || b.pack[i] <= bound.pack[i]) return true;
    return false;
}
#endif

// One bit for each number of `a`, then of `b`, that is at most its counterpart in `bound`.
UNBEND_INLINE inline std::uint32_t within_bits(const Four<double> &a, const Four<double> &b,
                                               const Four<double> &bound) {
#if defined(__GNUC__)
    typedef std::int64_t Words __attribute__((vector_size(32)));
    constexpr Words first = {1, 2, 4, 8}, second = {16, 32, 64, 128};
    const Words bits = ((a.pack <= bound.pack) & first) | ((b.pack <= bound.pack) & second);
    return static_cast<std::uint32_t>((bits[0] | bits[1]) | (bits[2] | bits[3]));
#else
    std::uint32_t bits = 0;
    for (int i = 0; i < 4; ++i)
        bits |= (a.pack[i] <= bound.pack[i] ? 1u << i : 0) | (b.pack[i] <= bound.pack[i] ? 16u << i : 0);
    return bits;
#endif
}

template <typename Real>
UNBEND_INLINE inline Four<Real> size_of(const Four<Real> &a) {
    return larger(a, Four<Real>::all(0) - a);
}

}  // namespace unbend
