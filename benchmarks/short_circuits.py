"""Short circuits: `python -m benchmarks.short_circuits [--quick] [calibration | … | harmless]`.

Sheets over plane and space curves, with their charts, turned into 3 to 30 dimensions; the curves
are split into families for calibration and for reporting, and seeds differ too. A true short
circuit is an edge whose ends are more than three times as far apart in the chart as in space; a
false removal is a removed edge where that ratio is below one and a half, or any on data without
sheets near each other.

The parts "calibration" and "reporting" inject 1 to 10 edges into the graph of
ten neighbours: recall, precision, and the errors of six methods (one less the worse R² of the chart
on the embedding) on five graphs: before edges are injected ("own"), without its own short circuits
either ("without"), with all ("with"), after removal ("removed"), and with exactly the true ones
removed ("true removed"), which no search can do better. "rolls": the Swiss roll sampled by
parameter over 60 seeds, whose own neighbourhoods jump. "harmless": removals on data without short
circuits. "cost": CPU time of the search over that of LTSA. Written to short_circuits.json, with
--quick to results-quick-short_circuits.json.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import unbend
from benchmarks.output import results_of
from unbend.graphs import components, find_short_circuits, undirected
from unbend.graphs.short_circuits import judge_edges
from unbend.neighbors import Neighbors, PointSpace

Array = NDArray[Any]
Curve = Callable[[Array], Array]
K, TRUE, HARMLESS = 10, 3.0, 1.5
METHODS = ("LTSA", "HessianLLE", "Isomap", "LLE", "LaplacianEigenmaps", "DiffusionMaps")
ISOMETRIC = METHODS[:3]
STATES = ("own", "without", "with", "removed", "true removed")
# Seeds of each half; those of the reporting half were drawn after the last constant was set.
SEEDS = {"calibration": range(5), "reporting": range(40000, 40005)}
# Errors below are not told apart.
FLOOR = 1e-4
RESULTS = results_of(__file__)
QUICK = RESULTS.with_name("results-quick-short_circuits.json")


@dataclass(frozen=True)
class Sheet:
    """A curve of the parameter in (0, 1), widened by `width` in d − 1 directions of its own."""

    curve: Curve
    width: float
    d: int = 2

    def sample(self, n: int, rng: np.random.Generator, columns: int) -> tuple[Array, Array]:
        """Points turned into `columns` dimensions at least, and their isometric chart.

        Density along the curve falls linearly, by a random factor of up to four.
        """
        grid = np.linspace(0, 1, 20001)
        path = self.curve(grid)
        arc = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1)))
        fall, u = rng.uniform(1, 4), rng.random(n)
        share = (np.sqrt(1 + u * (fall**2 - 1)) - 1) / (fall - 1)
        along = share * arc[-1]
        sides = self.width * arc[-1] * rng.random((n, self.d - 1))
        at = np.interp(along, arc, grid)
        points = np.column_stack((self.curve(at), sides))
        return turn(points, columns, rng), np.column_stack((along, sides))


def turn(points: Array, columns: int, rng: np.random.Generator) -> Array:
    """Rotate points at random into at least as many columns as they have."""
    size = max(columns, points.shape[1])
    frame = np.linalg.qr(rng.normal(size=(size, size)))[0]
    return np.asarray(points @ frame[: points.shape[1]])


def spiral(turns: float, power: float = 1.0, inner: float = 1.0) -> Curve:
    """Spiral whose radius grows with a power of the angle."""

    def curve(t: Array) -> Array:
        angle = 2 * np.pi * turns * t
        radius = (inner + angle) ** power
        return np.column_stack((radius * np.cos(angle), radius * np.sin(angle)))

    return curve


def logarithmic(t: Array) -> Array:
    """Logarithmic spiral of nearly two turns, two and a half times as wide after each."""
    angle = 3.5 * np.pi * t
    radius = np.exp(angle * np.log(2.5) / (2 * np.pi))
    return np.column_stack((radius * np.cos(angle), radius * np.sin(angle)))


def double_spiral(t: Array) -> Array:
    """Two spirals that meet at their centres, each of a turn and a half."""
    signed = 3 * np.pi * (2 * t - 1)
    angle = np.abs(signed)
    return np.column_stack((signed * np.cos(angle), signed * np.sin(angle)))


def clothoid(t: Array) -> Array:
    """Euler's spiral, whose curvature grows with its length, at both ends."""
    grid = np.linspace(-1, 1, 40001)
    phase = 8.0 * grid**2
    steps = np.column_stack((np.cos(phase), np.sin(phase))) * (grid[1] - grid[0])
    path = np.cumsum(steps, axis=0)
    return np.column_stack([np.interp(2 * t - 1, grid, column) for column in path.T])


def meander(folds: int, arm: float, radius: float) -> Curve:
    """Straight arms joined by half circles."""
    grid = np.linspace(0, 1, 40001)
    bend = np.pi * radius
    arc = grid * ((folds + 1) * arm + folds * bend)
    number, inside = np.divmod(arc, arm + bend)
    turned = np.clip((inside - arm) / radius, 0, np.pi)
    heading = np.where(number % 2 == 0, turned, np.pi - turned)
    steps = np.column_stack((np.cos(heading), np.sin(heading))) * arc[1]
    path = np.cumsum(steps, axis=0)
    return lambda t: np.column_stack([np.interp(t, grid, column) for column in path.T])


def s_shape(t: Array) -> Array:
    """Two arcs of 300 degrees, one after the other, bent opposite ways."""
    angle = np.radians(600) * (t - 0.5)
    return np.column_stack((np.sin(angle), np.sign(angle) * (np.cos(angle) - 1)))


def conical_helix(t: Array) -> Array:
    """Coils above each other on a cone."""
    angle = 8 * np.pi * t
    radius = 1 + 2 * t
    return np.column_stack((radius * np.cos(angle), radius * np.sin(angle), 4 * t))


def flat_coil(t: Array) -> Array:
    """Coils around a ring."""
    angle = 2 * np.pi * 0.97 * t
    radius = 3 + np.cos(12 * angle)
    return np.column_stack((radius * np.cos(angle), radius * np.sin(angle), np.sin(12 * angle)))


SHEETS = {
    "calibration": {
        "spiral": Sheet(spiral(1.5, inner=4.7), 0.2),
        "s shape": Sheet(s_shape, 0.3),
        "hairpin": Sheet(meander(1, 4.0, 0.4), 0.2),
        "spiral curve": Sheet(spiral(3), 0.0, 1),
        "rolled 3-cube": Sheet(spiral(1.5, inner=4.7), 0.1, 3),
        "spiral from its centre": Sheet(spiral(2.5, inner=0.0), 0.12),
        "tight meander": Sheet(meander(3, 2.0, 0.25), 0.12),
    },
    "reporting": {
        "logarithmic spiral": Sheet(logarithmic, 0.15),
        "double spiral": Sheet(double_spiral, 0.12),
        "clothoid": Sheet(clothoid, 0.1),
        "meander": Sheet(meander(4, 2.5, 0.5), 0.12),
        "widening spiral": Sheet(spiral(2, 1.5, 2.0), 0.1),
        "conical helix": Sheet(conical_helix, 0.0, 1),
        "flat coil": Sheet(flat_coil, 0.0, 1),
        "meander of 3-cubes": Sheet(meander(2, 3.0, 0.6), 0.12, 3),
    },
}


def stretch(chart: Array, first: Array, second: Array, lengths: Array) -> Array:
    """Distance of the ends of edges in the chart over that in space."""
    return np.asarray(np.linalg.norm(chart[first] - chart[second], axis=1) / lengths)


def pairs_of(neighbors: Neighbors) -> tuple[Array, Array, Array]:
    """Undirected edges, each once: both ends and lengths."""
    edges = undirected(neighbors).lengths.tocoo()
    once = edges.row < edges.col
    return edges.row[once], edges.col[once], edges.data[once]


def inject(
    points: Array, chart: Array, neighbors: Neighbors, count: int, rng: np.random.Generator
) -> Neighbors | None:
    """Add edges from random points to one of the ten nearest across; None where there are none."""
    rows: list[int] = []
    columns: list[int] = []
    for row in rng.permutation(len(points)):
        away = np.linalg.norm(points - points[row], axis=1)
        apart = np.linalg.norm(chart - chart[row], axis=1) > TRUE * away
        across = np.flatnonzero(apart & (away > 0))
        if len(across) and len(rows) < count:
            near = across[np.argsort(away[across])[:10]]
            rows.append(int(row))
            columns.append(int(rng.choice(near)))
    if len(rows) < count:
        return None
    first, second = np.array(rows), np.array(columns)
    lengths = np.linalg.norm(points[first] - points[second], axis=1)
    both = np.concatenate((first, second)), np.concatenate((second, first))
    return neighbors.add_edges(*both, np.tile(lengths, 2))


def error(method: str, d: int, points: Array, chart: Array, neighbors: Neighbors) -> float:
    """One less the worse R² of the coordinates of the chart on the embedding of a graph."""
    model = getattr(unbend, method)(n_components=d, short_circuits="keep")
    try:
        found = model.fit(points, graph=neighbors.graph()).embedding_
    except ValueError:
        return 1.0
    design = np.column_stack((np.ones(len(found)), found))
    rest = chart - design @ np.linalg.lstsq(design, chart, rcond=None)[0]
    return float((np.square(rest).sum(0) / np.square(chart - chart.mean(0)).sum(0)).max())


def _draw(
    sheet: Sheet, seed: int
) -> tuple[Array, Array, Neighbors, Neighbors, Neighbors, int] | None:
    """Draw points, their chart, their graph, without jumps and with so many injected edges.

    None where the graph needs its jumps to connect.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(500, 1000)) if sheet.d == 2 else int(rng.integers(1000, 1600))
    columns, count = int(rng.integers(3, 31)), int(rng.integers(1, 11))
    points, chart = sheet.sample(n, rng, columns)
    own = PointSpace(points).nearest(K)
    clean = own.select(stretch(chart, own.rows, own.indices, own.distances) <= HARMLESS)
    graph = inject(points, chart, own, count, rng)
    if graph is None or components(clean.graph()).max() > 0:
        return None
    return points, chart, own, clean, graph, count


def injected_case(sheet: Sheet, seed: int) -> dict[str, Any] | None:
    """One graph with injected edges beside its own jumps; None where it needs these to connect."""
    drawn = _draw(sheet, seed)
    if drawn is None:
        return None
    points, chart, own, clean, graph, count = drawn
    found = find_short_circuits(points, sheet.d, graph)
    cut = stretch(chart, found.first, found.second, found.lengths)
    true = graph.select(stretch(chart, graph.rows, graph.indices, graph.distances) <= TRUE)
    states = dict(zip(STATES, (own, clean, graph, found.remove_from(graph), true), strict=True))
    return {
        "n": len(points),
        "columns": points.shape[1],
        "injected": count,
        "true": int((stretch(chart, *pairs_of(graph)) > TRUE).sum()),
        "caught": int((cut > TRUE).sum()),
        "false": int((cut < HARMLESS).sum()),
        "false_without": len(find_short_circuits(points, sheet.d, clean)),
        "undetermined": found.undetermined,
        "errors": {m: _errors(m, sheet.d, points, chart, states) for m in METHODS},
    }


def _errors(
    method: str, d: int, points: Array, chart: Array, states: dict[str, Neighbors]
) -> dict[str, float]:
    """Errors of a method on several graphs, equal ones fitted once."""
    known: dict[tuple[bytes, bytes], float] = {}
    errors = {}
    for name, state in states.items():
        key = state.indices.tobytes(), state.counts.tobytes()
        if key not in known:
            known[key] = error(method, d, points, chart, state)
        errors[name] = round(known[key], 6)
    return errors


def injected(families: dict[str, Sheet], seeds: range) -> dict[str, Any]:
    """All cases of some families, and what they come to."""
    cases: dict[str, list[dict[str, Any]]] = {}
    for family, (name, sheet) in enumerate(families.items()):
        drawn = (injected_case(sheet, 1000 * family + seed) for seed in seeds)
        cases[name] = [case for case in drawn if case is not None]
        print(name, len(cases[name]), flush=True)
    return {"summary": summarise(cases), "cases": cases}


def summarise(families: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Recall, precision, and how errors compare with those without short circuits."""
    cases = [case for each in families.values() for case in each]
    total, caught = (sum(case[name] for case in cases) for name in ("true", "caught"))
    false = sum(case["false"] for case in cases)
    summary: dict[str, Any] = {
        "cases": len(cases),
        "true": total,
        "recall": caught / max(total, 1),
        "false": false,
        "precision": caught / max(caught + false, 1),
        "false_without": sum(case["false_without"] for case in cases),
        "all_caught": float(np.mean([case["caught"] == case["true"] for case in cases])),
    }
    for method in METHODS:
        errors = [case["errors"][method] for case in cases]
        summary[method] = {
            "graphs": len(errors),
            "sound without": sum(e["without"] < 0.1 for e in errors),
            **{
                f"{state}, within twice {reference}": sum(
                    e[state] <= 2 * max(e[reference], FLOOR) for e in errors
                )
                for state, reference in (
                    ("with", "without"),
                    ("removed", "without"),
                    ("removed", "own"),
                    ("true removed", "without"),
                )
            },
        }
    return summary


def rolls(n: int, seeds: range) -> dict[str, Any]:
    """Count fits with an R² below 0.9 on rolls sampled by parameter, kept and removed."""
    found: dict[str, Any] = {}
    for method in ISOMETRIC:
        found[method] = {}
        for policy in ("keep", "remove"):
            worst = []
            for seed in seeds:
                roll = unbend.datasets.swiss_roll(n, sampling="parameter", random_state=seed)
                model = getattr(unbend, method)(n_neighbors=K, short_circuits=policy)
                flat = model.fit_transform(roll.points)
                parts = [unbend.quality.procrustes(c[:, None], flat, kind="affine")
                         for c in roll.chart.T]  # fmt: skip
                worst.append(1 - max(parts))
            failures = int(np.sum(np.array(worst) < 0.9))
            found[method][policy] = {"failures": failures, "worst_r2": sorted(worst)}
        print(n, method, {p: found[method][p]["failures"] for p in found[method]}, flush=True)
    return found


def harmless(n: int, rng: np.random.Generator) -> dict[str, tuple[Array, int]]:
    """Return data without short circuits: loops, holes, creases, clusters, real tables."""
    from sklearn.datasets import load_digits, load_wine

    angle, height = rng.uniform(0, 2 * np.pi, n), rng.uniform(-0.5, 0.5, n)
    ball = rng.normal(size=(n, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    tube, disc = rng.uniform(0, 2 * np.pi, n), rng.uniform(-1, 1, (4 * n, 2))
    holed = disc[(np.linalg.norm(disc, axis=1) < 1) & (np.linalg.norm(disc - 0.3, axis=1) > 0.3)]
    square, weights = rng.uniform(-1, 1, (n, 2)), rng.normal(size=(2, 6))
    ring = np.column_stack((np.cos(angle), np.sin(angle)))
    knot = [np.sin(angle) + 2 * np.sin(2 * angle), np.cos(angle) - 2 * np.cos(2 * angle)]
    dense = (np.sqrt(1 + rng.random(n) * 399) - 1) / 19
    centers = rng.normal(size=(6, 10)) * 3
    half = (1 + height * np.cos(angle / 2))[:, None] * ring
    spheroid = ball * [1, 1.5, 3]
    return {
        "cylinder": (np.column_stack((ring, 3 * height)), 2),
        "ellipsoid": (spheroid, 3),
        "torus": (
            np.column_stack(((2 + 0.8 * np.cos(tube))[:, None] * ring, 0.8 * np.sin(tube))),
            3,
        ),
        "Möbius strip": (np.column_stack((half, height * np.sin(angle / 2))), 3),
        "trefoil knot": (np.column_stack((*knot, -np.sin(3 * angle))), 2),
        "circle": (ring, 2),
        "disc with a hole": (np.column_stack((holed[:n], np.sin(2 * holed[:n, 0]))), 2),
        "smooth graph": (np.column_stack((square, 0.4 * np.sin(2 * square @ weights))), 2),
        "right-angled crease": (np.column_stack((square, np.abs(square[:, 0]))), 2),
        "density 20:1": (np.column_stack((dense, square[:, 0] / 4, np.sin(3 * dense))), 2),
        "clusters": (centers[rng.integers(6, size=n)] + rng.normal(size=(n, 10)), 2),
        "clusters on planes": (clusters_on_planes(n, rng), 2),
        "digits": (load_digits().data[rng.permutation(1797)[:n]], 2),
        "wine": (load_wine().data, 2),
        "turning pictures": (unbend.datasets.rotated_pictures(200, random_state=0).points, 2),
    }


def clusters_on_planes(n: int, rng: np.random.Generator) -> Array:
    """Five flat patches of random directions, some near each other."""
    label, flat = rng.integers(5, size=n), rng.uniform(-1, 1, (n, 2))
    frames = np.linalg.qr(rng.normal(size=(5, 5, 5)))[0][:, :2]
    return np.asarray(np.einsum("nd,ndc->nc", flat, frames[label]) + rng.normal(size=(5, 5))[label])


def removals(n: int, seeds: range) -> dict[str, Any]:
    """Edges removed from data without short circuits, for each draw."""
    found: dict[str, Any] = {}
    for seed in seeds:
        for name, (points, d) in harmless(n, np.random.default_rng(5000 + seed)).items():
            jumps = find_short_circuits(np.asarray(points, dtype=float), d, K)
            entry = found.setdefault(name, {"edges": 0, "removed": [], "undetermined": 0})
            entry["edges"] += jumps.n_edges
            entry["removed"].append(len(jumps))
            entry["undetermined"] += bool(jumps.undetermined)
    print({name: sum(entry["removed"]) for name, entry in found.items()}, flush=True)
    return found


def cost(sizes: tuple[int, ...]) -> dict[str, float]:
    """CPU time of the search over that of LTSA, least of four each in turns, on Swiss rolls."""
    ratios = {}
    for n, columns in product(sizes, (3, 30)):
        roll = unbend.datasets.swiss_roll(n, random_state=0).points
        points = turn(roll, columns, np.random.default_rng(0))
        space = PointSpace(np.ascontiguousarray(points))
        neighbors, seconds = space.nearest(K), np.zeros((4, 3))
        for row in seconds:
            row[0] = time.process_time()
            judge_edges(space, neighbors, 2)
            row[1] = time.process_time()
            unbend.LTSA(n_neighbors=K, n_jobs=1).fit(points)
            row[2] = time.process_time()
        search, fit = np.diff(seconds, axis=1).min(axis=0)
        ratios[f"{n} x {columns}"] = round(search / fit, 3)
    print(ratios, flush=True)
    return ratios


def main(quick: bool, parts: list[str]) -> None:
    """Measure some parts, or all, and write the results beside those of the others."""
    warnings.filterwarnings("ignore")
    path = QUICK if quick else RESULTS
    results: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    seeds = range(6 if quick else 60)
    for part in parts or [*SHEETS, "rolls", "cost", "harmless"]:
        if part in SHEETS:
            results[part] = injected(SHEETS[part], SEEDS[part][: 2 if quick else None])
            print(part, json.dumps(results[part]["summary"], indent=1), flush=True)
        elif part == "rolls":
            results[part] = {str(n): rolls(n, seeds) for n in (500, 1000)}
        elif part == "cost":
            results[part] = cost((2000,) if quick else (2000, 20000))
        else:
            draws = range(2 if quick else 4)
            results[part] = {str(n): removals(n, draws) for n in (600, 1500)}
        path.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main("--quick" in arguments, [each for each in arguments if each != "--quick"])
