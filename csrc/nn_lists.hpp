// Sorted lists of neighbours that several threads fill, and the keys by which they are sorted.
//
// Lists keep the least of all that was offered, by (key, index): neither the order of the work nor
// the number of threads can show.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "dispatch.hpp"
#include "select.hpp"
#include "simd_wide.hpp"

namespace unbend {

typedef float Eight __attribute__((vector_size(32)));
typedef std::int32_t EightIndices __attribute__((vector_size(32)));

// Rows of single precision have a multiple of so many columns.
constexpr std::int64_t lane_columns = 8;

struct SingleRows {
    const float *numbers;
    std::int64_t rows, columns;

    UNBEND_INLINE const float *of(std::int32_t row) const { return numbers + row * columns; }
};

UNBEND_INLINE inline Eight load_eight(const float *numbers) {
    Eight eight;
    std::memcpy(&eight, numbers, sizeof(eight));
    return eight;
}

// GCC has it from its version 12 on.
#if defined(__has_builtin)
#if __has_builtin(__builtin_assoc_barrier)
#define UNBEND_HAS_BARRIER
#endif
#endif

// Keeps a product apart from the sum it goes into: contracted to a * b + c it would round otherwise.
// Where no barrier is known, it goes through memory.
UNBEND_INLINE inline Eight rounded(Eight product) {
#if defined(UNBEND_HAS_BARRIER)
    return __builtin_assoc_barrier(product);
#else
    asm("" : "+m"(product));
    return product;
#endif
}

// Squared distance of two rows, always summed in the same order: 32 partial sums.
UNBEND_INLINE inline float key_of(const float *a, const float *b, std::int64_t columns) {
    Eight parts[4] = {};
    std::int64_t c = 0;
    const auto add = [&](int part) UNBEND_INLINE {
        const Eight difference = load_eight(a + c) - load_eight(b + c);
        parts[part] = parts[part] + rounded(difference * difference);
        c += lane_columns;
    };
    while (c + 4 * lane_columns <= columns)
        for (int part = 0; part < 4; ++part) add(part);
    // Written out: sums that a variable counts would be kept in memory.
    if (c < columns) add(0);
    if (c < columns) add(1);
    if (c < columns) add(2);
    const Eight s = (parts[0] + parts[1]) + (parts[2] + parts[3]);
    const float e = s[0] + s[4], f = s[1] + s[5], g = s[2] + s[6], h = s[3] + s[7];
    return (e + f) + (g + h);
}

// Whether one of `length` indices, a multiple of eight, is the wanted one.
UNBEND_INLINE inline bool contains(const std::int32_t *indices, std::int64_t length,
                                   std::int32_t wanted) {
    const EightIndices all = EightIndices{} + wanted;
    EightIndices found = {};
    for (std::int64_t e = 0; e < length; e += 8) {
        EightIndices some;
        std::memcpy(&some, indices + e, sizeof(some));
        found |= some == all;
    }
    return any_of(found);
}

// The lists of all rows while several threads fill them.
class SharedLists {
  public:
    SharedLists(std::int64_t rows, std::int64_t length, float *keys, std::int32_t *indices,
                std::uint8_t *fresh)
        : length_(length), keys_(keys), indices_(indices), fresh_(fresh), bounds_(rows),
          locks_(rows) {
        for (std::int64_t i = 0; i < rows; ++i) {
            bounds_[i].store(keys[(i + 1) * length - 1], std::memory_order_relaxed);
            locks_[i].store(0, std::memory_order_relaxed);
        }
    }

    std::int64_t length() const { return length_; }

    // What a list still takes; it may be less by the time it is used, never more.
    UNBEND_INLINE float bound(std::int32_t row) const {
        return bounds_[row].load(std::memory_order_relaxed);
    }

    UNBEND_INLINE void offer(std::int32_t row, float key, std::int32_t index) {
        if (key > bound(row)) return;
        lock(row);
        insert(row, key, index);
        unlock(row);
    }

    // Copies the list of a row to a place of at least its length.
    UNBEND_INLINE void copy(std::int32_t row, std::int32_t *into) {
        lock(row);
        std::memcpy(into, indices_ + row * length_, length_ * sizeof(std::int32_t));
        unlock(row);
    }

  private:
    UNBEND_INLINE void lock(std::int32_t row) {
        while (locks_[row].exchange(1, std::memory_order_acquire)) continue;
    }
    UNBEND_INLINE void unlock(std::int32_t row) {
        locks_[row].store(0, std::memory_order_release);
    }

    UNBEND_INLINE void insert(std::int32_t row, float key, std::int32_t index) {
        SortedList<float> list{keys_ + row * length_, indices_ + row * length_, length_};
        std::int64_t place = 0;
        while (place + 8 < length_ && list.keys[place + 7] < key) place += 8;
        while (place < length_ && !list.before(key, index, place)) ++place;
        if (place == length_ || (place > 0 && list.indices[place - 1] == index)) return;
        std::uint8_t *fresh = fresh_ + row * length_;
        const std::int64_t moved = length_ - 1 - place;
        std::memmove(list.keys + place + 1, list.keys + place, moved * sizeof(float));
        std::memmove(list.indices + place + 1, list.indices + place, moved * sizeof(std::int32_t));
        std::memmove(fresh + place + 1, fresh + place, moved);
        list.keys[place] = key;
        list.indices[place] = index;
        fresh[place] = 1;
        bounds_[row].store(list.bound(), std::memory_order_relaxed);
    }

    std::int64_t length_;
    float *keys_;
    std::int32_t *indices_;
    std::uint8_t *fresh_;
    std::vector<std::atomic<float>> bounds_;
    std::vector<std::atomic<std::uint8_t>> locks_;
};

}  // namespace unbend
