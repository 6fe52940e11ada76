"""Which kernels run, and that the compiled ones were built where they can be."""

import ast
import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import unbend
from unbend import _kernels
from unbend._kernels import reference
from unbend.versions import versions


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


SHOW = "from unbend import _kernels; print(_kernels.name)"


def test_the_compiled_kernels_were_built_where_there_is_a_compiler():
    if shutil.which(os.environ.get("CXX", "c++")) and os.environ.get("UNBEND_KERNELS") is None:
        assert _kernels.name == "native"


@pytest.mark.parametrize("name", ["native", "reference"])
def test_the_environment_forces_a_set_of_kernels(name):
    if name == "native" and _kernels.name != "native":
        pytest.skip("not built here")
    assert run(SHOW, UNBEND_KERNELS=name).stdout.strip() == name


def test_an_invalid_environment_variable_raises_a_clear_error():
    assert "use 'native' or 'reference'" in run(SHOW, UNBEND_KERNELS="fast").stderr


def test_without_compiled_kernels_there_is_one_warning_and_the_same_result():
    hide = "import sys; sys.modules['unbend._kernels._native'] = None; "
    fit = (
        "import unbend; X = unbend.datasets.s_curve(200, random_state=0).points; "
        "Y = unbend.Isomap().fit_transform(X); unbend.Isomap().fit(X); print(abs(Y).sum())"
    )
    bare, native = run(hide + fit, UNBEND_KERNELS=""), run(fit, UNBEND_KERNELS="")
    assert bare.stderr.count("without its compiled kernels") == 1
    assert float(bare.stdout) == pytest.approx(float(native.stdout), rel=1e-12)


def test_show_versions_says_which_kernels_are_in_use(capsys):
    unbend.show_versions()
    shown = capsys.readouterr().out
    assert f"kernels       {_kernels.name}" in shown
    assert set(versions()) >= {"unbend", "kernels", "python", "numpy", "scipy", "scikit-learn"}


@pytest.fixture(scope="module")
def native():
    return pytest.importorskip("unbend._kernels._native", reason="no compiler at installation")


def functions(body, owner):
    """Yield each function and property of a stub, with the twin's module or class it belongs to."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from functions(node.body, getattr(owner, node.name))
        elif isinstance(node, ast.FunctionDef):
            yield node, owner


def test_compiled_kernels_have_the_signatures_of_their_twins(native):
    """Callers are checked against the twins: mypy does not see a module that is not built."""
    stub = ast.parse(Path(native.__file__).with_name("_native.pyi").read_text())
    found = list(functions(stub.body, reference))
    assert {node.name for node, _ in found} >= {"align", "stress", "run", "solve", "leaves"}
    for node, owner in found:
        if any(ast.unparse(each) == "property" for each in node.decorator_list):
            assert node.name in {*dir(owner), *owner.__annotations__}
            continue
        twin = inspect.signature(getattr(owner, node.name))
        assert list(twin.parameters) == [each.arg for each in node.args.args], node.name
        assert (twin.return_annotation is None) == (ast.unparse(node.returns) == "None"), node.name


def test_every_kernel_that_is_called_was_compiled(native):
    source = Path(unbend.__file__).parent.rglob("*.py")
    called = {name for path in source for name in re.findall(r"\bkernels\.(\w+)", path.read_text())}
    assert called - set(dir(native)) == set()
    assert called <= set(reference.__all__)
