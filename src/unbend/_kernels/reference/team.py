"""Teams of threads, which NumPy does not need."""

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
