"""Sensor networks: error after refinement against refining from the truth; writes localize.json.

python -m benchmarks.localize [book | shapes] [--quick]

`--quick` places one layout of 100 sensors.
"""

import json
import sys
import time
import warnings
from typing import Any

import numpy as np
from tests.localization.networks import network, places, rigid_error
from threadpoolctl import threadpool_limits

from benchmarks.output import results_of
from unbend.graphs import components
from unbend.localization import Springs, localize
from unbend.localization.multistart import reweight
from unbend.localization.springs import relative_weights
from unbend.mvu import graph_edges

RESULTS = results_of(__file__)
# Sensors, neighbours, noise and layouts: the book's network, and small ones of other shapes.
BOOK = (1055, 18.0, 0.1, 10)
SHAPES = (300, 16.0, 0.1, 5)
QUICK = (100, 16.0, 0.1, 1)


def measure(
    shape: str, starts: tuple[str, ...], n: int, neighbors: float, noise: float, seed: int
) -> Any:
    """Place the largest component of one layout, from every start and from the truth."""
    points = places(n, seed, shape)
    graph = network(points, neighbors, noise, seed)
    label = components(graph)
    rows = np.flatnonzero(label == np.argmax(np.bincount(label)))
    points, graph = points[rows], graph[rows][:, rows]
    edges, _ = graph_edges(graph)
    springs = Springs(edges, relative_weights(np.sqrt(edges.squares)), 2)
    _, refine = reweight(springs, springs.refine(points))
    truth = rigid_error(points, refine.positions)
    facts: dict[str, Any] = {
        "shape": shape,
        "layout": seed,
        "sensors": len(rows),
        "neighbors": round(2 * edges.m / edges.n, 1),
        "truth": {"error": round(truth, 5), "stress": round(refine.stress, 4)},
    }
    for how in starts:
        began = time.process_time()
        found = localize(graph, start=how)
        error = rigid_error(points, found.positions)
        facts[how] = {
            "error": round(error, 5),
            "excess": round(error / truth - 1.0, 4),
            "stress": round(found.stress, 4),
            "expected_error": round(found.expected_error, 5),
            "ambiguity": round(float(np.sqrt(np.square(found.ambiguity).mean())), 5),
            "kept": found.start[0],
            "cpu_seconds": round(time.process_time() - began, 2),
        }
    return facts


def main(arguments: list[str]) -> None:
    """Measure what is asked for, and keep the other results."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    warnings.simplefilter("ignore")
    quick = "--quick" in arguments
    book, shapes = (QUICK, QUICK) if quick else (BOOK, SHAPES)
    cases = {
        "book": [("square", ("auto",), *book[:3], seed) for seed in range(book[3])],
        "shapes": [
            (shape, ("isomap", "patches", "mvu", "auto", "best"), *shapes[:3], seed)
            for shape in ("square", "C", "hole")
            for seed in range(shapes[3])
        ],
    }
    for name in [word for word in arguments if word != "--quick"] or cases:
        known[name] = []
        for case in cases[name]:
            with threadpool_limits(limits=1):
                known[name].append(measure(*case))
            print(known[name][-1], flush=True)
            RESULTS.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
