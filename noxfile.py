"""A matrix of environments: `nox -l` lists them, `nox` runs what this machine can install.

`make check-wheels` runs the first ones without nox; both take the tests of `.ci/check_wheels.py`.
`UNBEND_WHEELS=FOLDER nox` takes wheels that were built before, and compiles nothing.
"""

import os
import sys
from pathlib import Path
from typing import Any

import nox

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT / ".ci"))

from check_wheels import EXTRAS, SMOKE, pick_wheel  # noqa: E402

nox.options.error_on_missing_interpreters = False
nox.options.sessions = ["tests", "lowest", "reference"]
ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1"}
OPTIONS = ["-q", "-p", "no:cacheprovider", "-m", "not slow"]


def _package(session: nox.Session) -> str:
    folder = os.environ.get("UNBEND_WHEELS")
    if folder is None:
        return "."
    major, minor = str(session.python).split(".")
    return str(pick_wheel(Path(folder).resolve(), (int(major), int(minor))))


def _install(session: nox.Session, *more: str, **options: Any) -> None:
    session.install(f"{_package(session)}[{EXTRAS}]", "--group", "smoke", *more, **options)


@nox.session(python=["3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """Run the short suite with the newest dependencies and the compiled kernels."""
    _install(session)
    session.run("pytest", *OPTIONS, *SMOKE, env={**ENVIRONMENT, "UNBEND_KERNELS": "native"})


@nox.session(python="3.11")
def lowest(session: nox.Session) -> None:
    """Build with the oldest supported tools, and run the short suite with such dependencies."""
    oldest = str(ROOT / "constraints-lowest.txt")
    # pip before 25.3 takes the first for its build environment, and later ones the second.
    build = {"PIP_CONSTRAINT": oldest, "PIP_BUILD_CONSTRAINT": oldest}
    _install(session, "-c", oldest, env=build)
    session.run("pytest", *OPTIONS, *SMOKE, env={**ENVIRONMENT, "UNBEND_KERNELS": "native"})


@nox.session(python="3.11")
def reference(session: nox.Session) -> None:
    """Build without a compiler, as on Windows, and run the short suite on the kernels in NumPy."""
    pure = ["--config-settings=wheel.cmake=false", "--config-settings=wheel.py-api=py3"]
    session.install(*pure, f".[{EXTRAS}]", "--group", "smoke")
    session.run("pytest", *OPTIONS, *SMOKE, env={**ENVIRONMENT, "UNBEND_KERNELS": "reference"})


@nox.session(python="3.11")
def types(session: nox.Session) -> None:
    """Check the package, and a program that uses it, with mypy."""
    session.install(_package(session), "--group", "lint", "--group", "smoke")
    session.run("mypy")
    session.run("pytest", *OPTIONS[:3], "tests/test_typing.py")
