// Long work that can be interrupted: asked for now and then, never across a parallel region.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>

#include "dispatch.hpp"
#include "team.hpp"

namespace unbend {

// Calls `poll` at most ten times a second, from the thread that made the poller. What it throws is
// kept, since an exception must not leave a thread: loops ask `stopped`, and `rethrow` comes after.
class Poller {
  public:
    explicit Poller(const std::function<void()> &poll) : poll_(poll) {}

    // Whether the work should be left; called by any thread, as often as it likes.
    bool stopped() {
        if (std::this_thread::get_id() == caller_ && !stopped_.load(std::memory_order_relaxed)) ask();
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
    const std::thread::id caller_ = std::this_thread::get_id();
    Clock::time_point last_ = Clock::now();
    std::atomic<bool> stopped_{false};
    std::exception_ptr error_;
};

// Runs `body(workspace, t)` for t = 0 .. count, each thread with a workspace of its own made by
// `make`. Tasks are handed out as threads ask for them, so any number finishes them: the first ones
// to the caller, the last ones to others, so that what a core has in its caches serves the next
// region too. What a thread throws stops the others and is kept by the poller, a `Poller` or a
// `Watch`.
template <typename Watcher, typename Make, typename Body>
void run_tasks(std::int64_t count, int threads, Watcher &poller, const Make &make,
               const Body &body) {
    std::atomic<std::int64_t> taken{0}, front{0}, back{count};
    const std::thread::id caller = std::this_thread::get_id();
    const auto work = [&] {
        const bool leads = std::this_thread::get_id() == caller;
        poller.guard([&] {
            auto workspace = make();
            // As many as there are may be taken, from either end: the ends never cross.
            while (taken++ < count && !poller.stopped()) body(workspace, leads ? front++ : --back);
        });
    };
    run_team(static_cast<int>(std::min<std::int64_t>(limit_threads(threads), count)), work);
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
                      const std::int64_t end = std::min(start + block, last);
                      for (std::int64_t i = start; i < end; ++i) body(workspace, i);
                  });
              });
}

}  // namespace unbend
