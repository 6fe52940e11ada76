#include <memory>

#include "bind.hpp"
#include "team.hpp"

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
}
