"""Build the wheels and try them on every CPython of this machine.

Each runs the README's first ten minutes and a minute of tests with the newest dependencies that
pip resolves; the oldest supported dependencies are tried on the oldest Python. The wheels are
built from the source distribution: one for Python 3.11, and one with the stable ABI for all later
versions.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
OLDEST_PYTHON = (3, 11)
STABLE_ABI = (3, 12)
# Not dask: the smoke tests do not use it, and tests of unbend.scale skip where it is absent.
EXTRAS = "cli,fits,io,plot"
SMOKE = [
    "tests/smoke",
    "tests/cli/test_first_ten_minutes.py",
    "tests/dimension/test_estimators.py",
    "tests/stages/test_compiled_neighbors.py",
    "tests/storage/test_kept.py",
    "tests/test_kernels.py",
    "tests/test_quality.py",
]
DESCRIBE = (
    "import sys, ensurepip, venv;"
    "print(sys.implementation.name, *sys.version_info[:2], sys.version_info.releaselevel)"
)

Version = tuple[int, int]


def run(*command: str | Path, **options: object) -> None:
    """Run a command; end with its exit code if it fails."""
    print("+", " ".join(str(part) for part in command), flush=True)
    done = subprocess.run([str(part) for part in command], **options)  # type: ignore[call-overload]
    if done.returncode:
        sys.exit(done.returncode)


def find_pythons() -> dict[Version, Path]:
    """Return one CPython of each supported version that can make virtual environments."""
    folders = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    folders += sorted(pyenv.glob("versions/*/bin"))
    candidates = [Path(sys.executable)]
    candidates += [path for folder in folders for path in sorted(folder.glob("python3.[0-9]*"))]
    found: dict[Version, Path] = {}
    for path in candidates:
        if not re.fullmatch(r"python(3(\.\d+)?)?", path.name):
            continue
        said = subprocess.run([path, "-c", DESCRIBE], capture_output=True, text=True, check=False)
        name, *rest = said.stdout.split() or [""]
        if name != "cpython" or rest[2] != "final":
            continue
        version = int(rest[0]), int(rest[1])
        if version >= OLDEST_PYTHON:
            found.setdefault(version, path)
    return dict(sorted(found.items()))


def build_wheels(pythons: dict[Version, Path], folder: Path) -> None:
    """Build the source distribution, and from it a wheel for each ABI."""
    builder = make_environment(next(iter(pythons.values())), folder / "builder")
    run(builder, "-m", "pip", "install", "--quiet", "build")
    run(builder, "-m", "build", "--sdist", "--outdir", folder, ROOT)
    (source,) = folder.glob("*.tar.gz")
    stable = [path for version, path in pythons.items() if version >= STABLE_ABI]
    for python in [*(p for v, p in pythons.items() if v < STABLE_ABI), *stable[:1]]:
        run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, source)


def pick_wheel(folder: Path, version: Version) -> Path:
    """Return the wheel for a version of Python."""
    tag = "cp312-abi3" if version >= STABLE_ABI else "cp{}{}".format(*version)
    (wheel,) = folder.glob(f"unbend-*-{tag}-*.whl")
    return wheel


def make_environment(python: Path, folder: Path) -> Path:
    """Make a virtual environment with a recent pip, and return its Python."""
    run(python, "-m", "venv", folder)
    own = folder / "bin" / "python"
    run(own, "-m", "pip", "install", "--quiet", "--upgrade", "pip")
    return own


def check_page(wheel: Path) -> None:
    """End with an error if a wheel lacks the page of `unbend serve`, where npm could build it."""
    with zipfile.ZipFile(wheel) as content:
        held = {name.rpartition("/")[2] for name in content.namelist() if "/web/bundle/" in name}
    lacking = {"index.html", "app.js", "frame.js", "licenses.txt"} - held
    if shutil.which("npm") and lacking:
        sys.exit(f"{wheel.name} lacks {', '.join(sorted(lacking))} of the page")


def try_wheel(python: Path, wheel: Path, folder: Path, pins: list[str]) -> None:
    """Install a wheel and run the first ten minutes and the smoke tests with it."""
    own = make_environment(python, folder)
    tests = ["--group", f"{ROOT / 'pyproject.toml'}:smoke"]
    run(own, "-m", "pip", "install", "--quiet", f"{wheel}[{EXTRAS}]", *pins, *tests)
    show = "import unbend; unbend.show_versions(); print(unbend.__file__)"
    run(own, "-I", "-c", show, cwd=folder)
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "UNBEND_KERNELS": "native"}
    options = ["-q", "-p", "no:cacheprovider", "-m", "not slow"]
    run(own, "-m", "pytest", *options, *SMOKE, cwd=ROOT, env=environment)


def main() -> None:
    """Build, install and try the wheels."""
    pythons = find_pythons()
    print("CPython found:", ", ".join("{}.{}".format(*version) for version in pythons), flush=True)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        build_wheels(pythons, scratch)
        for version, python in pythons.items():
            wheel = pick_wheel(scratch, version)
            check_page(wheel)
            print("== newest dependencies on {}.{}".format(*version), flush=True)
            try_wheel(python, wheel, scratch / "newest-{}.{}".format(*version), [])
        version, python = next(iter(pythons.items()))
        print("== oldest dependencies on {}.{}".format(*version), flush=True)
        pins = ["-c", str(ROOT / "constraints-lowest.txt")]
        try_wheel(python, pick_wheel(scratch, version), scratch / "oldest", pins)
    print("the wheels work on every CPython found, with the newest and the oldest dependencies")


if __name__ == "__main__":
    main()
