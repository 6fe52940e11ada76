// Progress of long loops that run on several threads.
#pragma once

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

}  // namespace unbend
