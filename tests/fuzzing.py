"""Random fits under laws: `python -m tests.fuzzing --seconds 600 --seed 0`.

A case is data, an estimator and its parameters, all drawn from its number. A fit may be refused by
a sentence; otherwise its coordinates are finite, duplicates have equal ones, a second fit and a fit
with two threads give the same bits, as does a saved and reloaded model, new samples get the same
bits alone as together, and fitted rows get their own coordinates, to 1e-6 of the largest. A failure
is reported with the fewest rows that still show it.
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

import unbend
from unbend.memory import NotEnoughMemory
from unbend.registry import METHODS
from unbend.validation.parameters import FLAG, Choice, parameters

# Methods that take seconds on sixty rows, and one that needs classes.
LEFT_OUT = ("MVU", "LandmarkMVU", "SupervisedLLE", "NeighborEmbedding")
REFUSALS = (ValueError, TypeError, NotEnoughMemory)
# Words that change what X is.
OTHER_INPUT = ("precomputed", "kernel", "affinity")


def draw_rows(rng: np.random.Generator) -> np.ndarray:
    """Draw a table: a curve, noise, a lattice or clusters, perhaps with odd columns and rows."""
    n, columns = int(rng.integers(12, 70)), int(rng.integers(2, 7))
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
        rows += 1e3 * np.abs(rows).max()
    return np.ascontiguousarray(rows)


def draw_model(rng: np.random.Generator) -> tuple[type, dict[str, Any]]:
    """Draw an estimator, and a word or flag for up to two of its parameters."""
    known = [entry for entry in METHODS if entry.class_name not in LEFT_OUT]
    method = known[rng.integers(len(known))].load()
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
    return method, options


def check(method: type, options: dict[str, Any], rows: np.ndarray, folder: Path) -> str | None:
    """Return the law that a fit breaks, "refused", or None."""
    try:
        model = method(**options).fit(rows)
    except REFUSALS as error:
        return "refused" if str(error).strip() else "a refusal without a sentence"
    embedding = model.embedding_
    if len(embedding) != len(rows) or not np.isfinite(embedding).all():
        return "coordinates are not finite, or not one for each row"
    if method(**options).fit(rows).embedding_.tobytes() != embedding.tobytes():
        return "a second fit differs"
    if "n_jobs" in model.get_params():
        again = method(**{**options, "n_jobs": 2}).fit(rows)
        if again.embedding_.tobytes() != embedding.tobytes():
            return "a fit with two threads differs"
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    apart = np.abs(embedding - embedding[first[inverse.ravel()]]).max()
    if apart > 1e-6 * max(np.abs(embedding).max(), 1e-300):
        return "duplicates differ"
    spread = np.random.default_rng(0).standard_normal(rows[:5].shape)
    new = rows[:5] + 0.01 * rows.std() * spread
    try:
        placed = model.transform(new)
    except REFUSALS:
        return None
    own = np.abs(model.transform(rows) - embedding).max()
    if own > 1e-6 * max(np.abs(embedding).max(), 1e-300):
        return "fitted rows are transformed to other coordinates"
    if placed.tobytes() != b"".join(model.transform(row[None]).tobytes() for row in new):
        return "new samples alone differ from those together"
    model.save(folder / "model.unbend")
    if unbend.load(folder / "model.unbend").transform(new).tobytes() != placed.tobytes():
        return "a reloaded model differs"
    return None


def attempt(number: int, folder: Path) -> str | None:
    """Try one case; return "refused", a reproducer if a law is broken, or None if all hold."""
    rng = np.random.default_rng(number)
    rows, (method, options) = draw_rows(rng), draw_model(rng)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        broken = _broken(method, options, rows, folder)
        if broken in (None, "refused"):
            return broken
        while len(rows) > 8:
            halves = (rows[: len(rows) // 2], rows[len(rows) // 2 :], rows[:-1])
            smaller = next(
                (part for part in halves if _broken(method, options, part, folder) == broken), None
            )
            if smaller is None:
                break
            rows = smaller
    return f"case {number}: {broken}: {method.__name__}(**{options}).fit(X), {rows.shape} rows"


def _broken(method: type, options: dict[str, Any], rows: np.ndarray, folder: Path) -> str | None:
    try:
        return check(method, options, rows, folder)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main() -> None:
    """Try cases until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    end, number = time.monotonic() + given.seconds, given.seed
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            failure = attempt(number, Path(folder))
            word = failure if failure in (None, "refused") else "failed"
            counts[word or "held"] += 1
            if word == "failed":
                sys.stdout.write(f"{failure}\n")
                sys.stdout.flush()
            number += 1
    ends = [f"{counts[word]} {word}" for word in ("held", "refused", "failed")]
    sys.stdout.write(", ".join(ends) + "\n")
    sys.exit(counts["failed"] > 0)


if __name__ == "__main__":
    main()
