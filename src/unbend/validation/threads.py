"""Threads: the available cores, the meaning of `n_jobs`, and OpenMP in forked processes."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

from unbend.validation.scalars import is_integer, refusal

# One thread per core keeps the machine busy; a few more do no harm, thousands exhaust the process.
THREADS_PER_CORE = 4

Result = TypeVar("Result")


def available_cores() -> int:
    """Count the cores this process may use: affinity, cgroup limits, LOKY_MAX_CPU_COUNT."""
    cores: int = joblib.cpu_count()
    return cores


def threads(n_jobs: Any) -> int:
    """Convert `n_jobs` to a number of threads, by joblib's rule for negative numbers.

    Parameters
    ----------
    n_jobs : int, optional
        None means 1, -1 all available cores, -2 all but one. A positive number is reduced to
        four threads per available core.

    Returns
    -------
    int
        From 1 to four times the number of available cores.

    Raises
    ------
    TypeError, ValueError
        If `n_jobs` is not an integer, or zero.

    Examples
    --------
    >>> threads(None), threads(2), threads(-10_000)
    (1, 2, 1)
    """
    if n_jobs is None:
        return 1
    if not is_integer(n_jobs) or n_jobs == 0:
        error = ValueError if is_integer(n_jobs) else TypeError
        raise error(refusal("n_jobs", n_jobs, "an integer other than 0 or None"))
    jobs, cores = int(n_jobs), available_cores()
    return min(jobs, THREADS_PER_CORE * cores) if jobs > 0 else max(1, cores + 1 + jobs)


def in_new_thread(work: Callable[[], Result], most: int | None = None) -> Result:
    """Run OpenMP code of scikit-learn so that it also finishes in a forked process.

    GNU OpenMP keeps its pool with the thread that entered a parallel region first. A forked child
    inherits the pool without its threads and waits for them forever, but a new thread starts a
    pool of its own: of `most` threads, or as many as there are cores, whatever the limits of the
    calling thread. Idle ones spin, and k-means of a small table took ten times as long with two.
    """

    def limited() -> Result:
        with _thread_pools().limit(limits=most, user_api="openmp"):
            return work()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work if most is None else limited).result()


@cache
def _thread_pools() -> ThreadpoolController:
    """Find the thread pools of all loaded libraries, once."""
    return ThreadpoolController()
