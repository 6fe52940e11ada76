// Progress and interruption of long loops that run on several threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace unbend {

// Whether this is the thread that began the parallel region: it alone may call Python.
inline bool calling_thread() {
#ifdef _OPENMP
    return omp_get_thread_num() == 0;
#else
    return true;
#endif
}

// Called with the work done and the work there is; it stops the work by throwing.
using Poll = std::function<void(std::int64_t, std::int64_t)>;

// The calling thread asks now and then whether to go on; exceptions must not leave a parallel
// region, so they are kept until `finish`.
class Watch {
  public:
    Watch(const Poll &poll, std::int64_t total) : poll_(poll), total_(total) {}

    bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

    // One or more pieces are done; `calling` says whether this is the calling thread.
    void advance(bool calling, std::int64_t pieces = 1) {
        const std::int64_t done = done_.fetch_add(pieces, std::memory_order_relaxed) + pieces;
        if (!calling || stopped()) return;
        const auto now = std::chrono::steady_clock::now();
        if (now - asked_ < std::chrono::milliseconds(50)) return;
        asked_ = now;
        guard([&] { poll_(done, total_); });
    }

    // Runs `body`; what it throws, such as memory that cannot be had, stops the work.
    template <typename Body>
    void guard(const Body &body) {
        try {
            body();
        } catch (...) {
            if (!stopped_.exchange(true)) error_ = std::current_exception();
        }
    }

    void finish() const {
        if (error_) std::rethrow_exception(error_);
    }

  private:
    const Poll &poll_;
    std::int64_t total_;
    std::atomic<std::int64_t> done_{0};
    std::atomic<bool> stopped_{false};
    std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
    std::exception_ptr error_;
};

}  // namespace unbend
