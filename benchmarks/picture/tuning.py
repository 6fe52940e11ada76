"""Choice of learning rates, and the ways to sum the repulsion."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

import unbend
from benchmarks.data import digits as mnist
from benchmarks.data import images
from benchmarks.picture.cases import Array
from unbend.layout import descent
from unbend.layout.repulsion import MeshRepulsion, exact_repulsion, tree_repulsion


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


def tune() -> dict[str, Any]:
    """Measure by how much the objective of each learning rate exceeds the lowest, in per cent."""
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
    return excess


def objective(model: Any) -> float:
    """Divergence of the affinities to the power of the exaggeration, the one that is minimised.

    KL(P^ρ | Q) = (ρ − 1) Σ p log(1 + d²) + KL(P | Q), up to a constant.
    """
    y = model.embedding_.astype(np.float32)
    pull = descent.attractive_energy(model.affinities_, y)
    return float((model.exaggeration - 1) * pull + model.kl_divergence_)
