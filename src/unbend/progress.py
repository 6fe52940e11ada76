"""One callback through which long work reports progress and can be cancelled.

>>> import unbend
>>> seen = []
>>> with unbend.monitoring(lambda progress: seen.append(progress.stage)):
...     _ = unbend.LTSA().fit(unbend.datasets.s_curve(300, random_state=0).points)
>>> "neighbors" in seen and "spectrum" in seen
True
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Progress:
    """Where a fit is: `done` of `total` steps of `stage`."""

    stage: str
    done: int
    total: int


class Cancelled(RuntimeError):
    """The callback asked the running fit to stop; nothing was changed."""


Callback = Callable[[Progress], object]

_callback: ContextVar[Callback | None] = ContextVar("unbend_callback", default=None)


@contextmanager
def monitoring(callback: Callback) -> Iterator[None]:
    """Send the progress of every fit and transform inside the block to `callback`.

    Parameters
    ----------
    callback : callable
        Called with a `Progress`. If it returns ``False`` the work stops with `Cancelled`;
        whatever it raises goes through to the caller.

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
    token = _callback.set(callback)
    try:
        yield
    finally:
        _callback.reset(token)


def advance(stage: str, done: int, total: int) -> None:
    """Tell the callback, if there is one, and stop if it says so."""
    callback = _callback.get()
    if callback is not None:
        answer = callback(Progress(stage, done, total))
        if isinstance(answer, bool | np.bool_) and not answer:
            raise Cancelled(f"cancelled in stage {stage!r}")
