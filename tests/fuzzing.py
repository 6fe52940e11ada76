"""Random fits under laws: `python -m tests.fuzzing --seconds 600 --seed 0`, or `--cases 10000`.

A case is data, an estimator and its parameters, all drawn from its number. A fit may be refused by
a sentence; otherwise these laws hold.

- Coordinates are finite, one row each, and duplicates have equal ones.
- A second fit, a fit with two threads, and a saved and reloaded model give the same bits.
- New samples get the same bits alone as together; fitted rows get their own coordinates, to 1e-6 of
  the largest.
- Rows in another order get the same coordinates in that order, and rows times a power of two the
  same coordinates, or those times that power, up to a rigid motion. Methods that draw rows by
  their numbers, and descents that end in one of several minima, need not keep these (`ORDERED`,
  `MINIMA`).

A failure is reported with the fewest rows that still show it.
"""

import argparse
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform

import unbend
from unbend.memory import NotEnoughMemory
from unbend.registry import CLASSIFIERS, CLUSTERINGS, METHODS, SEVERAL
from unbend.validation.parameters import FLAG, Choice, parameters

REFUSALS = (ValueError, TypeError, NotEnoughMemory)
# Words that change what X is.
OTHER_INPUT = ("precomputed", "kernel", "affinity")
# Methods that take tenths of a second on sixty rows: drawn less often, and with fewer rows.
SLOW = ("MVU", "LandmarkMVU", "NeighborEmbedding")
# What depends on the numbers of rows, and why.
ORDERED = {
    "RandomProjection": "",
    "LandmarkMDS": "the first landmark is a row by its number",
    "LandmarkIsomap": "the first landmark is a row by its number",
    "LandmarkMVU": "the first landmark is a row by its number",
}
# Descents end in one of several minima: another order of sums may lead to another one.
MINIMA = ("MetricMDS", "NonmetricMDS", "NeighborEmbedding", "MVU", "LandmarkMVU")
# Kernels that depend on the unit of X: their default γ is one over squares.
WITH_UNITS = ("laplacian", "poly", "sigmoid")
# Disagreement of two fits, relative to the size, that is a broken law.
AGREES = 1e-4


def draw_rows(rng: np.random.Generator, most: int = 70) -> np.ndarray:
    """Draw a table: a curve, noise, a lattice or clusters, perhaps with odd columns and rows."""
    n, columns = int(rng.integers(12, most)), int(rng.integers(2, 7))
    kind = rng.integers(4)
    if kind == 0:
        rows = np.stack([np.cos(np.linspace(0, j + 2, n)) for j in range(columns)], axis=1)
    elif kind == 1:
        rows = rng.standard_normal((n, columns))
    elif kind == 2:
        rows = rng.integers(0, 4, (n, columns)).astype(float)
    else:
        rows = rng.standard_normal((n, columns)) + 20.0 * rng.integers(0, 2, (n, 1))
    rows = rows * 10.0 ** rng.integers(-6, 7)
    if rng.random() < 0.3:
        rows[:, 0] *= 1000.0
    if rng.random() < 0.3:
        rows[: n // 4] = rows[n // 2 : n // 2 + n // 4]
    if rng.random() < 0.2:
        rows[:, -1] = 1.0
    if rng.random() < 0.2:
        rows += 10.0 ** rng.integers(0, 13) * np.abs(rows).max()
    if rng.random() < 0.1:
        rows = rows.astype(np.float32).astype(np.float64)
    return np.ascontiguousarray(rows)


def draw_model(rng: np.random.Generator) -> tuple[type, dict[str, Any]]:
    """Draw an estimator, and a word or flag for up to two of its parameters."""
    known = [*METHODS, *CLUSTERINGS, *CLASSIFIERS, *SEVERAL]
    entry = known[rng.integers(len(known))]
    while entry.class_name in SLOW and rng.random() < 0.8:
        entry = known[rng.integers(len(known))]
    method = entry.load()
    words = {
        parameter.name: [
            word
            for kind in parameter.kinds
            for word in (
                kind.words if isinstance(kind, Choice) else (True, False) if kind is FLAG else ()
            )
            if word not in OTHER_INPUT
        ]
        for parameter in parameters(method)
    }
    free = [name for name, choices in words.items() if choices and name != "denoise"]
    options: dict[str, Any] = {}
    for name in rng.permutation(free)[: rng.integers(3)] if free else ():
        options[str(name)] = words[name][rng.integers(len(words[name]))]
    if "n_neighbors" in words:
        options["n_neighbors"] = int(rng.integers(3, 11))
    if "n_clusters" in words:
        options["n_clusters"] = int(rng.integers(2, 5))
    if entry in SEVERAL:
        options.pop("metric", None)
    return method, options


def given(method: type, rows: np.ndarray) -> tuple[Any, ...]:
    """Return what `fit` takes: rows, and classes where they are needed; several matrices."""
    if method.__name__ in {entry.class_name for entry in SEVERAL}:
        halves = rows, rows[:, : max(1, rows.shape[1] // 2)]
        return ([squareform(pdist(half)) for half in halves],)
    if method.__name__ in ("SupervisedLLE", "SubspaceRecognizer"):
        return rows, (rows[:, 0] > np.median(rows[:, 0])).astype(int)
    return (rows,)


def values(model: Any, rows: np.ndarray) -> np.ndarray:
    """Return what a model found: coordinates, labels, or decisions on the fitted rows."""
    if kind_of(model) == "clustering":
        return np.asarray(model.labels_)[:, None]
    if kind_of(model) == "classifier":
        return np.asarray(model.score_samples(rows)).reshape(len(rows), -1)
    return np.asarray(model.embedding_)


def kind_of(model: Any) -> str:
    """Return the kind of an estimator: "method", "clustering", "classifier" or "several"."""
    kinds = {"clustering": CLUSTERINGS, "classifier": CLASSIFIERS, "several": SEVERAL}
    name = type(model).__name__
    return next((k for k, some in kinds.items() if name in {e.class_name for e in some}), "method")


def use(model: Any, rows: np.ndarray) -> np.ndarray:
    """Return what a fitted model makes of new samples."""
    return np.asarray((model.transform if kind_of(model) == "method" else model.predict)(rows))


def apart(first: np.ndarray, second: np.ndarray) -> float:
    """Return the largest distance left when one is turned onto the other, over the size."""
    a, b = first - first.mean(axis=0), second - second.mean(axis=0)
    left, _, right = np.linalg.svd(b.T @ a)
    size = max(np.abs(a).max(), np.abs(first).max(), 1e-300)
    return float(np.abs(a - b @ left @ right).max() / size)


def check(method: type, options: dict[str, Any], rows: np.ndarray, folder: Path) -> str | None:
    """Return the law that a fit breaks, "refused", or None."""
    try:
        model = method(**options).fit(*given(method, rows))
    except REFUSALS as error:
        return "refused" if str(error).strip() else "a refusal without a sentence"
    found = values(model, rows)
    if len(found) != len(rows) or not np.isfinite(found).all():
        return "coordinates are not finite, or not one for each row"
    size = max(np.abs(found).max(), 1e-300)
    if values(method(**options).fit(*given(method, rows)), rows).tobytes() != found.tobytes():
        return "a second fit differs"
    if "n_jobs" in model.get_params():
        again = method(**{**options, "n_jobs": 2}).fit(*given(method, rows))
        if values(again, rows).tobytes() != found.tobytes():
            return "a fit with two threads differs"
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    # Of several matrices the zero of an interval scale is free: equal objects may be apart.
    free = kind_of(model) == "several"
    if not free and np.abs(found - found[first[inverse.ravel()]]).max() > 1e-6 * size:
        return "duplicates differ"
    return (
        _check_new(model, rows, found, folder)
        or _check_order(method, options, rows, model)
        or _check_scale(method, options, rows, model)
    )


def _check_new(model: Any, rows: np.ndarray, found: np.ndarray, folder: Path) -> str | None:
    """Check what a model does with new samples and as a file."""
    if kind_of(model) == "several":
        return None
    spread = np.random.default_rng(0).standard_normal(rows[:5].shape)
    new = rows[:5] + 0.01 * rows.std() * spread
    try:
        placed = use(model, new)
    except REFUSALS:
        return None
    if kind_of(model) == "method":
        own = np.abs(use(model, rows) - found).max()
        if own > 1e-6 * max(np.abs(found).max(), 1e-300):
            return "fitted rows are transformed to other coordinates"
    if placed.tobytes() != b"".join(use(model, row[None]).tobytes() for row in new):
        return "new samples alone differ from those together"
    model.save(folder / "model.unbend")
    if use(unbend.load(folder / "model.unbend"), new).tobytes() != placed.tobytes():
        return "a reloaded model differs"
    return None


def _determined(model: Any) -> bool:
    """Whether the coordinates are determined: no warning, and no multiple eigenvalue at the end.

    Where the next eigenvalue equals the last one the plane of coordinates is arbitrary, and ties
    among neighbours are broken by the numbers of rows.
    """
    if kind_of(model) != "method" or type(model).__name__ in MINIMA or model.report_.warnings:
        return False
    known = getattr(model, "eigenvalues_", getattr(model, "singular_values_", None))
    if known is None or not len(known):
        return False
    following = float(getattr(model, "next_eigenvalue_", np.nan))
    ends = np.append(known, following) if np.isfinite(following) else known
    gaps = np.abs(np.diff(np.sort(ends)))
    return bool(len(gaps) and gaps.min() > 1e-2 * np.abs(ends).max() and np.isfinite(following))


def _tied(rows: np.ndarray, metric: str) -> bool:
    """Whether distances are tied, so that neighbourhoods depend on the numbers of rows.

    A largest or a summed difference is tied more often than a Euclidean distance.
    """
    centered = rows - rows.mean(axis=0)
    names = {"euclidean", {"manhattan": "cityblock"}.get(metric, metric)}
    for name in names & {"euclidean", "cityblock", "chebyshev"}:
        lengths = np.sort(pdist(centered, name))
        if (np.diff(lengths) <= 1e-9 * lengths[-1]).any():
            return True
    return False


def _check_order(method: type, options: dict[str, Any], rows: np.ndarray, model: Any) -> str | None:
    """Rows in another order get the same coordinates in that order."""
    if (
        method.__name__ in ORDERED
        or not _determined(model)
        or _tied(rows, options.get("metric", "euclidean"))
    ):
        return None
    order = np.random.default_rng(1).permutation(len(rows))
    other = method(**options).fit(*given(method, rows[order]))
    if not _determined(other):
        return None
    off = apart(model.embedding_[order], other.embedding_)
    return f"another order of rows moves coordinates by {off:.0e}" if off > AGREES else None


def _check_scale(method: type, options: dict[str, Any], rows: np.ndarray, model: Any) -> str | None:
    """Rows times 2⁷ get the same coordinates, times 2⁷ if the method is isometric."""
    if not _determined(model) or options.get("kernel") in WITH_UNITS:
        return None
    try:
        other = method(**options).fit(*given(method, rows * 128.0))
    except REFUSALS as error:
        return f"rows times 128 are refused: {error}"
    if not _determined(other):
        return None
    # A metric may have no unit, as angles have none: then nothing is scaled.
    off = min(apart(model.embedding_, other.embedding_ / factor) for factor in (1.0, 128.0))
    return f"a factor of 128 moves coordinates by {off:.0e}" if off > AGREES else None


def attempt(number: int, folder: Path) -> str | None:
    """Try one case; return "refused", a reproducer if a law is broken, or None if all hold."""
    rng = np.random.default_rng(number)
    method, options = draw_model(rng)
    rows = draw_rows(rng, 30 if method.__name__ in SLOW else 70)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        broken = _broken(method, options, rows, folder)
        if broken in (None, "refused"):
            return broken
        while len(rows) > 8:
            halves = (rows[: len(rows) // 2], rows[len(rows) // 2 :], rows[:-1])
            smaller = next(
                (part for part in halves if _same(method, options, part, folder, broken)), None
            )
            if smaller is None:
                break
            rows = smaller
    return f"case {number}: {broken}: {method.__name__}(**{options}).fit(X), {rows.shape} rows"


def _same(method: type, options: dict[str, Any], rows: np.ndarray, folder: Path, law: str) -> bool:
    """Whether fewer rows break the same law, whatever its numbers."""
    broken = _broken(method, options, rows, folder)
    return broken is not None and broken.split(" by ")[0] == law.split(" by ")[0]


def _broken(method: type, options: dict[str, Any], rows: np.ndarray, folder: Path) -> str | None:
    try:
        return check(method, options, rows, folder)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main() -> None:
    """Try cases until the time is over, or as many as asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--cases", type=int, help="in place of --seconds")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    number = arguments.seed
    seconds = arguments.seconds if arguments.cases is None else np.inf
    end, last = time.monotonic() + seconds, number + (arguments.cases or sys.maxsize)
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end and number < last:
            failure = attempt(number, Path(folder))
            word = failure if failure in (None, "refused") else "failed"
            counts[word or "held"] += 1
            if word == "failed":
                sys.stdout.write(f"{failure}\n")
                sys.stdout.flush()
            number += 1
    ends = [f"{counts[word]} {word}" for word in ("held", "refused", "failed")]
    sys.stdout.write(", ".join(ends) + f", cases {arguments.seed} to {number - 1}\n")
    sys.exit(counts["failed"] > 0)


if __name__ == "__main__":
    main()
