#include <memory>

#include "bind.hpp"
#include "poll.hpp"

namespace unbend {

namespace {

// A team for as long as a `with` statement of Python lasts. One inside another replaces it.
class KeptTeam {
  public:
    explicit KeptTeam(int threads) : threads_(threads) {}

    void enter() {
        team_ = std::make_unique<Team>(threads_);
        before_ = std::exchange(Team::current(), team_.get());
    }

    void exit() {
        Team::current() = before_;
        team_.reset();
    }

  private:
    const int threads_;
    std::unique_ptr<Team> team_;
    Team *before_ = nullptr;
};

}  // namespace

}  // namespace unbend

void bind_team(nanobind::module_ &module) {
    namespace nb = nanobind;
    using unbend::KeptTeam;
    nb::class_<KeptTeam>(module, "Team")
        .def(nb::init<int>(), nb::arg("threads"))
        .def("__enter__", [](KeptTeam &team) { team.enter(); })
        .def(
            "__exit__",
            [](KeptTeam &team, nb::object, nb::object, nb::object) { team.exit(); },
            nb::arg("kind").none(), nb::arg("error").none(), nb::arg("traceback").none());
    // Python functions that spend their time without the interpreter's lock.
    module.def(
        "run_parts",
        [](nb::callable function, std::int64_t count, int threads) {
            nb::gil_scoped_release release;
            unbend::run_tasks(count, threads, [] { return 0; }, [&](int &, std::int64_t part) {
                nb::gil_scoped_acquire acquire;
                function(part);
            });
        },
        nb::arg("function"), nb::arg("count"), nb::arg("threads"));
}
