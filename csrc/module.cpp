// Python's view of the compiled kernels: array types are checked here, nothing else.
#include "bind.hpp"

NB_MODULE(_native, module) {
    module.doc() = "Compiled kernels; unbend._kernels.reference holds their plain twins.";
    unbend::bind_cholesky(module);
    unbend::bind_distances(module);
    unbend::bind_local(module);
    unbend::bind_paths(module);
}
