"""Rows beyond one machine: `python -m benchmarks.scale [--share 0.1] [--only pca,neighbors]`.

Two worker processes with one thread each; CPU seconds and peak memory are those of the workers.
Inputs are written to a scratch folder and deleted. `--share` scales the numbers of rows; figures of
other shares are kept beside each other in `scale.json`. A case is a sequence of steps, each of
which is recorded when it is done: `--only transform.ltsa` runs one, and with `--scratch FOLDER`
inputs are kept there for the next run.
"""

import argparse
import hashlib
import json
import os
import resource
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.delayed import delayed
from distributed import Client, LocalCluster

import unbend
from benchmarks.machine import cpu_name
from benchmarks.output import results_of
from unbend import scale
from unbend.neighbors import PointSpace
from unbend.neighbors.metrics import EUCLIDEAN
from unbend.scale import neighbors as searching
from unbend.scale import spectral
from unbend.scale.collections import LazyRows

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
    processes = LocalCluster(
        n_workers=workers, memory_limit=memory, host="127.0.0.1", silence_logs=50, **options
    )
    try:
        with Client(processes) as client:
            client.run(_import)
            yield client
    finally:
        # Processes of a loaded machine may stop late: what was measured is not lost by that.
        with suppress(TimeoutError):
            processes.close(timeout=60)


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
    """Write partitions as NPY files, unless an earlier step did, and open them lazily."""
    folder.mkdir(parents=True, exist_ok=True)
    blocks = []
    for number, start in enumerate(range(0, rows, PARTITION)):
        count = min(PARTITION, rows - start)
        path = folder / f"{number:05d}.npy"
        if not path.exists():
            whole = path.with_suffix(".part.npy")
            np.save(whole, make(number, count))
            whole.rename(path)
        block = np.load(path, mmap_mode="r")
        blocks.append(da.from_delayed(delayed(np.load)(str(path)), block.shape, block.dtype))
    return da.concatenate(blocks)


def normal_rows(number: int, count: int, columns: int = 100) -> Any:
    """Rows with falling variances, in single precision."""
    rng = np.random.default_rng(number)
    rows = rng.standard_normal((count, columns), dtype=np.float32)
    return rows * np.linspace(3.0, 0.1, columns, dtype=np.float32)


def roll_rows(number: int, count: int) -> Any:
    """Rows of a roll, uniform by area, and nothing else: its chart is computed again."""
    return unbend.datasets.swiss_roll(count, random_state=number).points


def pca_batches(scratch: Path, share: float, so_far: dict[str, Any]) -> dict[str, Any]:
    """15 million rows of 100 columns in one process, partition by partition."""
    n = int(15_000_000 * share)
    write_parts(scratch / "pca", n, normal_rows)
    files = sorted((scratch / "pca").glob("*.npy"))

    class Batches:
        def __iter__(self) -> Iterator[Any]:
            return (np.load(file) for file in files)

    start = time.process_time()
    model = unbend.PCA(n_components=10).fit_batches(Batches())
    cpu = round(time.process_time() - start, 2)
    return {"rows": n, "fit_batches_cpu": cpu, "values": model.singular_values_.tolist()}


def pca_cluster(scratch: Path, share: float, so_far: dict[str, Any]) -> dict[str, Any]:
    """Fit the same rows in one pass, workers limited to 2 GB."""
    rows = write_parts(scratch / "pca", int(15_000_000 * share), normal_rows)
    with cluster(memory="2GB") as client:
        model, figures = measure(client, lambda: unbend.PCA(n_components=10).fit(rows))
    values = np.array(so_far["values"])
    error = np.abs(model.singular_values_ - values).max() / values[0]
    ratio = round(figures["cpu"] / so_far["fit_batches_cpu"], 2)
    return figures | {"error": float(error), "over_fit_batches": ratio}


def measure_transform(
    name: str, scratch: Path, share: float, so_far: dict[str, Any]
) -> dict[str, Any]:
    """Ten million rows placed by models of 20 000.

    In memory, without Dask, one process places rows alone, and then both at the same time: two
    processes share caches, memory and clock of the machine, which is no cost of distribution.
    """
    n, m = int(10_000_000 * share), max(2000, int(20_000 * min(1.0, share * 10)))
    rows = write_parts(scratch / "transform", n, roll_rows)
    roll = unbend.datasets.swiss_roll(PARTITION, random_state=0)
    path = scratch / f"{name}.unbend"
    if not path.exists():
        model = getattr(scale, name)(n_neighbors=12, sample=m, held_out=0, random_state=0)
        model.fit(rows).save(path)
    local = unbend.load(path)
    with cluster() as client:
        placed = local.transform(rows)
        # Sums, so that nothing but the transform is measured.
        _, figures = measure(client, placed.sum(axis=0).compute)
        chart = roll.chart[: min(n, PARTITION)]
        coordinates = placed[: len(chart)].compute()
        workers = list(client.scheduler_info()["workers"])
        work = partial(client.run, _transform_seconds, str(path), min(6, -(-n // PARTITION)))
        in_memory = {"alone": work(workers=workers[:1]), "both": work(workers=workers)}
    rate = n / figures["cpu"]
    kind = "similarity" if local.isometric else "affine"
    lost = float(unbend.quality.procrustes(chart, coordinates, kind=kind))
    figures |= {"rows_per_second": round(rate), "r2": 1.0 - lost}
    for case, found in in_memory.items():
        other = np.mean([count / seconds for count, seconds in found.values()])
        figures |= {f"in_memory_{case}": round(other), f"of_{case}": round(rate / other, 2)}
    return {"rows": n, "sample": m, name: figures}


def _transform_seconds(path: str, partitions: int) -> tuple[int, float]:
    """Rows and CPU seconds of transforms in this process, with the tree of the model built before.

    Other rows each time, as in a collection, made before the clock starts.
    """
    model = unbend.load(path)
    parts = [roll_rows(number, PARTITION) for number in range(partitions)]
    model.transform(parts[0][:1000])
    start = time.process_time()
    for part in parts:
        model.transform(part)
    return partitions * PARTITION, time.process_time() - start


def measure_neighbors(scratch: Path, share: float, so_far: dict[str, Any]) -> dict[str, Any]:
    """Exact neighbours of five million rows in three columns, compared bit by bit."""
    n, k = int(5_000_000 * share), 10
    rows = write_parts(scratch / "neighbors", n, roll_rows)

    def search() -> list[str]:
        blocks = [part.to_delayed().ravel() for part in scale.nearest_neighbors(rows, k)]
        hashes = dask.compute(*(delayed(hash_lists)(*pair) for pair in zip(*blocks, strict=True)))
        return list(hashes)

    with cluster() as client:
        hashes, figures = measure(client, search)
    exact = PointSpace(rows.compute()).nearest(k)
    lists = exact.indices.reshape(n, k), exact.distances.reshape(n, k)
    edges = np.concatenate(([0], np.cumsum(rows.chunks[0])))
    expected = [
        hash_lists(lists[0][low:high].astype(np.int64), lists[1][low:high])
        for low, high in pairwise(edges.tolist())
    ]
    return figures | {"rows": n, "blocks_compared": len(expected), "same_bits": hashes == expected}


def hash_lists(indices: Any, distances: Any) -> str:
    """Digest of all bits of the neighbours of a block, and of their shape and type."""
    digest = hashlib.sha256(f"{indices.shape} {indices.dtype} {distances.dtype}".encode())
    digest.update(np.ascontiguousarray(indices))
    digest.update(np.ascontiguousarray(distances))
    return digest.hexdigest()


def curved_rows(number: int, count: int, columns: int = 50) -> Any:
    """Rows of a curved manifold of five dimensions."""
    chart = np.random.default_rng(number).uniform(size=(count, 5))
    return np.cos(chart @ np.random.default_rng(12345).normal(size=(5, columns)) * 2.0)


def approximate_search(scratch: Path, share: float, so_far: dict[str, Any]) -> dict[str, Any]:
    """Approximate neighbours in 50 columns, and the estimate of their recall."""
    n = int(1_000_000 * share)
    rows = write_parts(scratch / "approximate", n, curved_rows)
    with cluster() as client:
        lazily = LazyRows(rows)
        found, figures = measure(
            client, lambda: searching.find_neighbors(lazily, 10, EUCLIDEAN, "approximate")
        )
        distances = found.arrays()[1][:: max(1, n // 2000)].compute()
    np.save(scratch / "approximate.npy", distances)
    return figures | {"rows": n, "estimate": found.recall, "estimate_error": found.recall_error}


def approximate_recall(scratch: Path, share: float, so_far: dict[str, Any]) -> dict[str, Any]:
    """Recall of 2000 rows, against all others in one memory."""
    n = int(1_000_000 * share)
    points = write_parts(scratch / "approximate", n, curved_rows).compute()
    asked = np.arange(0, n, max(1, n // 2000))
    reach = PointSpace(points).nearest_of(points[asked], 11)[1][:, -1:]
    distances = np.load(scratch / "approximate.npy")
    return {"recall": float(np.mean(distances <= reach * (1 + 1e-12)))}


def measure_graph(scratch: Path, share: float, so_far: dict[str, Any]) -> dict[str, Any]:
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


def measure_lanczos(
    rows_wanted: int,
    dimensions: int,
    block_bytes: int,
    scratch: Path,
    share: float,
    so_far: dict[str, Any],
) -> dict[str, Any]:
    """Laplacian eigenmaps of rows that fill a box, solved on all workers and on one."""
    n = int(rows_wanted * share)
    name = f"{dimensions} dimensions"
    rows = write_parts(scratch / f"lanczos{dimensions}", n, partial(box_rows, dimensions))
    figures: dict[str, Any] = {"rows": n, "columns": dimensions}
    values = []
    # Smaller than usual, so that there are several of them.
    searching.BOX_BYTES, spectral.BLOCK_BYTES = block_bytes, block_bytes
    with cluster() as client:
        for solver in ("distributed", "gathered"):
            fit = scale.LaplacianEigenmaps(sample=None, graph_solver=solver, random_state=0).fit
            model, figures[solver] = measure(client, partial(fit, rows))
            values.append(model._local.header.eigenvalues_)
            if solver == "distributed":
                facts = {k: v for one in model.report_.stages for k, v in one.facts.items()}
                asked = ("products", "residual", "blocks", "intrinsic_dimension")
                figures |= {fact: facts[fact] for fact in asked}
                seconds = {one.name: round(one.seconds, 1) for one in model.report_.stages}
                figures["stage_seconds"] = seconds
    error = np.abs(values[0] / values[1] - 1).max()
    return {name: figures | {"eigenvalue_error": float(error)}}


def box_rows(dimensions: int, number: int, count: int) -> Any:
    """Rows that fill a box with different sides."""
    sides = 0.9 ** np.arange(dimensions)
    return np.random.default_rng(number).uniform(size=(count, dimensions)) * sides


def measure_death(scratch: Path, share: float, so_far: dict[str, Any]) -> dict[str, Any]:
    """One of two workers killed in the middle of a fit."""
    n = int(5_000_000 * share)
    rows = write_parts(scratch / "death", n, partial(normal_rows, columns=50))
    with cluster() as client:
        whole, calm = measure(client, lambda: unbend.PCA(n_components=5).fit(rows))
        # Of the second run, since the first loads code.
        whole, calm = measure(client, lambda: unbend.PCA(n_components=5).fit(rows))
        (address, pid), *_ = client.run(os.getpid).items()
        before = client.run(worker_usage)[address][0]
        last: list[float] = []
        timer = threading.Timer(0.4 * calm["wall"], _kill, (pid, last))
        timer.start()
        killed, figures = measure(client, lambda: unbend.PCA(n_components=5).fit(rows))
        timer.join()
    # What the lost process did counts, until it was killed.
    figures["cpu"] = round(figures["cpu"] + last[0] - before, 2)
    same = bool(np.array_equal(killed.components_, whole.components_))
    ratio = round(figures["cpu"] / calm["cpu"], 2)
    return {"rows": n, "calm": calm, "killed": figures, "same_bits": same, "ratio": ratio}


def _kill(pid: int, last: list[float]) -> None:
    """Kill a process, and keep the CPU seconds that it used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    last.append((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"))
    os.kill(pid, signal.SIGKILL)


def measure_workers(scratch: Path, share: float, so_far: dict[str, Any]) -> dict[str, Any]:
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


CASES: dict[str, dict[str, Callable[[Path, float, dict[str, Any]], dict[str, Any]]]] = {
    "pca": {"batches": pca_batches, "cluster": pca_cluster},
    "transform": {
        "isomap": partial(measure_transform, "LandmarkIsomap"),
        "ltsa": partial(measure_transform, "LTSA"),
    },
    "neighbors": {"all": measure_neighbors},
    "approximate": {"search": approximate_search, "recall": approximate_recall},
    "graph": {"all": measure_graph},
    "lanczos": {
        "five": partial(measure_lanczos, 100_000, 5, 1 << 23),
        "six": partial(measure_lanczos, 60_000, 6, 1 << 21),
    },
    "death": {"all": measure_death},
    "workers": {"all": measure_workers},
}


def run_step(case: str, step: str, scratch: Path, share: float) -> None:
    """Measure a step, print it and add it to the file."""
    path = results_of(__file__)
    so_far = json.loads(path.read_text()) if path.exists() else {}
    found = CASES[case][step](scratch, share, so_far.get(f"{share:g}", {}).get(case, {}))
    print(case, step, json.dumps(found), flush=True)
    # Read again: another process may have added a case.
    results = json.loads(path.read_text()) if path.exists() else {}
    figures = results.setdefault(f"{share:g}", {}).setdefault(case, {})
    figures |= found | {"load": round(os.getloadavg()[1], 1)}
    results["machine"] = {"cpu": cpu_name(), "cores": os.cpu_count()}
    path.write_text(json.dumps(results, indent=2) + "\n")


def main() -> None:
    """Measure the steps that were asked for, one after the other."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--only", default=",".join(CASES), help="cases, or case.step")
    parser.add_argument("--scratch", type=Path, help="folder that keeps inputs between runs")
    asked = parser.parse_args()
    for name in asked.only.split(","):
        case, _, step = name.partition(".")
        scratch = asked.scratch or Path(tempfile.mkdtemp(prefix="unbend-scale-"))
        try:
            for each in [step] if step else CASES[case]:
                run_step(case, each, scratch, asked.share)
        finally:
            if asked.scratch is None:
                shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
