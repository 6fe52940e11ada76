// Progress of long loops that run on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>

#include "poll.hpp"

namespace unbend {

// Called with the work done and the work there is; it stops the work by throwing.
using Poll = std::function<void(std::int64_t, std::int64_t)>;

// A poller that also counts what is done.
class Watch {
  public:
    Watch(const Poll &poll, std::int64_t total)
        : ask_([this, &poll, total] { poll(done_.load(std::memory_order_relaxed), total); }),
          poller_(ask_) {}

    Watch(const Watch &) = delete;

    bool stopped() { return poller_.stopped(); }

    void advance(std::int64_t pieces) { done_.fetch_add(pieces, std::memory_order_relaxed); }

    // Runs `body`; what it throws, such as memory that cannot be had, stops the work.
    template <typename Body>
    void guard(const Body &body) {
        poller_.guard(body);
    }

    void finish() const { poller_.rethrow(); }

  private:
    std::atomic<std::int64_t> done_{0};
    const std::function<void()> ask_;
    Poller poller_;
};

// Numbers 0 <= i < total in blocks, one task each: body(workspace, first, last). Tells `poll` of
// the numbers done, and throws what it or a task threw.
template <typename Make, typename Body>
void run_watched(std::int64_t total, std::int64_t block, int threads, const Poll &poll,
                 const Make &make, const Body &body) {
    Watch watch(poll, total);
    run_tasks((total + block - 1) / block, threads, watch, make,
              [&](auto &workspace, std::int64_t t) {
                  const std::int64_t first = t * block, last = std::min(first + block, total);
                  body(workspace, first, last);
                  watch.advance(last - first);
              });
    watch.finish();
}

}  // namespace unbend
