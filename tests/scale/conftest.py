"""Dask where it is installed: a scheduler in this process, and a cluster of two processes."""

import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """Two processes with one thread each, on the loopback interface, without dashboard."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=50,
        ) as processes,
        Client(processes, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    """Make the cluster that of Dask."""
    with cluster.as_current():
        yield cluster


@pytest.fixture
def rows() -> np.ndarray:
    """Rows of a roll with duplicates and ties."""
    from unbend.datasets import swiss_roll

    points = swiss_roll(1200, random_state=0).points
    points[700:720] = points[100:120]
    points[300:340, 1] = np.round(points[300:340, 1])
    return points


def kill_once(block: np.ndarray, marker: str, at: int, block_info: Any = None) -> np.ndarray:
    """Return a block; the process that makes the one of number `at` first is killed."""
    number = block_info[0]["chunk-location"][0] if block_info else -1
    if number == at and not os.path.exists(marker):
        open(marker, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return block


@pytest.fixture
def dying(tmp_path: Any) -> Callable[[Any], Any]:
    """Give an array whose third block kills the first worker that reads it."""

    def make(array: Any) -> Any:
        marker = str(tmp_path / "killed")
        return array.map_blocks(kill_once, marker, 2, meta=np.empty((0, 0)), dtype=array.dtype)

    return make
