// Long work that can be interrupted: asked for now and then, never across a parallel region.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>

#include "dispatch.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace unbend {

inline int thread_number() {
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

// Calls `poll` from the master thread at most ten times a second. What it throws is kept, since
// an exception must not leave a parallel region: loops ask `stopped`, and `rethrow` comes after.
class Poller {
  public:
    explicit Poller(const std::function<void()> &poll) : poll_(poll) {}

    // Whether the work should be left; called by any thread, as often as it likes.
    bool stopped() {
        if (thread_number() == 0 && !stopped_.load(std::memory_order_relaxed)) ask();
        return stopped_.load(std::memory_order_relaxed);
    }

    void fail(std::exception_ptr error) {
        if (!stopped_.exchange(true)) error_ = error;
    }

    // Does some work and keeps what it throws.
    template <typename Work>
    void guard(const Work &work) {
        try {
            work();
        } catch (...) {
            fail(std::current_exception());
        }
    }

    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

  private:
    using Clock = std::chrono::steady_clock;

    void ask() {
        const Clock::time_point now = Clock::now();
        if (now - last_ < std::chrono::milliseconds(100)) return;
        last_ = now;
        guard([&] {
            if (poll_) poll_();
        });
    }

    const std::function<void()> &poll_;
    Clock::time_point last_ = Clock::now();
    std::atomic<bool> stopped_{false};
    std::exception_ptr error_;
};

// Runs `body(workspace, t)` for t = 0 .. count, each thread with a workspace of its own made by
// `make`. Tasks are handed out by a counter, not by a worksharing loop: a thread whose workspace
// cannot be had leaves alone, and the others finish.
template <typename Make, typename Body>
void run_tasks(std::int64_t count, int threads, Poller &poller, const Make &make, const Body &body) {
    std::atomic<std::int64_t> next{0};
    const auto work = [&] {
        poller.guard([&] {
            auto workspace = make();
            for (std::int64_t t = next++; t < count && !poller.stopped(); t = next++)
                body(workspace, t);
        });
    };
    if (threads < 2 || count < 2) return work();
#pragma omp parallel num_threads(threads)
    work();
}

// The same for work that is soon done: nobody is asked, and what a thread throws is thrown again.
template <typename Make, typename Body>
void run_tasks(std::int64_t count, int threads, const Make &make, const Body &body) {
    const std::function<void()> nobody;
    Poller poller(nobody);
    run_tasks(count, threads, poller, make, body);
    poller.rethrow();
}

// Numbers first <= i < last in blocks, one task each: body(workspace, i).
template <typename Make, typename Body>
void run_blocks(std::int64_t first, std::int64_t last, std::int64_t block, int threads,
                const Make &make, const Body &body) {
    run_tasks((last - first + block - 1) / block, threads, make,
              [&](auto &workspace, std::int64_t t) {
                  const std::int64_t start = first + t * block;
                  dispatch([&]() UNBEND_INLINE {
                      const std::int64_t end = start + block < last ? start + block : last;
                      for (std::int64_t i = start; i < end; ++i) body(workspace, i);
                  });
              });
}

}  // namespace unbend
