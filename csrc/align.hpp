// The alignment kernel Σ SᵢBᵢSᵢ' of local blocks, straight into compressed rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dispatch.hpp"
#include "watch.hpp"

namespace unbend {

// Overlapping neighbourhoods of n points: the members of neighbourhood b are
// member[offset[b]] .. member[offset[b + 1] - 1].
class Cover {
  public:
    Cover(std::int64_t points, std::int64_t neighborhoods, const std::int64_t *offset,
          const std::int32_t *member)
        : points(points), offset(offset), member(member), first(points + 1, 0),
          entry(offset[neighborhoods]), owner(offset[neighborhoods]) {
        const std::int64_t entries = offset[neighborhoods];
        for (std::int64_t e = 0; e < entries; ++e) ++first[member[e] + 1];
        for (std::int64_t i = 0; i < points; ++i) first[i + 1] += first[i];
        std::vector<std::int64_t> next(first.begin(), first.end() - 1);
        for (std::int64_t b = 0; b < neighborhoods; ++b)
            for (std::int64_t e = offset[b]; e < offset[b + 1]; ++e) {
                const std::int64_t place = next[member[e]]++;
                entry[place] = e;
                owner[place] = b;
            }
    }

    // Calls visit(e, q) for every entry e of point i and every entry q beside it, in an order
    // that does not depend on the number of threads.
    template <typename Visit>
    UNBEND_INLINE void around(std::int64_t i, const Visit &visit) const {
        for (std::int64_t place = first[i]; place < first[i + 1]; ++place)
            for (std::int64_t q = offset[owner[place]]; q < offset[owner[place] + 1]; ++q)
                visit(entry[place], q);
    }

    const std::int64_t points;
    const std::int64_t *const offset;
    const std::int32_t *const member;
    // The entries of point i, with their neighbourhoods, from first[i] to first[i + 1].
    std::vector<std::int64_t> first, entry, owner;
};

// Rows of the kernel that a thread takes at a time.
constexpr std::int64_t rows_at_once = 256;

// Fills row (points + 1) with the offsets of the rows of the kernel.
inline void align_rows(const Cover &cover, int threads, std::int64_t *row) {
    row[0] = 0;
    run_blocks(0, cover.points, rows_at_once, threads,
               [&] { return std::vector<std::int64_t>(cover.points, -1); },
               [&](std::vector<std::int64_t> &seen, std::int64_t i) UNBEND_INLINE {
                   std::int64_t count = 0;
                   cover.around(i, [&](std::int64_t, std::int64_t q) UNBEND_INLINE {
                       const std::int32_t j = cover.member[q];
                       count += seen[j] != i;
                       seen[j] = i;
                   });
                   row[i + 1] = count;
               });
    for (std::int64_t i = 0; i < cover.points; ++i) row[i + 1] += row[i];
}

// Fills columns (ascending) and values of the kernel whose blocks are BB', or I − BB' for a
// `complement`; the rows of B belong to the entries of the cover, (entries, width).
inline void align(const Cover &cover, const double *bases, std::int64_t width, bool complement,
                  int threads, const Poll &poll, const std::int64_t *row, std::int32_t *column,
                  double *value) {
    const double sign = complement ? -1.0 : 1.0;
    // For every point the last row that met it, and the entry of that row.
    struct Entries {
        std::vector<std::int64_t> seen;
        std::vector<double> sum;
    };
    const auto make = [&] {
        return Entries{std::vector<std::int64_t>(cover.points, -1),
                       std::vector<double>(cover.points)};
    };
    run_watched(cover.points, rows_at_once, threads, poll, make,
                [&](Entries &entries, std::int64_t start, std::int64_t stop) {
        std::vector<std::int64_t> &seen = entries.seen;
        std::vector<double> &sum = entries.sum;
        for (std::int64_t i = start; i < stop; ++i) {
            std::int32_t *next = column + row[i];
            cover.around(i, [&](std::int64_t e, std::int64_t q) UNBEND_INLINE {
                const std::int32_t j = cover.member[q];
                if (seen[j] != i) {
                    seen[j] = i;
                    sum[j] = 0;
                    *next++ = j;
                }
                double product = 0;
                for (std::int64_t c = 0; c < width; ++c)
                    product += bases[e * width + c] * bases[q * width + c];
                sum[j] += (complement && e == q ? 1.0 : 0.0) + sign * product;
            });
            std::sort(column + row[i], next);
            for (std::int64_t k = row[i]; k < row[i + 1]; ++k) value[k] = sum[column[k]];
        }
    });
}

}  // namespace unbend
