"""Pictures of clustered data: neighbour embedding against openTSNE, UMAP, PaCMAP; picture.json.

    python -m benchmarks.picture [--quick] [--seeds N] [--only CONTENDER] [case ...]
    python -m benchmarks.picture --table      writes the tables of docs/pictures.md

Contenders take turns, each fit in a process of its own with one thread and without the compilation
of numba (another fit comes first). Every run is recorded as soon as it ends, and a run that is
recorded is not repeated. CPU seconds are those of the whole fit: neighbours, start and layout.
Accuracy is that of a vote of ten neighbours in the picture, trustworthiness that of twelve
neighbours in the rows, both on at most 5000 rows.

`kl_divergence` is the exact one of one matrix of affinities (perplexity 30) a case, after 250 + 500
iterations. openTSNE computes its own affinities, which is part of its time, and then lays out that
very matrix; ours minimises its own, of another seed.

Learning rates were chosen on `TUNED`, none of which judges (`--tune` repeats that).
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, load_npz, save_npz
from sklearn.datasets import load_digits, make_blobs
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier

import unbend
import unbend.layout.repulsion as repulsion_module
import unbend.methods.neighbor_embedding as method
from benchmarks.data import CACHE, fashion, glove, images, strokes
from benchmarks.data import digits as mnist
from benchmarks.machine import cpu_name
from benchmarks.measure import cpu_seconds, forget_peak, in_new_process, memory_mb
from unbend._kernels import kernels
from unbend.eigen.krylov import KrylovSpace
from unbend.layout import descent
from unbend.layout.affinities import Affinities
from unbend.layout.descent import divergence
from unbend.layout.repulsion import MeshRepulsion, exact_repulsion, tree_repulsion
from unbend.neighbors.metrics import feature_maps

RESULTS = Path(__file__).with_suffix(".json")
QUICK = RESULTS.with_name("results-quick-picture.json")
PAGE = Path(__file__).parent.parent / "docs" / "pictures.md"
BEGIN, END = "<!-- from picture.json: begin -->", "<!-- from picture.json: end -->"
JUDGED, NEIGHBORS, VOTERS = 5000, 12, 10
NEW_ROWS = 10_000
# UMAP searches and so compiles otherwise from 4096 rows on.
WARM_UP = 4500
TIMEOUT = 7200.0
Array = NDArray[Any]
Fit = Callable[[Array, int, str], Any]


def small_digits(n: int) -> tuple[Array, Array]:
    """Digits of scikit-learn."""
    rows, labels = load_digits(return_X_y=True)
    return rows[:n], labels[:n]


DATA: dict[str, Callable[[int], tuple[Array, Array | None]]] = {
    "digits": small_digits,
    "mnist": mnist,
    "fashion": fashion,
    "glove": glove,
    "strokes": strokes,
}


def ours(**options: Any) -> Fit:
    """Neighbour embedding; the seed matters for approximate neighbours only."""

    def fit(rows: Array, seed: int, case: str) -> Any:
        return unbend.NeighborEmbedding(random_state=seed, n_jobs=1, **options).fit(rows)

    return fit


def principal_components(rows: Array, seed: int) -> Array:
    """Rows as openTSNE's guide has them: fifty principal components of wide ones."""
    if rows.shape[1] > 50:
        rows = PCA(50, random_state=seed).fit_transform(rows)
    return np.ascontiguousarray(rows)


def open_tsne(**options: Any) -> Fit:
    """Fit openTSNE, after the same number of principal components."""

    def fit(rows: Array, seed: int, case: str) -> Any:
        from openTSNE import TSNE

        return TSNE(n_jobs=1, random_state=seed, **options).fit(principal_components(rows, seed))

    return fit


def open_tsne_of_ours(rows: Array, seed: int, case: str) -> Any:
    """Compute openTSNE's affinities and lay out those of the case."""
    from openTSNE import TSNE
    from openTSNE.affinity import PerplexityBasedNN, PrecomputedAffinities

    rows = principal_components(rows, seed)
    own = PerplexityBasedNN(rows, perplexity=30, n_jobs=1, random_state=seed)
    joint = case_affinities(case) if len(rows) == CASES[case][1] else own.P
    return TSNE(n_jobs=1, random_state=seed).fit(rows, affinities=PrecomputedAffinities(joint))


def umap(rows: Array, seed: int, case: str) -> Any:
    """Fit UMAP with its defaults."""
    from umap import UMAP

    return UMAP(random_state=seed, n_jobs=1).fit(rows)


def pacmap(rows: Array, seed: int, case: str) -> Any:
    """Fit PaCMAP with its defaults."""
    from pacmap import PaCMAP

    return PaCMAP(random_state=seed).fit_transform(rows)


CONTENDERS: dict[str, Fit] = {
    "unbend, exaggeration 1": ours(),
    "unbend, exaggeration 1, 750 iterations": ours(tol=0),
    "unbend, exaggeration 1, 750 iterations, PCA start": ours(tol=0, init="pca"),
    "unbend, exaggeration 4, perplexity 10": ours(exaggeration=4, perplexity=10),
    "unbend, exaggeration 4, 15 neighbours": ours(exaggeration=4, n_neighbors=15),
    "unbend, exaggeration 4, approximate neighbours": ours(
        exaggeration=4, n_neighbors=15, neighbors_algorithm="approximate"
    ),
    "openTSNE, exaggeration 1": open_tsne(),
    "openTSNE, exaggeration 1, our affinities": open_tsne_of_ours,
    "openTSNE, exaggeration 4, perplexity 10": open_tsne(exaggeration=4, perplexity=10),
    "UMAP": umap,
    "PaCMAP": pacmap,
}
EVERYONE = [name for name in CONTENDERS if "approximate" not in name and "PCA" not in name]
SAME = ["unbend, exaggeration 1, 750 iterations", "openTSNE, exaggeration 1, our affinities"]
LARGE = [*SAME, "unbend, exaggeration 4, 15 neighbours", "UMAP"]
# Data, rows, contenders.
CASES: dict[str, tuple[str, int, list[str]]] = {
    "digits": ("digits", 1797, EVERYONE),
    "mnist 10k": ("mnist", 10_000, EVERYONE),
    "fashion 10k": ("fashion", 10_000, EVERYONE),
    "mnist 70k": ("mnist", 70_000, [*LARGE, "PaCMAP"]),
    "fashion 70k": ("fashion", 70_000, LARGE),
    "glove 50k": ("glove", 50_000, [*LARGE, "unbend, exaggeration 1, 750 iterations, PCA start"]),
    "strokes 1M": ("strokes", 1_000_000, ["unbend, exaggeration 4, approximate neighbours"]),
}
# Kernels that share their work between threads.
THREADED = [
    "attract", "attractive_energy", "convolve", "descend", "gather_forces", "offer_columns",
    "offer_pairs", "rank", "renumber", "repel_by_tree", "repel_exactly", "sort_shortlists",
    "sparse_product", "spread_density", "sum_weights",
]  # fmt: skip
# New samples in pictures of as many rows.
PLACEMENT = "new samples"
PLACED = ["unbend, exaggeration 1", "openTSNE, exaggeration 1", "UMAP"]


def case_affinities(case: str) -> csr_array:
    """Joint probabilities of perplexity 30 that judge a case, computed once."""
    cached = CACHE / f"affinities {case}.npz"
    if not cached.exists():
        name, n, _ = CASES[case]
        rows, _ = DATA[name](n)
        model = unbend.NeighborEmbedding(max_iter=1, exaggeration="max").fit(rows)
        save_npz(cached, model.affinities_)
    return csr_array(load_npz(cached))


def coordinates(fitted: Any) -> Array:
    """Coordinates of whatever a peer returns."""
    return np.asarray(getattr(fitted, "embedding_", fitted), dtype=np.float64)


def measure(case: str, contender: str, seed: int) -> dict[str, float]:
    """Fit once in this process and judge the picture."""
    if case == PLACEMENT:
        return measure_placement(contender, seed)
    name, n, _ = CASES[case]
    rows, labels = DATA[name](n)
    fit = CONTENDERS[contender]
    fit(rows[: WARM_UP if contender == "UMAP" and n > WARM_UP else 300], seed, case)
    judged_by_divergence = contender in SAME or "PCA" in contender
    if judged_by_divergence:
        case_affinities(case)
    forget_peak()
    start, wall = cpu_seconds(), time.perf_counter()
    fitted = fit(rows, seed, case)
    found = {"cpu": cpu_seconds() - start, "seconds": time.perf_counter() - wall}
    found["peak_mb"] = memory_mb("VmHWM")
    y = coordinates(fitted)
    if labels is not None:
        found["accuracy"] = vote(y, labels)
    judged = JUDGED if n <= 100_000 else JUDGED // 10
    found["trustworthiness"] = float(
        unbend.quality.trustworthiness(rows, y, n_neighbors=NEIGHBORS, max_rows=judged)
    )
    if judged_by_divergence:
        found["kl_divergence"] = divergence(case_affinities(case), y.astype(np.float32))
    return found


def vote(y: Array, labels: Array) -> float:
    """Accuracy of a vote of the nearest rows in the picture, on some of them."""
    some = np.sort(np.random.default_rng(0).permutation(len(y))[:JUDGED])
    near = KNeighborsClassifier(VOTERS + 1).fit(y, labels).kneighbors(y[some], None, False)
    votes = [
        np.bincount(labels[row[row != i][:VOTERS]].astype(int)).argmax()
        for i, row in zip(some, near, strict=True)
    ]
    return float(np.mean(votes == labels[some]))


def measure_placement(contender: str, seed: int) -> dict[str, float]:
    """CPU seconds of placing new rows in a picture, and accuracy of a vote of rows near them."""
    rows, labels = mnist(2 * NEW_ROWS)
    old, new = rows[:NEW_ROWS], rows[NEW_ROWS:]
    fitted = CONTENDERS[contender](old, seed, PLACEMENT)
    project = contender.startswith("openTSNE")
    axes = PCA(50, random_state=seed).fit(old) if project else None
    fitted.transform(new[:WARM_UP] if axes is None else axes.transform(new[:WARM_UP]))
    start = cpu_seconds()
    placed = fitted.transform(new if axes is None else axes.transform(new))
    cpu = cpu_seconds() - start
    voters = KNeighborsClassifier(VOTERS).fit(coordinates(fitted), labels[:NEW_ROWS])
    accuracy = float(np.mean(voters.predict(np.asarray(placed)) == labels[NEW_ROWS:]))
    return {"cpu": cpu, "accuracy": accuracy}


def repulsion() -> dict[str, Any]:
    """Milliseconds and errors of the ways to sum the repulsion, on finished layouts."""
    rows, _ = mnist(10_000)
    found = {}
    for n in (2000, 10_000):
        points = np.float32(unbend.NeighborEmbedding(n_jobs=1).fit(rows[:n]).embedding_)
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
    return found


# Data on which learning rates are chosen, for each exaggeration: none is part of a case.
TUNED: dict[str, Callable[[], Array]] = {
    "strokes": lambda: images(4000)[0],
    "Gaussian clusters": lambda: make_blobs(4000, 30, centers=40, random_state=0)[0],
    "roll": lambda: unbend.datasets.swiss_roll(4000, noise=0.3, random_state=0).points,
}
RATES = [(1.0, 1.0), (2.0, 1.5), (4.0, 1.5), (4.0, 2.0), (8.0, 2.0)]


def tune(path: Path) -> None:
    """Record by how much the objective of each learning rate exceeds the lowest, in per cent."""
    excess = {}
    for exaggeration, perplexity in ((1.0, 30), (4.0, 10), (12.0, 10)):
        for name, data in TUNED.items():
            rows, values = data(), {}
            for descent.RATE, descent.POWER in RATES:
                model = unbend.NeighborEmbedding(
                    exaggeration=exaggeration, perplexity=perplexity, tol=0, n_jobs=1
                ).fit(rows)
                values[f"{descent.RATE:g} n / {exaggeration:g}^{descent.POWER}"] = objective(model)
            lowest = min(values.values())
            excess[f"{name}, exaggeration {exaggeration:g}"] = {
                key: round(100 * (value / lowest - 1), 2) for key, value in values.items()
            }
            print(name, exaggeration, excess[f"{name}, exaggeration {exaggeration:g}"], flush=True)
    path.write_text(json.dumps({**load(path), "tuning": excess}, indent=1) + "\n")


def objective(model: Any) -> float:
    """Divergence of the affinities to the power of the exaggeration, the one that is minimised.

    KL(P^ρ | Q) = (ρ − 1) Σ p log(1 + d²) + KL(P | Q), up to a constant.
    """
    y = model.embedding_.astype(np.float32)
    pull = descent.attractive_energy(model.affinities_, y)
    return float((model.exaggeration - 1) * pull + model.kl_divergence_)


def threads() -> dict[str, Any]:
    """Shares of a fit of MNIST 70k with one thread that threads of ours or of BLAS would divide.

    What two threads gain follows (Amdahl): wall-clock time would need a machine without other work.
    """
    rows, _ = mnist(70_000)
    inside = {"ours": 0.0, "BLAS": 0.0}

    def timed(function: Callable[..., Any], whose: str) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            before, start = sum(inside.values()), time.process_time()
            found = function(*arguments, **options)
            # What a function inside of this one counted is not counted again.
            within = sum(inside.values()) - before
            inside[whose] += time.process_time() - start - within
            return found

        return call

    for name in THREADED:
        setattr(kernels, name, timed(getattr(kernels, name), "ours"))
    for name in ("rfft", "fft", "ifft", "irfft"):
        setattr(repulsion_module.fft, name, timed(getattr(repulsion_module.fft, name), "ours"))
    Affinities.of_neighbors = timed(Affinities.of_neighbors, "ours")  # type: ignore[method-assign]
    method.sample_rows = timed(method.sample_rows, "ours")
    method.exact_axes = timed(method.exact_axes, "BLAS")
    feature_maps.row_products = timed(feature_maps.row_products, "BLAS")
    for name in ("orthonormal", "add", "ritz", "restart", "vectors"):
        setattr(KrylovSpace, name, timed(getattr(KrylovSpace, name), "BLAS"))
    results = {}
    for name in ("unbend, exaggeration 1", "unbend, exaggeration 4, 15 neighbours"):
        CONTENDERS[name](rows[:3000], 0, "")
        inside.update(dict.fromkeys(inside, 0.0))
        start = time.process_time()
        CONTENDERS[name](rows, 0, "")
        total = time.process_time() - start
        shares = {whose: round(seconds / total, 3) for whose, seconds in inside.items()}
        serial = 1.0 - sum(shares.values())
        gain = round(2 / (1 + serial), 2)
        results[name] = {**shares, "serial": round(serial, 3), "two": gain}
        print(name, results[name], flush=True)
    return results


def load(path: Path) -> dict[str, Any]:
    """Results so far."""
    return json.loads(path.read_text()) if path.exists() else {"runs": {}}


def run(case: str, contenders: list[str], seeds: int, path: Path) -> None:
    """Measure the contenders of a case in turns, each in a process of its own."""
    for seed in range(seeds):
        for contender in contenders:
            if str(seed) in load(path)["runs"].get(case, {}).get(contender, {}):
                continue
            found = in_new_process(
                "benchmarks.picture", "--one", case, contender, seed, threads=1, timeout=TIMEOUT
            )
            print(case, contender, seed, found, flush=True)
            if "status" not in found:
                record(path, case, contender, seed, found)


def record(path: Path, case: str, contender: str, seed: int, found: dict[str, float]) -> None:
    """Write one run at once, so that an interruption loses no other."""
    results = load(path)
    results["machine"] = {"cpu": cpu_name(), "threads": 1}
    runs = results["runs"].setdefault(case, {}).setdefault(contender, {})
    runs[str(seed)] = {key: round(value, 4) for key, value in found.items()}
    path.write_text(json.dumps(results, indent=1) + "\n")


def median(runs: dict[str, Any], case: str, contender: str, key: str) -> float:
    """Median over the seeds of a case; NaN where it was not measured."""
    found = runs.get(case, {}).get(contender, {}).values()
    return float(np.median([run[key] for run in found if key in run] or [np.nan]))


def divergences(runs: dict[str, Any], case: str, contender: str) -> list[float]:
    """Divergences of all seeds, which differ by the minimum that a descent ends in."""
    found = runs.get(case, {}).get(contender, {}).values()
    return [run["kl_divergence"] for run in found if "kl_divergence" in run]


def table(head: list[str], rows: list[list[str]]) -> str:
    """Markdown of a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def case_table(runs: dict[str, Any], case: str) -> str:
    """Medians of all contenders of a case."""
    keys = {"cpu": 1, "accuracy": 3, "trustworthiness": 3, "peak_mb": 0}
    rows = [
        [
            contender,
            str(len(found)),
            *(_number(median(runs, case, contender, key), digits) for key, digits in keys.items()),
            _range(divergences(runs, case, contender)),
        ]
        for contender, found in sorted(runs[case].items(), key=lambda item: item[0].lower())
    ]
    head = ["", "seeds", "CPU-s", "accuracy", "trustworthiness", "peak MB", "KL divergence"]
    used = [i for i in range(len(head)) if i < 2 or any(row[i] for row in rows)]
    return table([head[i] for i in used], [[row[i] for i in used] for row in rows])


def _number(value: float, digits: int) -> str:
    return "" if np.isnan(value) else f"{value:.{digits}f}"


def _range(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ({min(values):.3f}–{max(values):.3f})" if values else ""


def figures(results: dict[str, Any]) -> str:
    """Compare what was asked for with what was measured."""
    runs = results["runs"]
    mine, theirs = SAME
    dense, picture = "unbend, exaggeration 4, 15 neighbours", "unbend, exaggeration 1"
    small, peer = "unbend, exaggeration 4, perplexity 10", "openTSNE, exaggeration 1"

    def of(case: str, contender: str, key: str) -> float:
        return median(runs, case, contender, key)

    def ratio(case: str, ours: str, peer: str, key: str = "cpu") -> float:
        return of(case, peer, key) / of(case, ours, key)

    rows: list[tuple[str, str, float, bool]] = []
    for case in ("digits", "mnist 10k", "mnist 70k", "fashion 70k", "glove 50k"):
        both = [divergences(runs, case, name) for name in (mine, theirs)]
        if all(both):
            excess = 100 * float(np.mean(both[0]) / np.mean(both[1]) - 1)
            rows.append((f"mean KL above openTSNE's, {case}, %", "≤ 0.5", excess, excess <= 0.5))
    case = "mnist 10k"
    loss = of(case, theirs, "accuracy") - of(case, picture, "accuracy")
    trust, cpu = of(case, picture, "trustworthiness"), of(case, picture, "cpu")
    rows += [
        ("accuracy below openTSNE's, MNIST 10k", "≤ .003", loss, loss <= 0.003),
        ("trustworthiness, MNIST 10k", "≥ .985", trust, round(trust, 3) >= 0.985),
        ("CPU-s, MNIST 10k", "≤ 12", cpu, cpu <= 12),
    ]
    accuracy, trust, cpu = (of(case, small, key) for key in ("accuracy", "trustworthiness", "cpu"))
    rows += [
        ("accuracy at exaggeration 4, MNIST 10k", "≥ .95", accuracy, accuracy >= 0.95),
        ("trustworthiness at exaggeration 4, MNIST 10k", "≥ .965", trust, trust >= 0.965),
        ("CPU-s at exaggeration 4, MNIST 10k", "≤ 4.5", cpu, cpu <= 4.5),
    ]
    case = "mnist 70k"
    times, against_umap = ratio(case, mine, theirs), ratio(case, dense, "UMAP")
    plain, memory = ratio(case, mine, "UMAP"), of(case, mine, "peak_mb")
    million = of("strokes 1M", "unbend, exaggeration 4, approximate neighbours", "cpu")
    rows += [
        ("times less CPU than openTSNE, MNIST 70k", "≥ 5", times, times >= 5),
        ("times less than UMAP at exaggeration 4", "≥ 3", against_umap, against_umap >= 3),
        ("times less than UMAP at exaggeration 1", "≥ 1", plain, plain >= 1),
        ("peak MB, MNIST 70k", "≤ 2000", memory, memory <= 2000),
        ("CPU-s of a million rows", "≤ 600", million, million <= 600),
    ]
    faster = [ratio(PLACEMENT, picture, name) for name in (peer, "UMAP")]
    better = [
        of(PLACEMENT, picture, "accuracy") - of(PLACEMENT, name, "accuracy")
        for name in (peer, "UMAP")
    ]
    rows += [
        ("times less CPU of new samples than either", "≥ 3", min(faster), min(faster) >= 3),
        ("accuracy of new samples above either's", "≥ 0", min(better), min(better) >= 0),
    ]
    for name, found in results.get("threads", {}).items():
        label = f"computed gain of two threads, {name.removeprefix('unbend, ')}"
        rows.append((label, "≥ 1.7", found["two"], found["two"] >= 1.7))
    return table(
        ["figure", "asked for", "measured", ""],
        [
            [name, goal, f"{value:.4g}", "yes" if met else "**no**"]
            for name, goal, value, met in rows
            if not np.isnan(value)
        ],
    )


def write_tables(results: dict[str, Any]) -> None:
    """Replace what is between the marks of docs/pictures.md."""
    runs = results["runs"]
    blocks = ["### Figures", figures(results)]
    names = {case: f"### {case}" for case in [*CASES, PLACEMENT] if case in runs}
    for case, title in names.items():
        blocks += [title, case_table(runs, case)]
    text = PAGE.read_text()
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n" + "\n\n".join(blocks) + f"\n\n{END}{after}")


ALONE = {"repulsion": repulsion, "threads": threads}


def main() -> None:
    """Measure the cases named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help=f"of {[*CASES, PLACEMENT, *ALONE]}")
    parser.add_argument("--quick", action="store_true", help="digits and two seeds")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", default="", help="contenders whose name has this in it")
    parser.add_argument("--table", action="store_true", help="write the tables of the page")
    parser.add_argument("--tune", action="store_true", help="compare learning rates")
    parser.add_argument("--one", nargs=3, metavar=("CASE", "CONTENDER", "SEED"))
    arguments = parser.parse_args()
    if arguments.one:
        case, contender, seed = arguments.one
        print(json.dumps(measure(case, contender, int(seed))))
        return
    path = QUICK if arguments.quick else RESULTS
    if arguments.tune:
        tune(path)
        return
    if arguments.table:
        write_tables(load(path))
        return
    everything = ["digits"] if arguments.quick else [*CASES, PLACEMENT, *ALONE]
    for case in arguments.cases or everything:
        if case in ALONE:
            found = ALONE[case]()
            path.write_text(json.dumps({**load(path), case: found}, indent=1) + "\n")
            continue
        contenders = PLACED if case == PLACEMENT else CASES[case][2]
        contenders = [name for name in contenders if arguments.only in name]
        run(case, contenders, 2 if arguments.quick else arguments.seeds, path)


if __name__ == "__main__":
    main()
