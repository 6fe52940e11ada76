"""The layers of docs/design.md: who may import whom, and what importing costs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import unbend

PACKAGE = Path(unbend.__file__).parent

# Each part of the package, lowest first; a part may import those on its own line and below.
LAYERS = [
    {"arrays", "atomic", "bars", "checks", "files", "progress", "report", "memory"},
    {"_kernels"},
    {
        "neighbors",
        "graphs",
        "local",
        "problem",
        "eigen",
        "gram",
        "kernel_distances",
        "centred",
        "lowrank",
        "precision",
        "extend",
        "preimage",
        "rounding",
        "stress",
        "unfold",
    },
    {"dimension", "jobs", "quality"},
    {"base", "methods", "registry", "sensors", "storage"},
    {"datasets", "io"},
    {"plot"},
    {"choose"},
    {"apps", "cli", "sklearn", "versions", "__init__", "__main__"},
]
CORE = set().union(*LAYERS[:3])
LIGHT = {"numpy", "scipy", "unbend"}
HEAVY = {"sklearn", "joblib"}
# Extras that one file of the core imports when it is asked for what needs them.
EXTRAS = {"neighbors/wavelets.py": {"pywt"}}


def part(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(path: Path) -> set[str]:
    """Return the dotted names that a file imports, wherever the import stands."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_imports_only_its_own_layer_and_those_below(path):
    level = next(number for number, layer in enumerate(LAYERS) if part(path) in layer)
    allowed = set().union(*LAYERS[: level + 1])
    used = {name.split(".")[1] for name in imports(path) if name.startswith("unbend.")}
    assert used <= allowed


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_upper_layers_import_more_than_numpy_and_scipy(path):
    packages = {name.split(".")[0] for name in imports(path)} - set(sys.stdlib_module_names)
    allowed = LIGHT if part(path) in CORE | {"quality", "datasets"} else LIGHT | HEAVY
    if part(path) not in {"apps", "cli", "plot"}:
        assert packages <= allowed | EXTRAS.get(path.relative_to(PACKAGE).as_posix(), set())


def loaded_by(statement: str) -> set[str]:
    code = f"{statement}; import sys; print(' '.join(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in out.stdout.split()}


@pytest.mark.parametrize(
    "statement",
    ["import unbend", "import unbend.graphs", "import unbend; unbend.eigen; unbend.datasets"],
)
def test_the_core_is_imported_without_scikit_learn(statement):
    assert not loaded_by(statement) & {"sklearn", "joblib", "matplotlib", "pandas"}


def test_every_public_name_can_be_loaded_and_is_listed():
    for name in unbend.__all__:
        assert getattr(unbend, name) is not None
    assert set(unbend.__all__) <= set(dir(unbend))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'TSNE'"):
        unbend.TSNE  # noqa: B018


def test_importing_unbend_adds_little_to_numpy_and_scipy():
    """A ratio in one run, not a time: the import must not cost more than NumPy and SciPy's own."""
    code = """
import time
start = time.perf_counter()
import numpy, scipy.sparse.linalg, scipy.spatial
base = time.perf_counter() - start
start = time.perf_counter()
import unbend
print((time.perf_counter() - start) / base)
"""
    command = [sys.executable, "-c", code]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(3)]
    ratios = [float(run.stdout) for run in runs]
    assert min(ratios) < 1.0
