"""A cluster of two processes: same bits for any number of workers, and when workers are killed."""

import pytest

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'unbend[dask]'")


import os
import signal
import subprocess
import sys
import time

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd

import unbend
from unbend import scale
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


def test_a_graph_solved_on_a_worker_has_the_bits_of_one_memory(client, rows, monkeypatch):
    monkeypatch.setattr(searching, "BOX_BYTES", 1 << 17)
    plain = unbend.LaplacianEigenmaps(n_neighbors=9, random_state=0).fit(rows)
    model = scale.LaplacianEigenmaps(n_neighbors=9, random_state=0, sample=None).fit(lazy(rows))
    assert np.array_equal(model.embedding_.compute(), plain.embedding_)
    new = lazy(rows + 0.01)
    assert np.array_equal(model.transform(new).compute(), plain.transform(rows + 0.01))


@pytest.mark.slow
def test_a_graph_survives_the_death_of_one_worker_and_of_all(client, rows, dying, monkeypatch):
    monkeypatch.setattr(searching, "BOX_BYTES", 1 << 17)
    plain = unbend.DiffusionMaps(n_neighbors=12, random_state=0).fit(rows)
    model = scale.DiffusionMaps(n_neighbors=12, random_state=0, sample=None)
    model.fit(dying(lazy(rows)))
    kill_all_workers(client)
    assert np.array_equal(model.embedding_.compute(), plain.embedding_)


def test_a_frame_is_transformed_on_processes(client, rows):
    table = pd.DataFrame(rows, columns=list("xyz"), index=3 * np.arange(len(rows)))
    lazily = dd.from_pandas(table, npartitions=5)
    model = scale.LTSA(n_neighbors=9, sample=400, held_out=0).fit(lazily)
    placed = model.transform(lazily)
    assert placed.divisions == lazily.divisions
    found = placed.compute()
    assert np.array_equal(found.index, table.index)
    assert np.array_equal(found, model.transform(table))


@pytest.mark.slow
def test_the_memory_of_a_worker_does_not_grow_with_the_rows():
    """Peaks of 4 and 40 partitions differ by a tenth at most."""
    # A script, since processes of a cluster import the main module.
    code = """
import sys
import dask, dask.array as da, numpy as np, unbend
from distributed import Client, LocalCluster
from pathlib import Path

def peak():
    lines = Path('/proc/self/status').read_text().splitlines()
    return int(next(line for line in lines if line.startswith('VmHWM')).split()[1])

def make(block_info=None):
    number = block_info[None]['chunk-location'][0]
    return np.random.default_rng(number).normal(size=(100_000, 20)) + 0.0

if __name__ == '__main__':
    parts = int(sys.argv[1])
    options = dict(threads_per_worker=1, dashboard_address=None, host='127.0.0.1')
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        rows = da.map_blocks(make, chunks=((100_000,) * parts, (20,)), dtype=float)
        model = unbend.PCA().fit(rows)
        model.transform(rows).sum().compute()
        print(max(client.run(peak).values()))
"""
    peaks = []
    for parts in (4, 40):
        done = subprocess.run(
            [sys.executable, "-c", code, str(parts)], capture_output=True, text=True, check=True
        )
        peaks.append(int(done.stdout))
    assert 0.9 <= peaks[1] / peaks[0] <= 1.1


def test_a_graph_model_says_when_its_client_is_closed(cluster, rows):
    from distributed import Client

    with Client(cluster.cluster, set_as_default=False) as own, own.as_current():
        model = scale.LaplacianEigenmaps(sample=None, random_state=0).fit(lazy(rows))
        expected = model.embedding_.compute()
        kept = model.local_
    assert np.array_equal(kept.embedding_, expected)
    uses = (
        lambda: model.local_,
        lambda: model.embedding_,
        lambda: model.transform(lazy(rows)),
    )
    for use in uses:
        with pytest.raises(RuntimeError, match="client of that fit is closed"):
            use()
