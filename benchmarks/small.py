"""Small tables, 150 to 3000 rows, against scikit-learn: `python -m benchmarks.small [part...]`.

Every method with a class in scikit-learn, on tables that people have: CPU seconds of one thread,
both in turn in one process, medians; accuracy beside. Of non-metric scaling beyond 1000 rows
scikit-learn runs a tenth of its 300 iterations, so that the ratio is a lower bound. The part
`unfolding` times the semidefinite programs, which have no peer, and `first` the first fit in a new
process, with and without pandas. Writes `small.json`; parts that are named replace theirs, and
`--only=METHOD` measures one method again.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn.cluster
import sklearn.decomposition
import sklearn.manifold
import sklearn.random_projection
from scipy.linalg import subspace_angles
from scipy.spatial.distance import pdist
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import unbend
from benchmarks.data import glove
from benchmarks.measure import THREAD_VARIABLES
from benchmarks.output import results_of
from benchmarks.recognition import faces
from unbend.graphs import normalized_cut
from unbend.mds import Monotone, Pairs, Stress1
from unbend.neighbors import PointSpace
from unbend.quality import trustworthiness

RESULTS = results_of(__file__)
NEIGHBORS = 12
# A pair of fits is repeated for this long, at least and at most so many times.
SECONDS, LEAST, MOST = 0.8, 3, 21
# From here on a fit is run once.
ONCE_SECONDS = 2.0
# Beyond this many rows scikit-learn's non-metric scaling is cut to so many iterations.
WHOLE_ROWS, CUT_ITERATIONS = 1000, 30
# Rows beyond which scikit-learn's t-SNE takes minutes.
T_SNE_ROWS = 600
# Columns up to which scikit-learn's PCA is tried by the covariance.
WIDE = 2000
FIRST_ROUNDS = 7

Fit = Callable[[], Any]
Accuracy = Callable[[Any, Any], dict[str, float]]


def standardized(load: Callable[..., Any]) -> Any:
    """Rows of a bundled table with columns of unit variance."""
    return StandardScaler().fit_transform(load(return_X_y=True)[0])


def roll(rows: int) -> Any:
    """Rows of a Swiss roll."""
    return unbend.datasets.swiss_roll(rows, random_state=0).points


# Rows, and the number of clusters to find.
TABLES: dict[str, tuple[Callable[[], Any], int]] = {
    "wine": (lambda: standardized(load_wine), 3),
    "breast cancer": (lambda: standardized(load_breast_cancer), 2),
    "faces": (lambda: faces()[0], 40),
    "digits": (lambda: load_digits().data, 10),
    "roll 300": (lambda: roll(300), 4),
    "roll 1000": (lambda: roll(1000), 4),
    "roll 3000": (lambda: roll(3000), 4),
    "words": (lambda: glove(3000)[0], 8),
}


@dataclass(frozen=True)
class Case:
    """Fits of one method by both; of several by scikit-learn the fastest counts."""

    ours: Fit
    theirs: dict[str, Fit]
    accuracy: Accuracy


def angle(ours: Any, theirs: Any) -> dict[str, float]:
    """Sine of the largest angle between the spans of two centred embeddings."""
    ours, theirs = (rows - rows.mean(axis=0) for rows in (ours, theirs))
    return {"angle": float(np.sin(subspace_angles(ours, theirs).max()))}


def nothing(ours: Any, theirs: Any) -> dict[str, float]:
    """Return no accuracy: both are random."""
    return {}


def numbers(ours: float, theirs: float) -> dict[str, float]:
    """Both values."""
    return {"unbend": float(ours), "scikit_learn": float(theirs)}


def metric_stress(points: Any) -> Accuracy:
    """Stress of both embeddings, relative to the dissimilarities."""
    wanted = pdist(points)

    def stress(embedding: Any) -> float:
        return float(np.sqrt(np.sum((pdist(embedding) - wanted) ** 2) / np.sum(wanted**2)))

    return lambda ours, theirs: numbers(stress(ours), stress(theirs))


def nonmetric_stress(points: Any) -> Accuracy:
    """Kruskal's stress-1 of both embeddings."""
    pairs = Pairs.from_points(PointSpace(points))

    def stress(embedding: Any) -> float:
        return float(np.sqrt(Stress1(pairs.n, Monotone(pairs))(np.asarray(embedding))[0]))

    return lambda ours, theirs: numbers(stress(ours), stress(theirs))


def cut(points: Any) -> Accuracy:
    """Normalised cut of both clusterings on one neighbourhood graph."""
    graph = unbend.LaplacianEigenmaps(n_neighbors=NEIGHBORS).fit(points).graph_
    graph.data[:] = 1.0
    weights = graph.maximum(graph.T).tocsr()
    return lambda ours, theirs: numbers(
        normalized_cut(weights, ours), normalized_cut(weights, theirs)
    )


def linear_cases(points: Any) -> dict[str, Case]:
    """Methods that look at the rows, or at all inner products of them."""
    decomposition = sklearn.decomposition
    count, gamma = min(10, points.shape[1] - 1), 1.0 / points.shape[1] / points.var()
    # The covariance of 10 304 columns takes scikit-learn minutes.
    exact = ("full", "arpack") + (("covariance_eigh",) if points.shape[1] <= WIDE else ())
    projection = sklearn.random_projection.GaussianRandomProjection
    return {
        "PCA": Case(
            lambda: unbend.PCA(count).fit_transform(points),
            {
                name: lambda name=name: decomposition.PCA(count, svd_solver=name).fit_transform(
                    points
                )
                for name in exact
            },
            angle,
        ),
        "PCA, randomised": Case(
            lambda: unbend.PCA(count, svd_solver="randomized").fit_transform(points),
            {
                "randomized": lambda: decomposition.PCA(
                    count, svd_solver="randomized"
                ).fit_transform(points)
            },
            nothing,
        ),
        "KernelPCA": Case(
            lambda: unbend.KernelPCA(2, gamma=gamma).fit_transform(points),
            {
                "auto": lambda: decomposition.KernelPCA(2, kernel="rbf", gamma=gamma).fit_transform(
                    points
                )
            },
            angle,
        ),
        "RandomProjection": Case(
            lambda: unbend.RandomProjection(2).fit_transform(points),
            {"gaussian": lambda: projection(2).fit_transform(points)},
            nothing,
        ),
        "ClassicalMDS": Case(
            lambda: unbend.ClassicalMDS(2).fit_transform(points),
            {"ClassicalMDS": lambda: sklearn.manifold.ClassicalMDS(2).fit_transform(points)},
            angle,
        ),
    }


def neighborhood_cases(points: Any, clusters: int) -> dict[str, Case]:
    """Methods that begin with neighbours."""
    manifold, k = sklearn.manifold, NEIGHBORS

    def local(method: str) -> Fit:
        options = {"n_neighbors": k, "method": method, "random_state": 0, "eigen_solver": "auto"}

        def fit() -> Any:
            try:
                return manifold.LocallyLinearEmbedding(**options).fit_transform(points)
            except ValueError:
                # ARPACK fails on singular factors, and the error recommends the dense solver.
                options["eigen_solver"] = "dense"
                return manifold.LocallyLinearEmbedding(**options).fit_transform(points)

        return fit

    def eigenmaps() -> Any:
        own = unbend.LaplacianEigenmaps(n_neighbors=k, symmetrization="mean")
        return own.fit_transform(points)

    def clustering() -> Any:
        return sklearn.cluster.SpectralClustering(
            clusters, affinity="nearest_neighbors", n_neighbors=k + 1, random_state=0
        ).fit_predict(points)

    return {
        "Isomap": Case(
            lambda: unbend.Isomap(n_neighbors=k).fit_transform(points),
            {"Isomap": lambda: manifold.Isomap(n_neighbors=k).fit_transform(points)},
            angle,
        ),
        "LLE": Case(
            lambda: unbend.LLE(n_neighbors=k).fit_transform(points),
            {"standard": local("standard")},
            angle,
        ),
        "LTSA": Case(
            lambda: unbend.LTSA(n_neighbors=k).fit_transform(points), {"ltsa": local("ltsa")}, angle
        ),
        "HessianLLE": Case(
            lambda: unbend.HessianLLE(n_neighbors=k).fit_transform(points),
            {"hessian": local("hessian")},
            angle,
        ),
        "LaplacianEigenmaps": Case(
            eigenmaps,
            {
                "SpectralEmbedding": lambda: manifold.SpectralEmbedding(
                    n_neighbors=k + 1, random_state=0
                ).fit_transform(points)
            },
            angle,
        ),
        "SpectralClustering": Case(
            # Rows of eigenvectors as they are, like scikit-learn's; the default scales them.
            lambda: unbend.SpectralClustering(
                clusters, method="shi_malik", n_neighbors=k
            ).fit_predict(points),
            {"SpectralClustering": clustering},
            cut(points),
        ),
    }


def descent_cases(points: Any) -> dict[str, Case]:
    """Methods that descend on an objective, and the measure of an embedding."""
    manifold, rows = sklearn.manifold, len(points)
    plane = unbend.PCA(2).fit_transform(points)
    cut_short = {"max_iter": CUT_ITERATIONS} if rows > WHOLE_ROWS else {}
    cases = {
        "MetricMDS": Case(
            lambda: unbend.MetricMDS(2).fit_transform(points),
            {"MDS": lambda: manifold.MDS(2, init="classical_mds").fit_transform(points)},
            metric_stress(points),
        ),
        "NonmetricMDS": Case(
            lambda: unbend.NonmetricMDS(2).fit_transform(points),
            {
                "MDS": lambda: manifold.MDS(
                    2, init="classical_mds", metric_mds=False, **cut_short
                ).fit_transform(points)
            },
            nonmetric_stress(points),
        ),
        "trustworthiness": Case(
            lambda: trustworthiness(points, plane, n_neighbors=NEIGHBORS),
            {
                "trustworthiness": lambda: manifold.trustworthiness(
                    points, plane, n_neighbors=NEIGHBORS
                )
            },
            numbers,
        ),
    }
    if rows <= T_SNE_ROWS:
        cases["NeighborEmbedding"] = Case(
            lambda: unbend.NeighborEmbedding().fit_transform(points),
            {"TSNE": lambda: manifold.TSNE(random_state=0).fit_transform(points)},
            nothing,
        )
    return cases


def cpu_of(fit: Fit) -> tuple[float, Any]:
    """CPU seconds of this process, and the result."""
    start = time.process_time()
    result = fit()
    return time.process_time() - start, result


def compare(case: Case) -> dict[str, Any]:
    """Medians of the CPU seconds of both, in turn, and their accuracy."""
    ours: list[float] = []
    theirs: dict[str, list[float]] = {name: [] for name in case.theirs}
    answers: dict[str, Any] = {}
    begin = time.process_time()
    # What only the first call does, such as imports, is measured by `first`.
    first, answer = cpu_of(case.ours)
    while len(ours) < MOST and (len(ours) < LEAST or time.process_time() - begin < SECONDS):
        once = min((statistics.median(times) for times in theirs.values() if times), default=0.0)
        for name, fit in case.theirs.items():
            if once < ONCE_SECONDS:
                seconds, answers[name] = cpu_of(fit)
                theirs[name].append(seconds)
        if first >= ONCE_SECONDS:
            ours.append(first)
            break
        seconds, answer = cpu_of(case.ours)
        ours.append(seconds)
    best = min(theirs, key=lambda name: statistics.median(theirs[name]))
    own, peer = statistics.median(ours), statistics.median(theirs[best])
    return {
        "unbend_ms": round(1e3 * own, 3),
        "scikit_learn_ms": round(1e3 * peer, 3),
        "peer": best,
        "ratio": round(peer / own, 2),
        "rounds": len(ours),
        "accuracy": {
            name: float(f"{value:.3g}")
            for name, value in case.accuracy(answer, answers[best]).items()
        },
    }


def record(part: str, name: str, value: dict[str, Any]) -> None:
    """Write one result beside those of other runs."""
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    found.setdefault(part, {})[name] = value
    RESULTS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")


def compare_table(name: str, methods: list[str]) -> None:
    """Compare all methods on one table, or those that are named."""
    load, clusters = TABLES[name]
    points = np.ascontiguousarray(load(), dtype=np.float64)
    cases = linear_cases(points) | neighborhood_cases(points, clusters) | descent_cases(points)
    for method, case in cases.items():
        if methods and method not in methods:
            continue
        one = compare(case)
        record(name, method, one)
        print(
            f"{name:<14}{method:<20}{one['scikit_learn_ms']:10.1f} ms{one['unbend_ms']:10.1f} ms"
            f"{one['ratio']:8.2f}x  {one['peer']} {one['accuracy']}",
            flush=True,
        )


def unfolding(rows: int = 1000) -> None:
    """CPU seconds and certified gap of the semidefinite programs on surfaces of 1000 points."""
    for surface in ("swiss_roll", "s_curve", "swiss_hole", "toroidal_helix"):
        points = getattr(unbend.datasets, surface)(rows, random_state=0).points
        for method in ("MVU", "LandmarkMVU"):
            own = getattr(unbend, method)()
            times = [cpu_of(lambda own=own, points=points: own.fit(points))[0] for _ in range(3)]
            facts = own.report_.stage("kernel").facts
            seconds = round(statistics.median(times), 3)
            record("unfolding", f"{method}, {surface}", {"seconds": seconds, "gap": facts["gap"]})
            print(f"{method:<14}{surface:<14}{seconds:8.2f} s  gap {facts['gap']:.1e}")


FIRST = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
import numpy as np
X = np.random.default_rng(0).normal(size=(300, 3))
from {package} import Isomap
Isomap(n_neighbors=12).fit(X)
"""


def first_seconds(package: str, missing: tuple[str, ...]) -> float:
    """User CPU seconds of a process that imports a package and fits Isomap once."""
    environment = os.environ | dict.fromkeys(THREAD_VARIABLES, "1")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    program = FIRST.format(package=package, missing=missing)
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def first() -> None:
    """Compare the first fit in new processes, in turn; pandas is hidden from half of them."""
    for title, missing in (("with pandas", ()), ("without pandas", ("pandas", "pyarrow"))):
        for package in ("unbend", "sklearn.manifold"):
            first_seconds(package, missing)
        pairs = [
            (first_seconds("sklearn.manifold", missing), first_seconds("unbend", missing))
            for _ in range(FIRST_ROUNDS)
        ]
        peer, own = (statistics.median(times) for times in zip(*pairs, strict=True))
        share = round(own / peer - 1, 3)
        seconds = {"scikit_learn": round(peer, 3), "unbend": round(own, 3), "more": share}
        record("first", title, seconds)
        print(f"first fit, {title}: {peer:.3f} s, {own:.3f} s, {own / peer - 1:+.0%}", flush=True)


def main() -> None:
    """Measure the parts that are named, or all, and write them."""
    names = [word for word in sys.argv[1:] if not word.startswith("--only=")]
    only = [word.removeprefix("--only=") for word in sys.argv[1:] if word.startswith("--only=")]
    parts: dict[str, Callable[[], None]] = {
        name: lambda name=name: compare_table(name, only) for name in TABLES
    } | {"unfolding": unfolding, "first": first}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for name in names or parts:
            parts[name]()


if __name__ == "__main__":
    main()
