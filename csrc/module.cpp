// Python's view of the compiled kernels: array types are checked here, nothing else.
#include "bind.hpp"

NB_MODULE(_native, module) {
    module.doc() = "Compiled kernels; unbend._kernels.reference holds their plain twins.";
    module.def(
        "ask_with",
        [](nanobind::callable function) {
            nanobind::handle before(unbend::asked());
            unbend::asked() = function.release().ptr();
            before.dec_ref();
        },
        nanobind::arg("function"));
    bind_cholesky(module);
    bind_clusters(module);
    bind_descent(module);
    bind_distances(module);
    bind_gram(module);
    bind_kd_tree(module);
    bind_layout(module);
    bind_local(module);
    bind_moments(module);
    bind_neighbors(module);
    bind_pairs(module);
    bind_paths(module);
    bind_products(module);
    bind_ranks(module);
    bind_stress(module);
    bind_team(module);
}
