// The threads of one parallel region.
//
// They start with the region and are joined at its end. No pool outlives it (an OpenMP runtime keeps
// one), so a process may fork at any time, and the child starts threads of its own.
#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace unbend {

// The threads to use where `threads` are asked for: a few for each core at most, since thousands
// would exhaust what the system grants a process.
inline int limit_threads(int threads) {
    static const int most = 4 * std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    return std::clamp(threads, 1, most);
}

// The threads to use for a loop of this many operations that is run again and again: one where it
// is done before a second would have started.
inline int threads_for(double operations, int threads) { return operations < 1e6 ? 1 : threads; }

// Runs `work`, which must not throw, on `threads` threads, the calling one among them. The system
// may refuse some: those that run must be able to finish without them.
template <typename Work>
void run_team(int threads, const Work &work) {
    std::vector<std::thread> others;
    try {
        others.reserve(threads - 1);
        for (int t = 1; t < threads; ++t) others.emplace_back(std::cref(work));
    } catch (const std::exception &) {
        // No more threads, or no memory for them.
    }
    work();
    for (std::thread &other : others) other.join();
}

}  // namespace unbend
