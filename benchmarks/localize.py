"""Sensor networks: error after refinement against refining from the truth; writes localize.json.

python -m benchmarks.localize [book | shapes]
"""

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from tests.sensors.networks import network, places, rigid_error
from threadpoolctl import threadpool_limits

from unbend.graphs import components
from unbend.sensors import Springs, localize
from unbend.sensors.springs import relative_weights
from unbend.sensors.starts import reweighted, start
from unbend.unfold import of_graph

RESULTS = Path(__file__).with_suffix(".json")
# Sensors, neighbours, noise and layouts: the book's network, and small ones of other shapes.
BOOK = (1055, 18.0, 0.1, 10)
SHAPES = (200, 10.0, 0.1, 5)


def measure(shape: str, how: str, n: int, neighbors: float, noise: float, seed: int) -> Any:
    """Place the largest component of one layout."""
    points = places(n, seed, shape)
    graph = network(points, neighbors, noise, seed)
    label = components(graph)
    rows = np.flatnonzero(label == np.argmax(np.bincount(label)))
    points, graph = points[rows], graph[rows][:, rows]
    edges, _ = of_graph(graph)
    springs = Springs(edges, relative_weights(np.sqrt(edges.squares)), 2)
    truth = _error(points, springs, points)
    first = start(edges, how, 2, np.random.default_rng(0))[:, :2]  # type: ignore[arg-type]
    plain = _error(points, springs, first)
    began = time.process_time()
    found = localize(graph, start=how)
    return {
        "shape": shape,
        "start": how,
        "layout": seed,
        "sensors": len(rows),
        "neighbors": round(2 * edges.m / edges.n, 1),
        "from_truth": round(truth, 5),
        "start_error": round(rigid_error(points, first), 5),
        "plain_refinement": round(plain, 5),
        "error": round(rigid_error(points, found.positions), 5),
        "excess": round(rigid_error(points, found.positions) / truth - 1.0, 4),
        "expected_error": round(found.expected_error, 5),
        "cpu_seconds": round(time.process_time() - began, 2),
    }


def _error(points: Any, springs: Springs, first: Any) -> float:
    """Refine in the plane alone."""
    return rigid_error(points, reweighted(springs, springs.refined(first))[1].positions)


def main(arguments: list[str]) -> None:
    """Measure what is asked for, and keep the other results."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    warnings.simplefilter("ignore")
    cases = {
        "book": [("square", "isomap", *BOOK[:3], seed) for seed in range(BOOK[3])],
        "shapes": [
            (shape, how, *SHAPES[:3], seed)
            for seed in range(SHAPES[3])
            for shape in ("square", "C", "hole")
            for how in ("isomap", "mvu")
        ],
    }
    for name in arguments or cases:
        known[name] = []
        for case in cases[name]:
            with threadpool_limits(limits=1):
                known[name].append(measure(*case))
            print(known[name][-1], flush=True)
            RESULTS.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
