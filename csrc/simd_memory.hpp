// SIMD vectors in memory that is aligned for their numbers only.
#pragma once

#include "dispatch.hpp"

namespace unbend {

#if defined(__GNUC__)
// A struct: clang forgets the alignment of a typedef where templates name it, and reads as if the
// memory were aligned for the register. Copied by memcpy, GCC takes vectors through the stack.
template <typename Lanes>
struct __attribute__((packed, may_alias)) Stored {
    Lanes value;
};

template <typename Lanes, typename Number>
UNBEND_INLINE inline Lanes load_lanes(const Number *numbers) {
    return reinterpret_cast<const Stored<Lanes> *>(numbers)->value;
}

template <typename Lanes, typename Number>
UNBEND_INLINE inline void store_lanes(Number *numbers, const Lanes &lanes) {
    reinterpret_cast<Stored<Lanes> *>(numbers)->value = lanes;
}
#endif

}  // namespace unbend
