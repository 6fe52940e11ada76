"""Every way to fit that changes what a model holds: a name, an estimator, its data and new rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import unbend
from tests.conformance.cases import CHOICES, CLASSES, NEIGHBORHOOD, curve
from unbend.eigen import Dense, Lanczos, ShiftInvert

# Words that fits to these rows refuse.
REFUSED = {("RandomProjection", "auto")} | {
    (name, "shift_invert")
    for name in ("KernelPCA", "ClassicalMDS", "Isomap", "LandmarkIsomap", "MVU", "LandmarkMVU")
}
POINTS = curve(90)
NEW = curve(30, seed=1)
CLUSTERING = unbend.SpectralClustering
EVERYONE = [*CLASSES, CLUSTERING]
GRAPHS = [*NEIGHBORHOOD, CLUSTERING]


@dataclass(frozen=True)
class Case:
    """One fit."""

    name: str
    method: Any
    options: dict[str, Any]
    X: Any = field(default_factory=lambda: POINTS)
    new: Any = field(default_factory=lambda: NEW)
    fitting: dict[str, Any] = field(default_factory=dict)

    def fit(self) -> Any:
        return self.method(**self.options).fit(self.X, **self.fitting)


def given(method: Any) -> dict[str, Any]:
    """Options that keep a method quiet on few rows."""
    return {"n_clusters": 3} if method is CLUSTERING else {}


def graph(points: Any, k: int = 12) -> csr_array:
    """Distances to the nearest rows, both ways; all others are not measured."""
    distances = cdist(points, points)
    near = distances <= np.sort(distances, axis=1)[:, [k]]
    return csr_array(np.where(near | near.T, distances, 0.0))


def apart() -> Any:
    """Three clouds, each a component of its graph."""
    return np.concatenate([curve(n, seed=n) + 50.0 * n for n in (40, 60, 80)])


def by_words() -> Iterator[Case]:
    for method, parameter, word in CHOICES:
        if (method.__name__, word) not in REFUSED and word != "error":
            options = {parameter: word}
            if word == "fixed_point" or method.__name__ == "KernelPCA":
                options.setdefault("gamma", 0.1)
            yield Case(f"{method.__name__}-{parameter}-{word}", method, options)


def by_data() -> Iterator[Case]:
    wide = np.random.default_rng(0).standard_normal((90, 20)) * np.geomspace(1, 0.01, 20)
    for method in EVERYONE:
        name, options = method.__name__, given(method)
        yield Case(f"{name}-single", method, options, POINTS.astype(np.float32))
        yield Case(f"{name}-wide", method, options, wide, wide[:9] + 0.01)
        yield Case(f"{name}-one-coordinate", method, {**options} or {"n_components": 1})


def by_metric() -> Iterator[Case]:
    distances, to_new = cdist(POINTS, POINTS), cdist(NEW, POINTS)
    weights = {"w": np.array([1.0, 2.0, 0.5]), "p": 3}
    for method in [*GRAPHS, unbend.ClassicalMDS]:
        name, options = method.__name__, given(method)
        precomputed = {**options, "metric": "precomputed"}
        minkowski = {**options, "metric": "minkowski", "metric_params": weights}
        yield Case(f"{name}-precomputed", method, precomputed, distances, to_new)
        yield Case(f"{name}-minkowski", method, minkowski)


def by_neighborhood() -> Iterator[Case]:
    twice = np.concatenate((POINTS, POINTS[::3]))
    counts = np.arange(90) % 5 + 8
    for method in GRAPHS:
        name, options = method.__name__, given(method)
        yield Case(f"{name}-twice", method, options, twice)
        yield Case(f"{name}-counts", method, {**options, "n_neighbors": counts})
        yield Case(f"{name}-list", method, {**options, "n_neighbors": counts.tolist()})
        ball = {**options, "n_neighbors": None, "radius": np.float64(2.0)}
        yield Case(f"{name}-radius", method, ball)
        yield Case(f"{name}-graph", method, options, fitting={"graph": graph(POINTS)})
        for policy in ("bridge", "largest", "components"):
            connected = {**options, "connect": policy, "n_neighbors": 8}
            yield Case(f"{name}-{policy}", method, connected, apart(), apart()[::9] + 0.1)


def by_graph() -> Iterator[Case]:
    """Sparse distances: blocks need pairs that no graph has, so those methods are left out."""
    rows = np.where(cdist(NEW, POINTS) < 1.5, cdist(NEW, POINTS), 0.0)
    for method in GRAPHS:
        if not getattr(method, "local_blocks", False):
            options = {**given(method), "metric": "precomputed", "connect": "components"}
            X, new = graph(POINTS), csr_array(rows)
            yield Case(f"{method.__name__}-sparse", method, options, X, new)


def by_randomness() -> Iterator[Case]:
    states: dict[str, Callable[[], Any]] = {
        "seed": lambda: 7,
        "generator": lambda: np.random.default_rng(7),
        "philox": lambda: np.random.Generator(np.random.Philox(7)),
        "mersenne": lambda: np.random.Generator(np.random.MT19937(7)),
        "legacy": lambda: np.random.RandomState(7),
    }
    for method in EVERYONE:
        for word, state in states.items():
            options = {**given(method), "random_state": state()}
            yield Case(f"{method.__name__}-{word}", method, options)
        if "n_jobs" in method().get_params():
            for jobs in (2, -1):
                options = {**given(method), "n_jobs": jobs}
                yield Case(f"{method.__name__}-jobs-{jobs}", method, options)


def by_value() -> Iterator[Case]:
    similarities, to_new = POINTS @ POINTS.T, NEW @ POINTS.T
    mds, kernel, isomap = unbend.ClassicalMDS, unbend.KernelPCA, unbend.Isomap
    cityblock = cdist(POINTS, POINTS, "cityblock")
    yield Case("mds-kernel", mds, {"metric": "kernel"}, similarities, to_new)
    lifted = {"metric": "precomputed", "repair": "spectrum_shift"}
    yield Case("mds-lifted", mds, lifted, cityblock, cdist(NEW, POINTS, "cityblock"))
    yield Case("kernel-given", kernel, {"kernel": "precomputed"}, similarities, to_new)
    yield Case("isomap-float", isomap, {"precision": "single"})
    for solver in (Dense(), Lanczos(tol=1e-9), ShiftInvert(depth=3)):
        method = unbend.LTSA if isinstance(solver, ShiftInvert) else isomap
        yield Case(f"solver-{type(solver).__name__}", method, {"eigen_solver": solver})
    landmarks = {"n_landmarks": np.int64(20), "landmarks": "random"}
    yield Case("landmarks", unbend.LandmarkIsomap, landmarks)
    labels = np.arange(90) % 2
    yield Case("classes", unbend.SupervisedLLE, {"t": np.float32(0.3)}, fitting={"y": labels})
    rounded = {"n_clusters": 3, "assign_labels": "discretize", "method": "shi_malik"}
    yield Case("rounded", CLUSTERING, rounded)
    many = np.random.default_rng(0).standard_normal((90, 200))
    counted = {"n_components": "auto", "eps": 0.9}
    yield Case("projection-auto", unbend.RandomProjection, counted, many, many[:9])
    infinite = {"bandwidth": np.inf, "alpha": 0.5}
    yield Case("infinite", unbend.DiffusionMaps, infinite)
    sparse = csr_array(np.where(POINTS > 0, POINTS, 0.0))
    yield Case("sparse-pca", unbend.PCA, {"svd_solver": "arpack"}, sparse, sparse[:9])
    yield Case("sparse-projection", unbend.RandomProjection, {"kind": "sparse"}, sparse, sparse[:9])


def by_classes() -> Iterator[Case]:
    recognizer, y = unbend.SubspaceRecognizer, np.arange(90) // 15
    names = np.array([f"class {number}" for number in y])
    for name, options, labels in (
        ("pca", {"n_components": 2}, y),
        ("words", {"unknown_label": "none"}, names),
        ("discriminant", {"discriminant": True, "metric": "manhattan"}, y / 1),
        ("projection", {"subspace": "random_projection", "n_components": 2}, y),
        ("thresholds", {"example_threshold": 1.0, "subspace_threshold": 2.0}, y),
    ):
        yield Case(f"SubspaceRecognizer-{name}", recognizer, options, fitting={"y": labels})


def by_several() -> Iterator[Case]:
    distances = np.stack([cdist(POINTS, POINTS, metric) for metric in ("euclidean", "cityblock")])
    new = np.stack([cdist(NEW, POINTS, metric) for metric in ("euclidean", "cityblock")])
    for transformation in ("ratio", "interval", "monotone"):
        options = {"transformation": transformation}
        yield Case(f"replicated-{transformation}", unbend.ReplicatedMDS, options, distances, new)
    yield Case("weighted", unbend.WeightedMDS, {}, distances, new)


CASES = [
    case
    for cases in (
        by_words, by_data, by_metric, by_neighborhood, by_graph, by_randomness, by_value,
        by_classes, by_several,
    )
    for case in cases()
]  # fmt: skip


def representative() -> set[str]:
    """Name the first case of every kind, and the first of every method."""
    seen: set[Any] = set()
    names = set()
    for case in CASES:
        of, _, kind = case.name.partition("-")
        keys = {case.method, kind or of} if of == case.method.__name__ else {case.name}
        if keys - seen:
            names.add(case.name)
        seen |= keys
    return names
