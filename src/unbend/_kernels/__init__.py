"""The compiled kernels, or their plain NumPy/SciPy twins.

`UNBEND_KERNELS=native` or `reference` forces one; otherwise the compiled ones are used where they
were built, and the twins, with one warning, where no compiler was found at installation.
"""

import os
import warnings
from importlib import import_module

from unbend._kernels import reference
from unbend._kernels.signatures import Kernels


def _choose() -> tuple[str, Kernels]:
    wanted = os.environ.get("UNBEND_KERNELS", "")
    if wanted not in ("", "native", "reference"):
        raise ImportError(f"UNBEND_KERNELS is {wanted!r}: use 'native' or 'reference', or unset it")
    if wanted != "reference":
        try:
            _native: Kernels = import_module("unbend._kernels._native")
        except ImportError:
            if wanted == "native":
                raise
            warnings.warn(
                "unbend was installed without its compiled kernels and will be slower: install a "
                "C++ compiler and reinstall it, or set UNBEND_KERNELS=reference to accept this",
                RuntimeWarning,
                stacklevel=2,
            )
        else:
            return "native", _native
    return "reference", reference


name, kernels = _choose()

__all__ = ["kernels", "name"]
