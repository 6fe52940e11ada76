"""The compiled kernels, or their NumPy/SciPy reference implementations.

`UNBEND_KERNELS=native` or `reference` selects one; otherwise the compiled kernels are used if they
were built, and the reference, with one warning, if not.
"""

import os
import warnings
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from unbend.report import ask

REFERENCE = "unbend._kernels.reference"


def _choose() -> ModuleType:
    wanted = os.environ.get("UNBEND_KERNELS", "")
    if wanted not in ("", "native", "reference"):
        raise ImportError(f"UNBEND_KERNELS is {wanted!r}: use 'native' or 'reference', or unset it")
    if wanted == "reference":
        return import_module(REFERENCE)
    try:
        return import_module("unbend._kernels._native")
    except ImportError:
        if wanted == "native":
            raise
        warnings.warn(
            "unbend was installed without its compiled kernels and will be slower: install a "
            "C++ compiler and reinstall it, or set UNBEND_KERNELS=reference to accept this",
            RuntimeWarning,
            stacklevel=2,
        )
        return import_module(REFERENCE)


if TYPE_CHECKING:
    # The compiled module has the signatures of the reference, as tests/test_kernels.py checks.
    from unbend._kernels import reference as kernels
else:
    kernels = _choose()

kernels.ask_with(ask)

name = "reference" if vars(kernels)["__name__"] == REFERENCE else "native"

__all__ = ["kernels", "name"]
