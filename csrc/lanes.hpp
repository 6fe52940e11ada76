// Several numbers side by side, one a lane: the distances of one vertex from several sources.
#pragma once

#include <cstdint>

#include "dispatch.hpp"

namespace unbend {

// One lane: plain numbers.
template <typename Real>
struct OneLane {
    static constexpr int count = 1;

    Real value;

    UNBEND_INLINE static OneLane all(Real value) { return {value}; }
    UNBEND_INLINE Real operator[](int) const { return value; }
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
    UNBEND_INLINE Real operator[](int lane) const {
        return vector[lane / in_vector][lane % in_vector];
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
