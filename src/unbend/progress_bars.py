"""Progress bars of the stages of a fit, by rich, in a terminal or below a notebook's cell."""

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from unbend.progress import Pace, Progress, current_callback, format_seconds, monitoring

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

# Loops report far more often than an eye can follow.
SECONDS_BETWEEN = 0.1


@contextmanager
def progress_bar() -> Iterator[None]:
    """Show the progress of every fit and transform inside the block, with the time left.

    One bar for each stage: below the cell in a notebook, on standard error in a terminal (removed
    at the end), and nothing elsewhere. A callback given to `monitoring` around the block is still
    called. Needs rich (``pip install 'unbend[cli]'``); without it the work runs with a warning.

    Examples
    --------
    >>> import unbend
    >>> X = unbend.datasets.swiss_roll(300, random_state=0).points
    >>> with unbend.progress_bar():
    ...     model = unbend.Isomap(n_neighbors=8).fit(X)
    """
    notebook = in_notebook()
    if not notebook and not sys.stderr.isatty():
        yield
        return
    try:
        import_module("rich")
    except ImportError:
        warnings.warn(
            "unbend.progress_bar needs rich and shows no progress without it: "
            "pip install 'unbend[cli]'",
            stacklevel=3,
        )
        yield
        return
    with below_cell() if notebook else in_terminal() as stages, watched_by(stages):
        yield


class Stages:
    """Callback that keeps one bar for each stage; a stage that comes again restarts its bar."""

    def __init__(self, bars: "Bars", refresh: Callable[[], object] | None = None) -> None:
        self._bars = bars
        self._refresh = bars.refresh if refresh is None else refresh
        self._pace = Pace()
        self._tasks: dict[str, TaskID] = {}
        self._shown = 0.0

    def __call__(self, progress: Progress) -> None:
        """Move the bar of the running stage."""
        status = self._pace(progress)
        now, finished = time.monotonic(), progress.done >= progress.total
        new = progress.stage not in self._tasks
        if new:
            self._tasks[progress.stage] = self._bars.add_task(progress.stage, total=None, left="")
        if new or finished or progress.done == 0 or now - self._shown > SECONDS_BETWEEN:
            self._shown = now
            # A single step has no share to show: its bar moves to and fro until it is done.
            total = 1.0 if progress.total > 1 or finished else None
            left = f"{format_seconds(status.left)} left" if status.left and not finished else ""
            self._bars.update(
                self._tasks[progress.stage], completed=status.share, total=total, left=left
            )
            self._refresh()


@contextmanager
def watched_by(stages: Stages) -> Iterator[None]:
    """Send progress to the bars, and to the callback around the block, which may cancel."""
    outer = current_callback()

    def callback(progress: Progress) -> object:
        stages(progress)
        return None if outer is None else outer(progress)

    with monitoring(callback):
        yield


@contextmanager
def in_terminal() -> Iterator[Stages]:
    """Bars on standard error that are removed at the end."""
    # No thread redraws them: in a forked child its lock would never be released.
    with stage_bars(transient=True, auto_refresh=False) as bars:
        yield Stages(bars)


@contextmanager
def below_cell() -> Iterator[Stages]:
    """Bars below a notebook's cell, updated in place; without ipywidgets, which rich's own need."""
    bars = stage_bars(auto_refresh=False)
    handle: Any = None

    def refresh() -> None:
        nonlocal handle
        if handle is None:
            handle = import_module("IPython.display").display(bars, display_id=True)
        else:
            handle.update(bars)

    yield Stages(bars, refresh)


def stage_bars(**options: Any) -> "Bars":
    """Return bars with a name, the time taken and the time left, on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    return Bars(
        TextColumn("{task.description:<12}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
        console=Console(stderr=True),
        # What is printed meanwhile would go to standard error with the bars.
        redirect_stdout=sys.stdout.isatty(),
        **options,
    )


def in_notebook() -> bool:
    """Whether the program runs in the kernel of a notebook."""
    # There IPython is loaded already; elsewhere it is not asked for.
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return getattr(shell, "kernel", None) is not None
