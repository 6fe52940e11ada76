"""Teams of threads and questions during long loops, without threads that are kept."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType


class Team:
    """Threads kept for the many short regions of a `with` statement; here there are none.

    Examples
    --------
    >>> with Team(2):
    ...     pass
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def __enter__(self) -> None:
        """Start the threads."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the threads."""


def ask_with(function: Callable[[], None]) -> None:
    """Set what loops that report no progress call now and then; here no loop takes that long.

    Examples
    --------
    >>> ask_with(lambda: None)
    """


def run_parts(function: Callable[[int], None], count: int, threads: int) -> None:
    """Call a function with the numbers of all parts, which threads share."""
    with ThreadPoolExecutor(min(threads, count)) as pool:
        list(pool.map(function, range(count)))
