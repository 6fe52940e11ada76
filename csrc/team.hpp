// The threads of parallel regions.
//
// They start with the region and are joined at its end, or belong to a `Team` that the caller keeps
// for many short regions. No pool outlives its caller (an OpenMP runtime keeps one), so a process may
// fork at any time, and the child starts threads of its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#ifndef _WIN32
#include <unistd.h>
#endif

namespace unbend {

// Cores of the machine; to ask the system takes as long as a region of a small table.
inline int count_cores() {
    static const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    return cores;
}

// The threads to use where `threads` are asked for: a few for each core at most, since thousands
// would exhaust what the system grants a process.
inline int limit_threads(int threads) { return std::clamp(threads, 1, 4 * count_cores()); }

// Threads that wait for the regions of one caller. A region of a millisecond is over before the
// scheduler has moved a new thread to another core; a waiting one is there within microseconds.
class Team {
  public:
    explicit Team(int threads) : state_(new State), process_(process()) {
        try {
            const int count = limit_threads(threads) - 1;
            state_->others.reserve(count);
            state_->alert = count < count_cores();
            for (int t = 0; t < count; ++t)
                state_->others.emplace_back([state = state_] { state->serve(); });
        } catch (const std::exception &) {
            // No more threads, or no memory for them.
        }
    }

    Team(const Team &) = delete;

    ~Team() {
        // In a child these threads never were: it can neither join them nor destroy what they wait
        // for.
        if (process() != process_) return;
        state_->dismiss();
        delete state_;
    }

    // The team that regions of this thread use.
    static Team *&current() {
        static thread_local Team *team = nullptr;
        return team;
    }

    // Whether its threads exist in this process.
    bool present() const { return !state_->others.empty() && process() == process_; }

    // Runs `work` on at most `threads` threads, the calling one among them. Threads that have not
    // come when the caller is done are not waited for.
    void run(int threads, const std::function<void()> &work) {
        state_->call(std::min(threads - 1, static_cast<int>(state_->others.size())), work);
        work();
        state_->wait();
    }

  private:
    class State {
      public:
        std::vector<std::thread> others;
        // Whether every thread has a core to wait on; set before the first call.
        bool alert = false;

        void call(int places, const std::function<void()> &work) {
            {
                const std::lock_guard<std::mutex> lock(mutex_);
                work_ = &work;
                places_ = places;
                calls_.fetch_add(1);
            }
            for (int t = 0; t < places; ++t) called_.notify_one();
        }

        void wait() {
            std::unique_lock<std::mutex> lock(mutex_);
            places_ = 0;
            if (working_.load() > 0) linger(lock, [&] { return working_.load() == 0; });
            done_.wait(lock, [&] { return working_.load() == 0; });
        }

        void dismiss() {
            {
                const std::lock_guard<std::mutex> lock(mutex_);
                dismissed_ = true;
                calls_.fetch_add(1);
            }
            called_.notify_all();
            for (std::thread &other : others) other.join();
        }

        void serve() {
            std::unique_lock<std::mutex> lock(mutex_);
            for (;;) {
                const auto is_called = [&] { return places_ > 0 || dismissed_; };
                const int seen = calls_.load();
                if (!is_called()) linger(lock, [&] { return calls_.load() != seen; });
                called_.wait(lock, is_called);
                if (dismissed_) return;
                --places_;
                working_.fetch_add(1);
                const std::function<void()> &work = *work_;
                lock.unlock();
                work();
                lock.lock();
                if (working_.fetch_sub(1) == 1) done_.notify_one();
            }
        }

      private:
        // Waits without the lock and awake for a short time: regions follow one another within it,
        // and to sleep and be woken takes as long as many of them.
        template <typename Happened>
        void linger(std::unique_lock<std::mutex> &lock, const Happened &happened) {
            if (!alert) return;
            lock.unlock();
            const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
            do {
                for (int turn = 0; turn < 32 && !happened(); ++turn) rest();
            } while (!happened() && std::chrono::steady_clock::now() < end);
            lock.lock();
        }

        static void rest() {
#if defined(__x86_64__) && defined(__GNUC__)
            __builtin_ia32_pause();
#elif defined(__aarch64__) && defined(__GNUC__)
            asm volatile("yield");
#else
            std::this_thread::yield();
#endif
        }

        std::mutex mutex_;
        std::condition_variable called_, done_;
        const std::function<void()> *work_ = nullptr;
        std::atomic<int> calls_{0}, working_{0};
        int places_ = 0;
        bool dismissed_ = false;
    };

    static long process() {
#ifdef _WIN32
        return 0;
#else
        return getpid();
#endif
    }

    State *const state_;
    const long process_;
};

// The threads to use for a loop of this many operations that is run again and again: one where it
// is done before a second would have started, or, in a team, would have come.
inline int threads_for(double operations, int threads) {
    return operations < (Team::current() ? 1e5 : 1e6) ? 1 : threads;
}

// Runs `work`, which must not throw, on `threads` threads, the calling one among them. The system
// may refuse some: those that run must be able to finish without them.
template <typename Work>
void run_team(int threads, const Work &work) {
    // None while it works: a region inside of this one starts threads of its own.
    Team *const team = std::exchange(Team::current(), nullptr);
    if (threads > 1 && team && team->present()) {
        team->run(threads, std::cref(work));
        Team::current() = team;
        return;
    }
    std::vector<std::thread> others;
    try {
        others.reserve(threads - 1);
        for (int t = 1; t < threads; ++t) others.emplace_back(std::cref(work));
    } catch (const std::exception &) {
        // No more threads, or no memory for them.
    }
    work();
    for (std::thread &other : others) other.join();
    Team::current() = team;
}

}  // namespace unbend
