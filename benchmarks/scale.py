"""Rows beyond one machine: `python -m benchmarks.scale [--share 0.1] [--only pca,neighbors]`.

Two worker processes with one thread each; CPU seconds and peak memory are those of the workers.
Inputs are written to a scratch folder and deleted. `--share` scales the numbers of rows; figures of
other shares are kept beside each other in `scale.json`.
"""

import argparse
import json
import os
import resource
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from distributed import Client, LocalCluster

import unbend
from benchmarks.machine import cpu_name
from unbend import scale
from unbend.neighbors import PointSpace

# Rows of a partition of 100 columns in single precision: 100 MB.
PARTITION = 250_000


def worker_usage() -> tuple[float, float]:
    """CPU seconds and peak memory, in GB, of this process.

    `ru_maxrss` would begin with the memory of the process that started this one.
    """
    usage = resource.getrusage(resource.RUSAGE_SELF)
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(line for line in lines if line.startswith("VmHWM"))
    return usage.ru_utime + usage.ru_stime, int(peak.split()[1]) / 1e6


@contextmanager
def cluster(workers: int = 2, memory: str = "auto") -> Iterator[Any]:
    """Start processes of one thread each, on the loopback interface."""
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with (
        LocalCluster(
            n_workers=workers, memory_limit=memory, host="127.0.0.1", silence_logs=50, **options
        ) as processes,
        Client(processes) as client,
    ):
        client.run(_import)
        yield client


def _import() -> None:
    """Load what every task needs, so that it does not count as work."""
    import unbend.scale

    rows = np.random.default_rng(0).normal(size=(200, 3))
    for name in ("PCA", "LTSA", "LandmarkIsomap", "LaplacianEigenmaps"):
        getattr(unbend, name)().fit(rows).transform(rows)


def measure(client: Any, work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Return a result, the CPU seconds of all workers, their peak memory, and the wall time."""
    before = client.run(worker_usage)
    start = time.perf_counter()
    result = work()
    wall = time.perf_counter() - start
    after = client.run(worker_usage)
    cpu = sum(after[name][0] - before.get(name, (0.0, 0.0))[0] for name in after)
    peak = max(memory for _, memory in after.values())
    figures = {"cpu": round(cpu, 2), "peak_gb": round(peak, 3), "wall": round(wall, 1)}
    return result, figures


def write_parts(folder: Path, rows: int, make: Callable[[int, int], Any]) -> da.Array:
    """Write partitions as NPY files, and open them lazily."""
    folder.mkdir(parents=True)
    blocks = []
    for number, start in enumerate(range(0, rows, PARTITION)):
        count = min(PARTITION, rows - start)
        block = make(number, count)
        path = str(folder / f"{number:05d}.npy")
        np.save(path, block)
        blocks.append(da.from_delayed(delayed(np.load)(path), block.shape, block.dtype))
    return da.concatenate(blocks)


def normal_rows(number: int, count: int, columns: int = 100) -> Any:
    """Rows with falling variances, in single precision."""
    rng = np.random.default_rng(number)
    rows = rng.standard_normal((count, columns), dtype=np.float32)
    return rows * np.linspace(3.0, 0.1, columns, dtype=np.float32)


def roll_rows(number: int, count: int) -> Any:
    """Rows of a roll, uniform by area, and nothing else: its chart is computed again."""
    return unbend.datasets.swiss_roll(count, random_state=number).points


def measure_pca(scratch: Path, share: float) -> dict[str, Any]:
    """One pass over 15 million rows of 100 columns, workers limited to 2 GB."""
    n = int(15_000_000 * share)
    rows = write_parts(scratch / "pca", n, normal_rows)
    files = sorted((scratch / "pca").glob("*.npy"))

    class Batches:
        def __iter__(self) -> Iterator[Any]:
            return (np.load(file) for file in files)

    start = time.process_time()
    batches = unbend.PCA(n_components=10).fit_batches(Batches())
    in_batches = time.process_time() - start
    with cluster(memory="2GB") as client:
        model, figures = measure(client, lambda: unbend.PCA(n_components=10).fit(rows))
    largest = batches.singular_values_[0]
    error = np.abs(model.singular_values_ - batches.singular_values_).max() / largest
    figures |= {"rows": n, "fit_batches_cpu": round(in_batches, 2), "error": float(error)}
    return figures | {"over_fit_batches": round(figures["cpu"] / in_batches, 2)}


def measure_transform(scratch: Path, share: float) -> dict[str, Any]:
    """Ten million rows placed by models of 20 000."""
    n, m = int(10_000_000 * share), max(2000, int(20_000 * min(1.0, share * 10)))
    rows = write_parts(scratch / "transform", n, roll_rows)
    roll = unbend.datasets.swiss_roll(PARTITION, random_state=0)
    found: dict[str, Any] = {"rows": n, "sample": m}
    for name in ("LandmarkIsomap", "LTSA"):
        with cluster() as client:
            model = getattr(scale, name)(n_neighbors=12, sample=m, held_out=0).fit(rows)
            placed = model.transform(rows)
            # Sums, so that nothing but the transform is measured.
            _, figures = measure(client, placed.sum(axis=0).compute)
            chart = roll.chart[: min(n, PARTITION)]
            coordinates = placed[: len(chart)].compute()
        start = time.process_time()
        model.local_.transform(roll.points)
        alone = PARTITION / (time.process_time() - start)
        rate = n / figures["cpu"]
        kind = "similarity" if model.local_.isometric else "affine"
        lost = float(unbend.quality.procrustes(chart, coordinates, kind=kind))
        figures |= {"rows_per_second": round(rate), "of_in_memory": round(rate / alone, 2)}
        found[name] = figures | {"r2": 1.0 - lost}
    return found


def measure_neighbors(scratch: Path, share: float) -> dict[str, Any]:
    """Exact neighbours of five million rows in three columns."""
    n = int(5_000_000 * share)
    rows = write_parts(scratch / "neighbors", n, roll_rows)

    def search() -> Any:
        indices, distances = scale.nearest_neighbors(rows, 10)
        return da.compute(indices.sum(), distances.sum())

    with cluster() as client:
        sums, figures = measure(client, search)
    exact = PointSpace(rows.compute()).nearest(10)
    same = int(sums[0]) == int(exact.indices.sum(dtype=np.int64))
    return figures | {"rows": n, "same_indices": bool(same)}


def curved_rows(number: int, count: int, columns: int = 50) -> Any:
    """Rows of a curved manifold of five dimensions."""
    chart = np.random.default_rng(number).uniform(size=(count, 5))
    return np.cos(chart @ np.random.default_rng(12345).normal(size=(5, columns)) * 2.0)


def measure_approximate(scratch: Path, share: float) -> dict[str, Any]:
    """Approximate neighbours in 50 columns: recall, and what the estimate of it says."""
    n = int(1_000_000 * share)
    rows = write_parts(scratch / "approximate", n, curved_rows)
    from unbend.scale.collections import LazyRows
    from unbend.scale.neighbors import EUCLIDEAN, find_neighbors

    with cluster() as client:
        lazily = LazyRows(rows)
        found, figures = measure(
            client, lambda: find_neighbors(lazily, 10, EUCLIDEAN, "approximate")
        )
        distances = found.arrays()[1][:: max(1, n // 2000)].compute()
    points = rows.compute()
    asked = np.arange(0, n, max(1, n // 2000))
    reach = PointSpace(points).nearest_of(points[asked], 11)[1][:, -1:]
    recall = float(np.mean(distances <= reach * (1 + 1e-12)))
    return figures | {"rows": n, "recall": recall, "estimate": found.recall}


def measure_graph(scratch: Path, share: float) -> dict[str, Any]:
    """Laplacian eigenmaps of the graph of a million rows, solved on one worker."""
    n = int(1_000_000 * share)
    rows = write_parts(scratch / "graph", n, roll_rows)
    with cluster() as client:
        model, figures = measure(
            client, lambda: scale.LaplacianEigenmaps(n_neighbors=10, sample=None).fit(rows)
        )
        found = model.embedding_.compute()
    start = time.process_time()
    plain = unbend.LaplacianEigenmaps(n_neighbors=10).fit(rows.compute())
    alone = time.process_time() - start
    same = bool(np.array_equal(found, plain.embedding_))
    return figures | {"rows": n, "same_bits": same, "in_memory_cpu": round(alone, 2)}


def measure_death(scratch: Path, share: float) -> dict[str, Any]:
    """One of two workers killed in the middle of a fit."""
    n = int(5_000_000 * share)
    rows = write_parts(scratch / "death", n, partial(normal_rows, columns=50))
    with cluster() as client:
        whole, calm = measure(client, lambda: unbend.PCA(n_components=5).fit(rows))
        pids = list(client.run(os.getpid).values())

        def work() -> Any:
            future = client.submit(_kill_later, pids[0], 0.4 * calm["wall"], pure=False)
            model = unbend.PCA(n_components=5).fit(rows)
            del future
            return model

        killed, figures = measure(client, work)
    same = bool(np.array_equal(killed.components_, whole.components_))
    return {"rows": n, "calm": calm, "killed": figures, "same_bits": same}


def _kill_later(pid: int, seconds: float) -> None:
    """Kill a process from a child of its own, after a while."""
    if os.fork() == 0:
        time.sleep(seconds)
        os.kill(pid, signal.SIGKILL)
        os._exit(0)


def measure_workers(scratch: Path, share: float) -> dict[str, Any]:
    """Total CPU of one and of two workers."""
    n = int(5_000_000 * share)
    rows = write_parts(scratch / "workers", n, partial(normal_rows, columns=50))
    found: dict[str, Any] = {"rows": n}
    for workers in (1, 2):
        with cluster(workers) as client:
            model, fit = measure(client, lambda: unbend.PCA(n_components=5).fit(rows))
            placed = model.transform(rows)
            _, applied = measure(client, placed.sum(axis=0).compute)
        found[f"{workers}"] = {"fit": fit, "transform": applied}
    for step in ("fit", "transform"):
        found[f"{step}_ratio"] = round(found["2"][step]["cpu"] / found["1"][step]["cpu"], 3)
    return found


CASES = {
    "pca": measure_pca,
    "transform": measure_transform,
    "neighbors": measure_neighbors,
    "approximate": measure_approximate,
    "graph": measure_graph,
    "death": measure_death,
    "workers": measure_workers,
}


def main() -> None:
    """Measure, print and add to the file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--only", default=",".join(CASES))
    asked = parser.parse_args()
    path = Path(__file__).with_suffix(".json")
    results = json.loads(path.read_text()) if path.exists() else {}
    for name in asked.only.split(","):
        scratch = Path(tempfile.mkdtemp(prefix="unbend-scale-"))
        try:
            found = CASES[name](scratch, asked.share)
        finally:
            shutil.rmtree(scratch)
        load = round(os.getloadavg()[1], 1)
        results.setdefault(f"{asked.share:g}", {})[name] = found | {"load": load}
        results["machine"] = {"cpu": cpu_name(), "cores": os.cpu_count()}
        print(name, json.dumps(found))
        path.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
