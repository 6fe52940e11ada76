"""The layers of docs/design.md: who may import whom, and what importing costs."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import unbend
from tests.loops import each

PACKAGE = Path(unbend.__file__).parent

ROOT = Path(__file__).parent.parent
DESIGN = ROOT / "docs" / "design.md"

LIGHT = {"numpy", "scipy", "unbend"}
# Packages that only these layers may import at the top of a file; all others are imported where
# they are used, by name.
HEAVY = {
    "measures": {"sklearn"},
    "estimators": {"sklearn"},
    "data": {"sklearn", "narwhals"},
    "advice": {"sklearn", "joblib"},
    "clusters": {"sklearn", "dask", "distributed", "cloudpickle", "pandas"},
}
FREE = {"pictures", "faces"}
# Files that import what the rest of their layer does not.
EXTRAS = {
    "neighbors/metrics/signals.py": {"pywt"},
    "validation/threads.py": {"joblib", "threadpoolctl"},
}


def read_layers() -> dict[str, list[str]]:
    """Return the parts of each layer, in the order of the table in docs/design.md."""
    table = DESIGN.read_text().split("## Layers")[1].split("\n## ")[0]
    rows = [line.split("|")[1:4] for line in table.splitlines() if line.startswith("| ")][1:]
    return {
        name.strip(): [word.rstrip("/").removesuffix(".py") for word in where.strip(" `").split()]
        for name, where, _ in rows
    }


LAYERS = read_layers()
ORDER = [part for parts in LAYERS.values() for part in parts]


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


def test_the_table_lists_every_part_of_the_package():
    parts = {part(path) for path in FILES}
    assert sorted(ORDER) == sorted(parts)


@each("name", ORDER)
def test_a_part_imports_only_parts_before_it(name):
    """One order for all parts also means that no two import each other."""
    allowed = set(ORDER[: ORDER.index(name) + 1])
    for path in FILES:
        if part(path) == name:
            used = {other.split(".")[1] for other in imports(path) if other.startswith("unbend.")}
            assert used <= allowed, path


@each("path", FILES)
def test_only_upper_layers_import_more_than_numpy_and_scipy(path):
    layer = next(name for name, parts in LAYERS.items() if part(path) in parts)
    packages = {name.split(".")[0] for name in imports(path)} - set(sys.stdlib_module_names)
    if layer not in FREE:
        extras = EXTRAS.get(path.relative_to(PACKAGE).as_posix(), set())
        assert packages <= LIGHT | HEAVY.get(layer, set()) | extras


def test_every_optional_dependency_is_imported():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    # anndata would hold pandas back for everybody.
    shared = [name for name in extras if name not in ("all", "export")]
    assert extras.pop("all") == [f"unbend[{','.join(shared)}]"]
    source = "".join(path.read_text() for path in FILES)
    modules = {"pillow": "PIL", "PyWavelets": "pywt", "jupyter-scatter": "jscatter"}
    for requirements in extras.values():
        for package in (re.match(r"[\w-]+", requirement)[0] for requirement in requirements):
            module = modules.get(package, package)
            assert re.search(rf"(import|from) {module}\b|[\"']{module}\b", source), package


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


@each("package", ["unbend.lowrank", "unbend.quality"])
def test_names_imported_on_first_use_are_listed_and_hidden_by_no_module(package):
    """A module of the same name would replace the name once it is imported."""
    loaded = import_module(package)
    files = {path.stem for path in Path(loaded.__file__).parent.glob("*.py")}
    for path in files - {"__init__"}:
        import_module(f"{package}.{path}")
    for name in loaded.__all__:
        assert not isinstance(getattr(loaded, name), ModuleType), name
    assert set(loaded.__all__) <= set(dir(loaded))
    with pytest.raises(AttributeError, match=f"{package}' has no attribute 'nothing'"):
        loaded.nothing  # noqa: B018


def test_a_fit_loads_no_kernels_in_numpy_where_compiled_ones_are_used():
    pytest.importorskip("unbend._kernels._native")
    code = "import unbend, sys; unbend.Isomap; print('unbend._kernels.reference' in sys.modules)"
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "UNBEND_KERNELS": "native"}
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert run.stdout.strip() == "False"
