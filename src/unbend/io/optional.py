"""Packages that are needed for some files only."""

from importlib import import_module
from typing import Any

# Packages that are installed under another name than they are imported by.
INSTALLED = {"PIL": "Pillow"}
# Extras of packages that are not in `io`.
EXTRAS = {"astropy": "fits"}


def needed(module: str, purpose: str) -> Any:
    """Import an optional module, or say in one sentence what it is for and how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        name, extra = INSTALLED.get(package, package), EXTRAS.get(package, "io")
        raise ImportError(f"{purpose} needs {name}: pip install 'unbend[{extra}]'") from error


def available(module: str) -> bool:
    """Whether an optional module can be imported."""
    try:
        import_module(module)
    except ImportError:
        return False
    return True
