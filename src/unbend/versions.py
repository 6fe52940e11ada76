"""Versions of the installed packages, for bug reports."""

import platform
from importlib.metadata import PackageNotFoundError, version

from unbend import _kernels


def versions() -> dict[str, str]:
    """Versions of unbend, its kernels, Python and the packages it uses."""
    found = {"unbend": version("unbend"), "kernels": _kernels.name}
    found["python"] = f"{platform.python_version()} ({platform.system()} {platform.machine()})"
    for package in ("numpy", "scipy", "scikit-learn", "matplotlib"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def show_versions() -> None:
    """Print versions, and which kernels are in use.

    Examples
    --------
    >>> import unbend
    >>> unbend.show_versions()
    unbend        ...
    kernels       ...
    """
    print("\n".join(f"{name:<14}{text}" for name, text in versions().items()))  # noqa: T201
