"""Tasks on Dask's threads or on the workers of a client: sent, computed, kept, fetched."""

import warnings
from collections.abc import Sequence
from hashlib import sha1
from typing import Any

import cloudpickle
import dask
from dask.base import get_scheduler
from dask.callbacks import Callback
from dask.delayed import delayed

from unbend.report import step

# Seconds between two calls of the progress callback while workers compute.
ASKED = 0.25


def current_client() -> Any:
    """Return the distributed client that Dask would compute with, or None for its threads."""
    owner = getattr(get_scheduler(), "__self__", None)
    return owner if hasattr(owner, "submit") else None


def ship(value: Any) -> Any:
    """Return a task that makes a value on the worker where it is needed.

    A task can be run again when workers are lost, which scattered data cannot; and the value is
    unpickled once on a worker, so that trees are built once and not for every block.
    """
    packed = cloudpickle.dumps(value)
    key = f"unbend-{sha1(packed).hexdigest()}"
    client = current_client()
    if client is None:
        return delayed(cloudpickle.loads, pure=True)(packed, dask_key_name=key)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        return client.submit(cloudpickle.loads, packed, key=key)


class TaskCount(Callback):
    """Reports the tasks of Dask's own schedulers to the progress callback."""

    def __init__(self) -> None:
        super().__init__(posttask=self._count)

    def _count(self, key: Any, result: Any, graph: Any, state: Any, worker: Any) -> None:
        done = len(state["finished"])
        step(done, done + sum(len(state[name]) for name in ("ready", "waiting", "running")))


def compute_all(tasks: Sequence[Any]) -> list[Any]:
    """Compute tasks, in order, and report how many are done to the progress callback."""
    client = current_client()
    if client is None:
        with TaskCount():
            return list(dask.compute(*tasks))
    futures = client.compute(list(tasks))
    wait_for(futures)
    return list(client.gather(futures))


def wait_for(futures: Sequence[Any]) -> None:
    """Wait until all futures are done or one has failed; the progress callback can cancel."""
    from distributed import wait

    waiting = True
    while waiting:
        try:
            wait(futures, timeout=ASKED)
            waiting = False
        except TimeoutError:
            waiting = not any(future.status == "error" for future in futures)
        step(sum(future.done() for future in futures), len(futures))


def keep_on_workers(tasks: list[Any], *instead_of: list[Any]) -> list[Any]:
    """Compute tasks whose results stay on the workers, where lost ones are computed again.

    Results in `instead_of` that only these tasks need are given up one by one, as soon as no task
    needs them any more: all these lists are emptied.

    Futures and not persisted tasks, since a task made of these would not keep them; and only once
    they are done, since a scheduler may hear that what they depend on is not needed any more before
    it hears by whom it is needed.
    """
    client = current_client()
    if client is None:
        return list(dask.persist(*tasks))
    from distributed import wait

    futures = list(client.compute(tasks))
    if instead_of:
        # One task is done: the scheduler has heard of all of them.
        wait(futures, return_when="FIRST_COMPLETED")
        for some in (tasks, *instead_of):
            some.clear()
    wait_for(futures)
    return futures


def check_reachable(kept: Any) -> None:
    """Refuse a result whose cluster is gone, instead of a graph that lacks a task."""
    from distributed import Future

    if isinstance(kept, Future) and kept.status == "cancelled":
        raise RuntimeError(
            "The model was kept on the workers, and the client of that fit is closed. Fit again, "
            "and save the model or take local_ before the client is closed."
        )


def fetch_result(kept: Any) -> Any:
    """Return a result that was kept on the workers."""
    check_reachable(kept)
    client = current_client()
    return kept.compute() if client is None else client.gather(kept)
