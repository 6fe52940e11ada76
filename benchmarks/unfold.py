"""Maximum variance unfolding: seconds of one thread and the proved gap; writes unfold.json.

python -m benchmarks.unfold [constraint:rows ...]
"""

import json
import sys
import time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import unbend
from benchmarks.output import results_of
from unbend.datasets import swiss_roll
from unbend.graphs import undirected
from unbend.mvu import graph_edges, unfold
from unbend.neighbors import PointSpace

RESULTS = results_of(__file__)
CASES = (
    ("inequality", 100),
    ("inequality", 400),
    ("inequality", 1600),
    ("inequality", 5000),
    ("soft", 100),
    ("soft", 400),
    ("soft", 2000),
    ("equality", 100),
    ("landmarks", 2000),
    ("landmarks", 20000),
)
# Landmark unfolding: the book's roll (figure 9.9), and one ten times as large.
LANDMARKS: dict[int, dict[str, Any]] = {
    2000: {"n_landmarks": 61, "landmarks": "random", "n_neighbors": 3},
    20000: {"n_landmarks": 20},
}
NEIGHBORS = 5


def connected_roll(n: int) -> Any:
    """Edges of the first roll, by seed, whose graph of five neighbours is in one piece."""
    for seed in range(1000):
        points = swiss_roll(n, random_state=seed).points
        graph = undirected(PointSpace(points).nearest(NEIGHBORS))
        if graph.components.max() == 0:
            return graph_edges(graph.lengths)[0]
    raise RuntimeError(f"no roll of {n} points is connected")


def measure(constraint: Any, n: int) -> dict[str, Any]:
    """Unfold one roll."""
    edges = connected_roll(n)
    start = time.process_time()
    with threadpool_limits(limits=1):
        found = unfold(edges, constraint)
    return {
        "constraint": constraint,
        "rows": n,
        "edges": edges.m,
        "cpu_seconds": round(time.process_time() - start, 2),
        "gap": float(f"{found.certificate.gap:.2e}"),
        "gradient": float(f"{found.gradient:.2e}"),
        "edge_residual": float(f"{found.residual:.2e}"),
        "rank": found.rank,
        "steps": found.steps,
        "solver": found.solver,
        "eigenvalues": [float(f"{value:.5g}") for value in found.eigenvalues[:4]],
    }


def measure_landmarks(n: int) -> dict[str, Any]:
    """Unfold one roll by landmarks."""
    roll = swiss_roll(n, random_state=0)
    estimator = unbend.LandmarkMVU(**LANDMARKS[n], random_state=0)
    start = time.process_time()
    with threadpool_limits(limits=1):
        estimator.fit(roll.points)
    return {
        "constraint": "landmarks",
        "rows": n,
        **LANDMARKS[n],
        "cpu_seconds": round(time.process_time() - start, 2),
        "gap": float(f"{estimator.gap_:.2e}"),
        "procrustes": float(f"{unbend.quality.procrustes(roll.chart, estimator.embedding_):.2e}"),
    }


def main(arguments: list[str]) -> None:
    """Measure the cases asked for, or all; keep the others' results."""
    wanted = [tuple(argument.split(":")) for argument in arguments]
    cases = [(name, int(n)) for name, n in wanted] if wanted else list(CASES)
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    for constraint, n in cases:
        row = measure_landmarks(n) if constraint == "landmarks" else measure(constraint, n)
        print(row, flush=True)
        known = [old for old in known if (old["constraint"], old["rows"]) != (constraint, n)]
        known = sorted([*known, row], key=lambda one: (one["constraint"], one["rows"]))
        RESULTS.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main(sys.argv[1:])
