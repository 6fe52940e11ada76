"""Memory limits: large arrays are checked before they are allocated."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from unbend.report import note_bytes

# Arrays of fewer bytes are not checked against the free memory of the machine: asking for it takes
# longer than filling them.
UNCHECKED = 1 << 25

_limit: ContextVar[int | None] = ContextVar("unbend_memory_limit", default=None)


class NotEnoughMemory(MemoryError):
    """An array would not fit in memory; the message suggests an alternative."""


@contextmanager
def memory_limit(size: int) -> Iterator[None]:
    """Raise `NotEnoughMemory`, inside the block, for fits and arrays of more than `size` bytes.

    A fit is refused before it allocates anything if its predicted peak exceeds the limit by half;
    arrays, neighbourhoods, graphs and sparse factors are checked before each is allocated. Outside
    such a block the limit is the free memory of the machine.

    Parameters
    ----------
    size : int
        Bytes.

    Examples
    --------
    >>> import unbend
    >>> X = unbend.datasets.swiss_roll(1000, random_state=0).points
    >>> with unbend.memory_limit(1_000_000):
    ...     unbend.Isomap().fit(X)
    Traceback (most recent call last):
    ...
    unbend.memory.NotEnoughMemory: fits of Isomap to 1000 rows need 8.0 MB and 1.0 MB are ...
    """
    token = _limit.set(size)
    try:
        yield
    finally:
        _limit.reset(token)


def is_limited() -> bool:
    """Whether a `memory_limit` is in force."""
    return _limit.get() is not None


def available_memory() -> int | None:
    """Free memory in bytes, or None if the system does not report it."""
    limit = _limit.get()
    if limit is not None:
        return limit
    sizes = [_free_in_meminfo(), _free_in_cgroup(), _free_in_limit()]
    return min((size for size in sizes if size is not None), default=None)


def _free_in_meminfo() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _free_in_cgroup() -> int | None:
    try:
        group = Path("/sys/fs/cgroup")
        limit = (group / "memory.max").read_text().strip()
        used = int((group / "memory.current").read_text())
        return None if limit == "max" else max(0, int(limit) - used)
    except (OSError, ValueError):
        return None


def _free_in_limit() -> int | None:
    """Remaining bytes of a limited address space, as by ``ulimit -v``."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        return None if limit == resource.RLIM_INFINITY else max(0, limit - used)
    except (ImportError, OSError, ValueError):
        return None


def fits(size: int) -> bool:
    """Whether `size` bytes are free; few are not asked for."""
    if size < UNCHECKED and _limit.get() is None:
        return True
    free = available_memory()
    return free is None or size <= free


def reserve(size: int, what: str, instead: str) -> None:
    """Raise if `size` bytes for `what` do not fit; otherwise record them in the report.

    `instead` names an alternative: a method, a parameter or a number of rows.
    """
    check_fits(size, what, instead)
    note_bytes(size)


def check_fits(size: int, what: str, instead: str) -> None:
    """Raise as `reserve` does, without recording: for sizes that grow as a file is read."""
    if size < UNCHECKED and _limit.get() is None:
        return
    free = available_memory()
    if free is not None and size > free:
        raise NotEnoughMemory(
            f"{what} need {_readable(size)} and {_readable(free)} are available: {instead}"
        )


def _readable(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"
