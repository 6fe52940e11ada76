"""Advice on real data: agreement of the suggested picture with labels or pose, and of all methods'.

python -m benchmarks.advice_real

Digits, the ORL faces, cells (pbmc68k_reduced) and turning objects: a letter, a rabbit turned once
around and a head under a moving light, each in two coordinates. Labels: share of rows whose class
is that of most of their five nearest others. Pose: R² of the angles from the five nearest others,
on full turns as points of the circle. Writes advice_real.json, which a later run goes on with;
faces and cells are downloaded by pip.
"""

import io
import json
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import KDTree
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

import unbend
from benchmarks.recognition import CACHE, Array, faces

RESULTS = Path(__file__).with_name("advice_real.json")
METHODS = (
    "PCA",
    "MetricMDS",
    "Isomap",
    "LLE",
    "LTSA",
    "HessianLLE",
    "LaplacianEigenmaps",
    "DiffusionMaps",
    "NeighborEmbedding",
)
NEAREST = 5


def cells() -> tuple[Array, Array]:
    """Principal features of 700 blood cells, and their types."""
    import h5py

    folder = CACHE.parent / "scanpy"
    if not list(folder.glob("scanpy*.whl")):
        fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "scanpy"]
        subprocess.run([*fetch, "-d", str(folder)], check=True)
    with zipfile.ZipFile(next(folder.glob("scanpy*.whl"))) as wheel:
        name = next(one for one in wheel.namelist() if one.endswith("pbmc68k_reduced.h5ad"))
        stored = io.BytesIO(wheel.read(name))
    with h5py.File(stored) as table:
        rows = np.asarray(table["X"][:], dtype=float)
        labels = table["obs"]
        types = labels["bulk_labels"]
        codes = types["codes"][:] if hasattr(types, "keys") else types[:]
        return rows, np.asarray(codes)


def letters() -> tuple[Array, Array]:
    """Pictures of a turning letter, and their angles."""
    found = unbend.datasets.rotated_pictures(400, random_state=0)
    return np.asarray(found.points), np.radians(found.chart[:, 0])


def rabbit() -> tuple[Array, Array]:
    """Pictures of a rabbit turned once around, and its angles."""
    found = unbend.datasets.turning_circle(400, shape="rabbit", size=32, random_state=0)
    return np.asarray(found.points), np.radians(found.chart[:, 0])


def head() -> tuple[Array, Array]:
    """Pictures of a turning and nodding head under a moving light, and the three angles."""
    found = unbend.datasets.turning_object(698, size=32, random_state=0)
    return np.asarray(found.points), np.asarray(found.chart, dtype=float)


def agreement(embedding: Array, truth: Array) -> float:
    """Agreement of rows with their nearest others."""
    near = KDTree(embedding).query(embedding, NEAREST + 1)[1][:, 1:]
    if truth.dtype.kind == "f":
        pose = np.column_stack((np.cos(truth), np.sin(truth))) if truth.ndim == 1 else truth
        pose = (pose - pose.mean(axis=0)) / pose.std(axis=0)
        return float(1 - np.square(pose - pose[near].mean(axis=1)).mean())
    classes = np.unique(truth, return_inverse=True)[1]
    votes = np.apply_along_axis(np.bincount, 1, classes[near], minlength=classes.max() + 1)
    return float(np.mean(votes.argmax(axis=1) == classes))


DATA: dict[str, Callable[[], tuple[Array, Array]]] = {
    "digits": lambda: load_digits(return_X_y=True),
    "letters": letters,
    "rabbit": rabbit,
    "head": head,
    "faces": faces,
    "cells": cells,
}


def measure(rows: Array, truth: Array) -> dict[str, Any]:
    """Agreement of the suggested picture and of every method."""
    rows = np.ascontiguousarray(rows, dtype=float)
    suggestion = unbend.suggest(rows)
    scores = {}
    for name in METHODS:
        try:
            embedding = np.asarray(getattr(unbend, name)(n_components=2).fit(rows).embedding_)
            scores[name] = round(agreement(embedding, truth), 4)
        except ValueError as error:
            print(name, error)
    own = np.asarray(suggestion.pipeline.fit_transform(rows), dtype=float)
    return {
        "rows": list(rows.shape),
        "suggested": " ".join(str(suggestion.pipeline).split()),
        "dimension": suggestion.findings.verdict,
        "agreement": round(agreement(own, truth), 4),
        "methods": scores,
    }


def main() -> None:
    """Measure the data that are missing."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name, load in DATA.items():
        if name not in results:
            results[name] = measure(*load())
            RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        print(name, json.dumps(results[name]), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        main()
