// One body, two instruction sets: the baseline that every machine has and, on x86, AVX2 with FMA,
// chosen when the program runs. Nothing is compiled for the machine that happens to build it.
#pragma once

#if defined(__GNUC__)
#define UNBEND_INLINE __attribute__((always_inline))
#else
#define UNBEND_INLINE
#endif

// UNBEND_BASELINE leaves the baseline alone: tests compile both.
#if defined(__GNUC__) && defined(__x86_64__) && !defined(UNBEND_BASELINE)
#define UNBEND_HAS_WIDE
#define UNBEND_WIDE __attribute__((target("avx2,fma")))
#else
#define UNBEND_WIDE
#endif

namespace unbend {

inline bool has_wide_vectors() {
#ifdef UNBEND_HAS_WIDE
    static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return has;
#else
    return false;
#endif
}

template <typename Body>
UNBEND_WIDE void run_wide(const Body &body) {
    body();
}

// Runs `body`, a lambda marked UNBEND_INLINE that calls only functions marked so: it is compiled
// into both callers, each with its own instruction set.
template <typename Body>
void dispatch(const Body &body) {
    if (has_wide_vectors())
        run_wide(body);
    else
        body();
}

}  // namespace unbend
