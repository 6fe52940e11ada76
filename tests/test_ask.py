"""Cancelling within a long step, in which a loop reports no progress of its own."""

from collections.abc import Callable
from contextvars import Context

import numpy as np
import pytest
from scipy.sparse import csr_array

import unbend
from unbend import _kernels
from unbend.eigen.shift_invert import analyse
from unbend.progress import Cancelled, Progress
from unbend.report import ask, stage, step


def test_asking_reports_the_last_progress_of_the_running_stage() -> None:
    seen: list[Progress] = []

    def work() -> None:
        with unbend.monitoring(seen.append):
            ask()  # outside of a stage there is nothing to report
            with stage("outer"):
                step(3, 7)
                with stage("inner"):
                    ask()
                ask()

    # Other tests interrupt fits between any two instructions, also where a stage is left.
    Context().run(work)
    assert [(one.stage, one.done, one.total) for one in seen] == [
        ("outer", 0, 1),
        ("outer", 3, 7),
        ("inner", 0, 1),
        ("inner", 0, 1),
        ("inner", 1, 1),
        ("outer", 3, 7),
        ("outer", 1, 1),
    ]


def run_until_refused(work: Callable[[], object], calls: int) -> bool:
    """Run work in a stage with a callback that refuses to go on after some calls; if it ended."""
    asked, ended = 0, False

    def refuse(_: Progress) -> bool:
        nonlocal asked
        asked += 1
        return asked <= calls

    def run() -> None:
        nonlocal ended
        with unbend.monitoring(refuse), stage("kernel"):
            work()
            ended = True

    with pytest.raises(Cancelled, match="stage 'kernel'"):
        run()
    return ended


def test_asking_lets_a_callback_cancel() -> None:
    assert not run_until_refused(ask, calls=1)
    assert run_until_refused(lambda: None, calls=1)


@pytest.mark.skipif(_kernels.name != "native", reason="the compiled loops are not here")
@pytest.mark.parametrize("n", [3000, pytest.param(6000, marks=pytest.mark.slow)])
def test_a_callback_cancels_a_factorisation(n: int) -> None:
    """A full triangle takes n³/3 products, some tenths of a second at least."""
    rng = np.random.default_rng(0)
    matrix = rng.uniform(size=(n, n))
    symbolic = analyse(csr_array(matrix + matrix.T + 2 * n * np.eye(n)))
    assert not run_until_refused(lambda: symbolic.factor(0.0), calls=1)
