// Teams of threads: every task is done once, exceptions arrive, only the caller polls, and forked
// processes start threads of their own. Runs under sanitizers.
#undef NDEBUG
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "watch.hpp"

// A child under ThreadSanitizer cannot start threads.
#if defined(__SANITIZE_THREAD__)
#define NO_FORK
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NO_FORK
#endif
#endif

namespace {

const auto nothing = [] { return 0; };

// Whether each of `count` tasks was done once.
bool all_done(std::int64_t count, int threads) {
    std::vector<std::atomic<int>> done(count);
    unbend::run_tasks(count, threads, nothing, [&](int, std::int64_t t) { ++done[t]; });
    for (const auto &times : done)
        if (times != 1) return false;
    return true;
}

void test_tasks() {
    for (const int threads : {-1, 0, 1, 2, 7, 40000, 2147483647})
        for (const std::int64_t count : {0, 1, 2, 5000}) assert(all_done(count, threads));
}

// Tasks wait until as many threads work as were asked for: they do run at the same time.
void test_threads_work_at_the_same_time() {
    std::atomic<int> present{0};
    unbend::run_tasks(3, 3, nothing, [&](int, std::int64_t) {
        for (++present; present < 3;) std::this_thread::yield();
    });
    assert(present == 3);
}

void test_number_of_threads_is_limited() {
    const int most = unbend::limit_threads(2147483647);
    assert(most >= 4 && most % 4 == 0);
    std::atomic<int> workspaces{0};
    unbend::run_tasks(10 * most, 10 * most, [&] { return ++workspaces; }, [](int, std::int64_t) {});
    assert(workspaces <= most);
}

void test_exceptions(int threads) {
    for (const std::int64_t bad : {0, 17, 999}) {
        std::string message;
        try {
            unbend::run_tasks(1000, threads, nothing, [&](int, std::int64_t t) {
                if (t == bad) throw std::runtime_error("task " + std::to_string(t));
            });
        } catch (const std::runtime_error &error) {
            message = error.what();
        }
        assert(message == "task " + std::to_string(bad));
    }
    bool refused = false;
    try {
        unbend::run_tasks(10, threads, []() -> int { throw std::bad_alloc(); },
                          [](int, std::int64_t) {});
    } catch (const std::bad_alloc &) {
        refused = true;
    }
    assert(refused);
}

// `poll` runs on the calling thread, learns of progress, and stops the work by throwing.
void test_polling(int threads) {
    const std::thread::id caller = std::this_thread::get_id();
    std::int64_t told = -1;
    bool stopped = false;
    const unbend::Poll poll = [&](std::int64_t done, std::int64_t total) {
        assert(std::this_thread::get_id() == caller && total == 1000000);
        told = done;
        throw std::runtime_error("stop");
    };
    try {
        unbend::run_watched(1000000, 10, threads, poll, nothing,
                            [](int, std::int64_t, std::int64_t) {
                                std::this_thread::sleep_for(std::chrono::milliseconds(1));
                            });
    } catch (const std::runtime_error &) {
        stopped = true;
    }
    assert(stopped && 0 <= told && told < 1000000);
}

// A child and its child, after threads have worked in the parent.
void test_fork(int depth) {
    assert(all_done(1000, 4));
#ifdef NO_FORK
    depth = 0;
#endif
    if (depth == 0) return;
    const pid_t child = fork();
    assert(child >= 0);
    if (child == 0) {
        alarm(20);
        test_fork(depth - 1);
        _exit(0);
    }
    int status = 0;
    assert(waitpid(child, &status, 0) == child && status == 0);
}

// Regions of a team have the laws of all others, and it is left behind by a child.
void test_kept_team(int threads) {
    unbend::Team team(threads);
    unbend::Team::current() = &team;
    test_tasks();
    test_exceptions(threads);
    test_polling(threads);
    for (int region = 0; region < 2000; ++region) assert(all_done(7, threads));
    std::atomic<int> inner{0};
    unbend::run_tasks(4, threads, nothing, [&](int, std::int64_t) {
        unbend::run_tasks(5, 2, nothing, [&](int, std::int64_t) { ++inner; });
    });
    assert(inner == 20);
    test_fork(2);
    unbend::Team::current() = nullptr;
}

#ifndef NO_FORK
// A child that leaves the scope of a team of its parent ends.
void test_team_in_child() {
    const pid_t child = [] {
        unbend::Team team(3);
        unbend::Team::current() = &team;
        assert(all_done(100, 3));
        const pid_t found = fork();
        if (found == 0) alarm(20);
        assert(all_done(100, 3));
        unbend::Team::current() = nullptr;
        return found;
    }();
    if (child == 0) _exit(all_done(100, 3) ? 0 : 1);
    int status = 0;
    assert(waitpid(child, &status, 0) == child && status == 0);
}
#endif

}  // namespace

int main() {
    test_tasks();
    test_threads_work_at_the_same_time();
    test_number_of_threads_is_limited();
    for (const int threads : {1, 4}) {
        test_exceptions(threads);
        test_polling(threads);
    }
    test_fork(2);
    for (const int threads : {1, 2, 4}) test_kept_team(threads);
#ifndef NO_FORK
    test_team_in_child();
#endif
    std::puts("team: ok");
}
