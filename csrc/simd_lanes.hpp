// SIMD lanes: the distances of one vertex from several sources, side by side.
#pragma once

#include <cstdint>
#include <utility>

#include "dispatch.hpp"

namespace unbend {

// Square tiles of vectors, turned so that rows become columns.
template <typename Real>
struct Tile {
    static constexpr int side = 32 / sizeof(Real);
    typedef Real Vector __attribute__((vector_size(32)));

    // Eklundh's method (1972): swap off-diagonal halves, then halves of the halves.
    UNBEND_INLINE static void transpose(Vector (&rows)[side]) {
        if constexpr (side == 8) swap_halves<4>(rows, std::make_integer_sequence<int, side>());
        swap_halves<2>(rows, std::make_integer_sequence<int, side>());
        swap_halves<1>(rows, std::make_integer_sequence<int, side>());
    }

  private:
    template <int half, int... place>
    UNBEND_INLINE static void swap_halves(Vector (&rows)[side],
                                          std::integer_sequence<int, place...>) {
        for (int i = 0; i < side; ++i) {
            if (i & half) continue;
            const Vector upper = rows[i], lower = rows[i + half];
            rows[i] = __builtin_shufflevector(
                upper, lower, (place & half ? place - half + side : place)...);
            rows[i + half] = __builtin_shufflevector(
                upper, lower, (place & half ? place + side : place + half)...);
        }
    }
};

// One lane: plain numbers.
template <typename Real>
struct OneLane {
    static constexpr int count = 1;

    Real value;

    UNBEND_INLINE static OneLane all(Real value) { return {value}; }
    UNBEND_INLINE const Real *from(int) const { return &value; }
    UNBEND_INLINE void set(int, Real number) { value = number; }
    UNBEND_INLINE Real least() const { return value; }

    // Lowers `other` to this + length where that is less; says whether it was anywhere.
    UNBEND_INLINE bool relax(Real length, OneLane &other) const {
        const Real through = value + length;
        if (!(through < other.value)) return false;
        other.value = through;
        return true;
    }
};

// 128 bytes of lanes, two cache lines: 32 float or 16 double, in vectors of the compiler.
template <typename Real>
struct alignas(64) ManyLanes {
    static constexpr int vectors = 4;
    static constexpr int in_vector = 32 / sizeof(Real);
    static constexpr int count = vectors * in_vector;
    typedef Real Vector __attribute__((vector_size(32)));
    typedef std::int64_t Bits __attribute__((vector_size(32)));

    Vector vector[vectors];

    UNBEND_INLINE static ManyLanes all(Real value) {
        ManyLanes lanes;
        for (int v = 0; v < vectors; ++v) lanes.vector[v] = Vector{} + value;
        return lanes;
    }
    // The numbers from one lane on.
    UNBEND_INLINE const Real *from(int lane) const {
        return reinterpret_cast<const Real *>(vector) + lane;
    }
    UNBEND_INLINE void set(int lane, Real value) {
        vector[lane / in_vector][lane % in_vector] = value;
    }

    UNBEND_INLINE Real least() const {
        Vector low = vector[0];
        for (int v = 1; v < vectors; ++v) low = vector[v] < low ? vector[v] : low;
        Real least = low[0];
        for (int lane = 1; lane < in_vector; ++lane) least = low[lane] < least ? low[lane] : least;
        return least;
    }

    UNBEND_INLINE bool relax(Real length, ManyLanes &other) const {
        Vector through[vectors];
        Bits lower = {};
        for (int v = 0; v < vectors; ++v) {
            through[v] = vector[v] + length;
            lower |= (Bits)(through[v] < other.vector[v]);
        }
        if ((lower[0] | lower[1] | lower[2] | lower[3]) == 0) return false;
        for (int v = 0; v < vectors; ++v)
            other.vector[v] = through[v] < other.vector[v] ? through[v] : other.vector[v];
        return true;
    }
};

}  // namespace unbend
