"""Progress where people look at it: in a notebook, or on one line of a terminal."""

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import Any, Protocol, TextIO

from unbend.progress import Pace, Progress, Status, monitoring, spoken, watcher

# Seconds between two looks at a running stage.
EVERY = 0.1


class Display(Protocol):
    """Somewhere to show progress."""

    def show(self, status: Status) -> None:
        """Show where a stage is, in the place of what was shown before."""

    def close(self, seconds: float) -> None:
        """Finish, after so many seconds in all."""


class TerminalLine:
    """One line of a terminal, written over and in the end removed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def show(self, status: Status) -> None:
        """Write the line anew."""
        width = shutil.get_terminal_size().columns - 1
        self._write(str(status)[:width])

    def close(self, seconds: float) -> None:
        """Remove the line."""
        self._write("")

    def _write(self, line: str) -> None:
        # Back to the margin, the line, and nothing of a longer one before it.
        self._stream.write(f"\r{line}\x1b[K")
        self._stream.flush()


class Shown:
    """What a notebook displays: HTML where it can, else words."""

    def __init__(self, words: str, share: float) -> None:
        self._words, self._share = words, share

    def __repr__(self) -> str:
        return self._words

    def _repr_html_(self) -> str:
        # The browser draws the bar, in the colours of its theme.
        bar = f"<progress value='{self._share:.3f}' max='1' style='vertical-align:middle'>"
        return f"<div style='color:inherit'>{bar}</progress> {escape(self._words)}</div>"


class NotebookBar:
    """A bar below the cell, updated in place."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, status: Status) -> None:
        """Update the bar."""
        self._display(Shown(str(status), status.share))

    def close(self, seconds: float) -> None:
        """Leave a full bar, if there was any, and how long it took."""
        if self._handle is not None:
            self._display(Shown(f"{seconds:.1f} s" if seconds < 60 else spoken(seconds), 1.0))

    def _display(self, shown: Shown) -> None:
        if self._handle is None:
            self._handle = import_module("IPython.display").display(shown, display_id=True)
        else:
            self._handle.update(shown)


def find_display() -> Display | None:
    """Return a display for where the program runs, or None where nobody looks."""
    # In a notebook IPython is loaded already; elsewhere it is not asked for.
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if getattr(shell, "kernel", None) is not None:
        return NotebookBar()
    return TerminalLine(sys.stderr) if sys.stderr.isatty() else None


@contextmanager
def progress_bar(display: Display | None = None) -> Iterator[None]:
    """Show the progress of every fit and transform inside the block, with the time left.

    A bar in a notebook, one line on standard error in a terminal, and nothing elsewhere. A callback
    given to `monitoring` around the block is still called.

    Parameters
    ----------
    display : Display, optional
        Something with `show` and `close` to use in their place.

    Examples
    --------
    >>> import unbend
    >>> X = unbend.datasets.swiss_roll(300, random_state=0).points
    >>> with unbend.progress_bar():
    ...     model = unbend.Isomap(n_neighbors=8).fit(X)
    """
    chosen = find_display() if display is None else display
    if chosen is None:
        yield
        return
    pace, outer, last = Pace(), watcher(), ("", -EVERY)

    def callback(progress: Progress) -> object:
        nonlocal last
        status, now = pace(progress), time.monotonic()
        if status.stage != last[0] or status.share == 1 or now - last[1] >= EVERY:
            last = status.stage, now
            chosen.show(status)
        return None if outer is None else outer(progress)

    try:
        with monitoring(callback):
            yield
    finally:
        chosen.close(time.monotonic() - pace.start)
