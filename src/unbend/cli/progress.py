"""A bar for each stage, with the time left, where somebody is there to see it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from unbend.cli.output import at_terminal

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from unbend.progress import Progress

# Loops report far more often than an eye can follow.
SECONDS_BETWEEN = 0.05


@contextmanager
def watched() -> Iterator[None]:
    """Show the stages of the work in the block, if stderr is a terminal."""
    if not at_terminal():
        yield
        return
    from unbend.progress import monitoring

    with _bars() as bars, monitoring(Stages(bars)):
        yield


class Stages:
    """Callback that keeps one bar for each stage; a stage that comes again begins its bar anew."""

    def __init__(self, bars: "Bars") -> None:
        from unbend.progress import Pace

        self._bars = bars
        self._pace = Pace()
        self._tasks: dict[str, TaskID] = {}
        self._shown = 0.0

    def __call__(self, progress: "Progress") -> None:
        """Move the bar of the running stage."""
        from unbend.progress import spoken

        status = self._pace(progress)
        if progress.stage not in self._tasks:
            self._tasks[progress.stage] = self._bars.add_task(progress.stage, total=None, left="")
        now, finished = time.monotonic(), progress.done >= progress.total
        if finished or progress.done == 0 or now - self._shown > SECONDS_BETWEEN:
            self._shown = now
            # A single step has no share to show: its bar moves to and fro until it is done.
            total = 1.0 if progress.total > 1 or finished else None
            left = f"{spoken(status.left)} left" if status.left and not finished else ""
            self._bars.update(
                self._tasks[progress.stage], completed=status.share, total=total, left=left
            )


def _bars() -> "Bars":
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description:<12}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
        console=Console(stderr=True),
    )
