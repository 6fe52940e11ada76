// A sum whose rounding does not grow with the number of terms (Kahan): a line search compares values.
#pragma once

#include "dispatch.hpp"

namespace unbend {

class PreciseSum {
  public:
    UNBEND_INLINE void add(double term) {
        const double rest = term - lost_, next = sum_ + rest;
        lost_ = (next - sum_) - rest;
        sum_ = next;
    }
    double value() const { return sum_; }

  private:
    double sum_ = 0, lost_ = 0;
};

}  // namespace unbend
