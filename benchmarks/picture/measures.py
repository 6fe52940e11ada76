"""One fit in this process: CPU seconds, memory, and how good the picture is."""

import time
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier

import unbend
from benchmarks.data import digits as mnist
from benchmarks.measure import cpu_seconds, forget_peak, memory_mb
from benchmarks.picture.cases import (
    CASES,
    CONTENDERS,
    DATA,
    JUDGED_BY_DIVERGENCE,
    PLACEMENT,
    Array,
    case_affinities,
)
from unbend.layout.descent import divergence

JUDGED, NEIGHBORS, VOTERS = 5000, 12, 10
NEW_ROWS = 10_000
# UMAP searches and so compiles otherwise from 4096 rows on.
WARM_UP = 4500


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
    if contender in JUDGED_BY_DIVERGENCE:
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
    if contender in JUDGED_BY_DIVERGENCE:
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
