"""The bars of the stages, without a terminal around them."""

import io
import time

from rich.console import Console
from rich.progress import Progress as Bars

from unbend.cli.progress import Stages
from unbend.progress import SETTLED, Progress


def test_a_bar_tells_the_time_left_of_its_stage_until_it_is_done():
    bars = Bars(console=Console(file=io.StringIO()))
    moved = Stages(bars)
    moved(Progress("kernel", 0, 4))
    began = time.monotonic()
    time.sleep(1.1 * SETTLED)
    moved(Progress("kernel", 1, 4))
    (bar,) = bars.tasks
    # Three quarters are left, so three times what the first took.
    assert abs(float(bar.fields["left"].split()[0]) - 3 * (time.monotonic() - began)) < 1
    assert (bar.completed, bar.total) == (0.25, 1)
    moved(Progress("kernel", 1, 1))
    assert bar.fields["left"] == ""
    assert bar.finished


def test_a_stage_that_comes_again_keeps_its_bar():
    bars = Bars(console=Console(file=io.StringIO()))
    moved = Stages(bars)
    for stage in ("kernel", "spectrum", "kernel"):
        moved(Progress(stage, 0, 1))
        moved(Progress(stage, 1, 1))
    assert [bar.description for bar in bars.tasks] == ["kernel", "spectrum"]
