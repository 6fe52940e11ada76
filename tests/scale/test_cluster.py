"""A cluster of two processes: same bits for any number of workers, and when workers are killed."""

import os
import signal
import time

import cloudpickle
import dask
import dask.array as da
import numpy as np
import pytest

import unbend
from unbend.neighbors import PointSpace
from unbend.scale import nearest_neighbors
from unbend.scale import neighbors as searching


def lazy(rows, parts=6):
    return da.from_array(rows, chunks=(len(rows) // parts, rows.shape[1]))


def kill_all_workers(client):
    """Kill every worker process; nannies start new ones."""
    pids = set(client.run(os.getpid).values())
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    for _ in range(600):
        time.sleep(0.1)
        running = client.run(os.getpid, on_error="ignore").values()
        if len(running) == 2 and not pids & set(running):
            return
    raise TimeoutError("the workers were not started again")


@pytest.fixture
def alone(rows):
    """Fit in one process, without a cluster."""
    with dask.config.set(scheduler="synchronous"):
        return unbend.PCA().fit(lazy(rows))


def test_a_fit_on_processes_has_the_bits_of_one_process(client, rows, alone, dying):
    model = unbend.PCA().fit(lazy(rows))
    assert np.array_equal(model.components_, alone.components_)
    again = unbend.PCA().fit(dying(lazy(rows)))
    assert np.array_equal(again.components_, alone.components_)
    assert np.array_equal(again.singular_values_, alone.singular_values_)


@pytest.mark.slow
def test_a_transform_survives_the_death_of_one_worker_and_of_all(client, rows, dying):
    model = unbend.LTSA(n_neighbors=8).fit(rows[:500])
    expected = model.transform(rows)
    placed = model.transform(dying(lazy(rows)))
    assert np.array_equal(placed.compute(), expected)
    # The model is a task: it is made again where all copies of it are lost.
    placed = model.transform(lazy(rows))
    kill_all_workers(client)
    assert np.array_equal(placed.compute(), expected)


@pytest.mark.slow
def test_neighbours_survive_the_death_of_one_worker_and_of_all(client, rows, dying, monkeypatch):
    monkeypatch.setattr(searching, "BOX_BYTES", 1 << 17)
    whole = PointSpace(rows).nearest(6)
    indices, distances = nearest_neighbors(dying(lazy(rows)), 6)
    assert np.array_equal(indices.compute().ravel(), whole.indices)
    kill_all_workers(client)
    assert np.array_equal(distances.compute().ravel(), whole.distances)


def test_what_is_sent_does_not_grow_with_the_model(client, rows):
    model = unbend.Isomap().fit(rows[:600])
    graph = dict(model.transform(lazy(rows)).__dask_graph__())
    applied = {key: task for key, task in graph.items() if "apply" in str(key)}
    assert len(applied) == 6
    assert 100 * len(cloudpickle.dumps(applied)) < len(cloudpickle.dumps(model))


def test_nan_is_named_by_partition_on_a_cluster(client, rows):
    wrong = rows.copy()
    wrong[650, 1] = np.inf
    with pytest.raises(ValueError, match=r"infinity \(first in partition 3, row 50, column 1\)"):
        unbend.PCA().fit(lazy(wrong))
