"""Which kernels run, and that the compiled ones were built where they can be."""

import os
import shutil
import subprocess
import sys

import pytest

import unbend
from unbend import _kernels
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


def test_a_wrong_word_in_the_environment_is_refused_with_a_sentence():
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
