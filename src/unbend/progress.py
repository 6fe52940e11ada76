"""Progress callbacks, which can cancel a fit.

>>> import unbend
>>> seen = []
>>> with unbend.monitoring(lambda progress: seen.append(progress.stage)):
...     _ = unbend.LTSA().fit(unbend.datasets.s_curve(300, random_state=0).points)
>>> "neighbors" in seen and "spectrum" in seen
True
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Progress:
    """Progress of a fit: `done` of `total` steps of `stage`."""

    stage: str
    done: int
    total: int


class Cancelled(RuntimeError):
    """The callback cancelled the fit; the estimator is unchanged."""


Callback = Callable[[Progress], object]

# Callback of kernels with the work done and the total work; it raises to stop them.
Poll = Callable[[int, int], None]

callback_var: ContextVar[Callback | None] = ContextVar("unbend_callback", default=None)


@contextmanager
def monitoring(callback: Callback) -> Iterator[None]:
    """Send the progress of every fit and transform inside the block to `callback`.

    Parameters
    ----------
    callback : callable
        Called with a `Progress`. If it returns ``False`` the fit raises `Cancelled`; exceptions of
        the callback propagate to the caller.

    Examples
    --------
    >>> import unbend
    >>> X = unbend.datasets.swiss_roll(200, random_state=0).points
    >>> with unbend.monitoring(lambda progress: False):
    ...     unbend.Isomap().fit(X)
    Traceback (most recent call last):
    ...
    unbend.progress.Cancelled: cancelled in stage 'neighbors'
    """
    token = callback_var.set(callback)
    try:
        yield
    finally:
        callback_var.reset(token)


def current_callback() -> Callback | None:
    """Return the progress callback of this context, if any."""
    return callback_var.get()


@dataclass(frozen=True)
class Status:
    """Status of a stage: fraction done, elapsed seconds, and remaining ones if known."""

    stage: str
    share: float
    seconds: float
    left: float | None

    def __str__(self) -> str:
        left = "" if not self.left else f", {format_seconds(self.left)} left"
        return f"{self.stage} {self.share:.0%}{left}"


class Pace:
    """Converts every `Progress` to a `Status`.

    The remaining time is extrapolated linearly from the start of the current loop, of which a stage
    may have several.

    Examples
    --------
    >>> seconds = iter([0.0, 0.0, 10.0])
    >>> pace = Pace(clock=lambda: next(seconds))
    >>> print(pace(Progress("neighbors", 0, 4)))
    neighbors 0%
    >>> print(pace(Progress("neighbors", 1, 4)))
    neighbors 25%, 30 s left
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.start = clock()
        self._stage: str | None = None
        self._entered = self._loop = self.start
        self._from = self._share = 0.0

    def __call__(self, progress: Progress) -> Status:
        """Update the estimate."""
        now, share = self._clock(), min(1.0, progress.done / max(progress.total, 1))
        if progress.stage != self._stage:
            self._stage, self._entered, self._share = progress.stage, now, np.inf
        if share < self._share:
            self._loop, self._from = now, share
        self._share = share
        return Status(progress.stage, share, now - self._entered, self._left(now))

    def _left(self, now: float) -> float | None:
        taken, done = now - self._loop, self._share - self._from
        if self._share == 1:
            return 0.0
        # The first moments are not representative.
        return taken * (1 - self._share) / done if done > 0 and taken >= MIN_SECONDS else None


# Least elapsed seconds for an estimate of the remaining time.
MIN_SECONDS = 0.5


def format_seconds(seconds: float) -> str:
    """Format a duration.

    Examples
    --------
    >>> format_seconds(12.3), format_seconds(75), format_seconds(7320)
    ('12 s', '1 min 15 s', '2 h 2 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def advance(stage: str, done: int, total: int) -> None:
    """Call the callback, if any, and raise `Cancelled` if it returns False."""
    callback = callback_var.get()
    if callback is not None:
        answer = callback(Progress(stage, done, total))
        if isinstance(answer, bool | np.bool_) and not answer:
            raise Cancelled(f"cancelled in stage {stage!r}")
