// Vectors whose numbers have no value until they are written: the thread that fills them touches their
// memory first, and nobody sets it to zero before.
#pragma once

#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace unbend {

template <typename Scalar>
struct RawAllocator : std::allocator<Scalar> {
    static_assert(std::is_trivial_v<Scalar>, "numbers only");

    template <typename Other>
    struct rebind {
        using other = RawAllocator<Other>;
    };

    template <typename Other, typename... Values>
    void construct(Other *place, Values &&...values) {
        if constexpr (sizeof...(Values) == 0)
            ::new (static_cast<void *>(place)) Other;
        else
            ::new (static_cast<void *>(place)) Other(std::forward<Values>(values)...);
    }
};

template <typename Scalar>
using RawVector = std::vector<Scalar, RawAllocator<Scalar>>;

}  // namespace unbend
