"""Choose how recognition scores samples, on pictures that it is not judged on.

    python -m benchmarks.recognition_choice [splits]

`SubspaceRecognizer` has a score of the distances to examples, a weight of the identity in the
covariance within classes, a metric beside a discriminant, a share of variance, and a second
distance by which it rejects what is of another kind. None of them may come from the faces of
`benchmarks.recognition`. Here they are compared on rendered heads, whose shapes differ from person
to person and whose pose and light differ from picture to picture, and on letters and digits in the
fonts of Matplotlib; writes recognition_choice.json. The figure of a candidate is the share of
samples that are accepted and right where the threshold accepts a tenth of the strangers.
"""

import json
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from string import ascii_letters, digits
from typing import Any

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

import unbend
from benchmarks.recognition import other_images
from unbend.datasets._render import HEAD, Figure, render
from unbend.datasets.image_sets import directions, rotations

Array = NDArray[Any]
RESULTS = Path(__file__).with_suffix(".json")
SPLITS, PER_CLASS, TRAINING, RATE = 8, 10, 7, 0.1
SIDE = 40
FONTS = [
    *(f"DejaVuSans{cut}" for cut in ("", "-Bold", "-Oblique", "Mono", "Mono-Bold")),
    *(f"DejaVuSerif{cut}" for cut in ("", "-Bold", "-Italic")),
    *(f"STIXGeneral{cut}" for cut in ("", "Bol", "Italic", "BolIta")),
    *(f"cm{cut}10" for cut in ("r", "b", "ss", "tt", "ti")),
]
SCORES = ("d", "d/s", "d/e", "d²/(se)")
SHRINKAGE = ("auto", 0.01, 0.03, 0.1, 0.3)
VARIANCE = (0.9, 0.95, 0.98)


def heads(rng: np.random.Generator, people: int = 40) -> tuple[Array, Array]:
    """Return pictures of heads as rows, and whose they are."""
    rows = []
    for _ in range(people):
        turn, nod = rng.uniform(-25, 25, PER_CLASS), rng.uniform(-15, 15, PER_CLASS)
        lights = directions(rng.uniform(-60, 60, PER_CLASS))
        pictures = render(_person(rng), rotations(turn, nod), lights, (SIDE, SIDE))
        rows.append(pictures.reshape(PER_CLASS, -1))
    return np.concatenate(rows), np.repeat(np.arange(people), PER_CLASS)


def _person(rng: np.random.Generator) -> Figure:
    """Return a head whose parts differ in size, place and brightness from those of others."""
    parts = []
    for part in HEAD:
        radii = np.array(part.radii) * np.exp(0.08 * rng.normal(size=3))
        center = np.array(part.center) * np.exp(0.04 * rng.normal(size=3))
        albedo = float(np.clip(part.albedo * np.exp(0.15 * rng.normal()), 0.05, 1.0))
        changed = {"radii": tuple(radii), "center": tuple(center), "albedo": albedo}
        parts.append(replace(part, **changed))  # type: ignore[arg-type]
    return tuple(parts)


def letters(rng: np.random.Generator) -> tuple[Array, Array]:
    """Return characters in ten fonts each, as rows of pixels, and which they are."""
    folder = Path(mpl.get_data_path()) / "fonts" / "ttf"
    characters = ascii_letters + digits
    rows = []
    for character in characters:
        for name in rng.permutation(FONTS)[:PER_CLASS]:
            canvas = Image.new("L", (SIDE, SIDE))
            font = ImageFont.truetype(str(folder / f"{name}.ttf"), 30)
            middle = (SIDE / 2, 0.78 * SIDE)
            ImageDraw.Draw(canvas).text(middle, character, fill=255, font=font, anchor="ms")
            rows.append(np.asarray(canvas, dtype=float).ravel() / 255)
    return np.array(rows), np.repeat(np.arange(len(characters)), PER_CLASS)


SETS = {"heads": heads, "letters": letters}


def score(d: Array, e: Array, s: Array, name: str) -> Array:
    """Return a candidate: d to the nearest example, e to the nearest of another class, s spread."""
    return {"d": d, "d/s": d / s, "d/e": d / e, "d²/(se)": d * d / (s * e)}[name]


def rates(model: Any, rows: Array, labels: Array, known: Array, chord: bool) -> dict[str, float]:
    """Return, for each score, the share accepted and right where a tenth of strangers is."""
    space, codes = model.embedding_, model._examples.codes
    placed = model._examples.coordinates(rows)
    if chord:
        placed, space = (p / np.linalg.norm(p, axis=1, keepdims=True) for p in (placed, space))
    distances = cdist(placed, space)
    nearest = distances.argmin(axis=1)
    other = np.where(codes[nearest][:, None] == codes, np.inf, distances).min(axis=1)
    right = known & (model.classes_[codes[nearest]] == labels)
    spread = model.spread_[codes[nearest]]
    found = {}
    for name in SCORES:
        values = score(distances.min(axis=1), other, spread, name)
        found[name] = float(np.mean(values[right] <= np.quantile(values[~known], RATE)))
        found[name] *= right.sum() / known.sum()
    return found


def split(data: str, seed: int) -> tuple[Array, Array, Array, Array]:
    """Return a sample, its labels, which rows are for training, and which classes are known."""
    rng = np.random.default_rng(seed)
    rows, labels = SETS[data](rng)
    count = int(labels.max()) + 1
    familiar = rng.permutation(count) < 3 * count // 4
    train = familiar[labels] & (np.tile(np.arange(PER_CLASS), count) < TRAINING)
    return rows, labels, train, familiar


def compare(data: str, seed: int) -> dict[str, float]:
    """Measure all candidates on one sample and one split of it."""
    rows, labels, train, familiar = split(data, seed)
    given = {"subspace_threshold": 1.0, "example_threshold": 1.0}
    found = {}
    for variance, shrinkage, chord in product(VARIANCE, (None, *SHRINKAGE), (False, True)):
        options = {} if shrinkage is None else {"discriminant": True, "shrinkage": shrinkage}
        metric = {"metric": "angular", "metric_params": {"measure": "chord"}} if chord else {}
        metric = metric or {"metric": "euclidean"}
        model = unbend.SubspaceRecognizer(variance, **given, **options, **metric)
        model.fit(rows[train], labels[train])
        rest = ~train
        name = f"{variance:g} of variance, "
        name += "no discriminant" if shrinkage is None else f"shrinkage {shrinkage}"
        name += ", angle" if chord else ", Euclidean"
        measured = rates(model, rows[rest], labels[rest], familiar[labels[rest]], chord)
        found |= {f"{name}, {score}": value for score, value in measured.items()}
    return found


def reject(data: str, seed: int) -> dict[str, float]:
    """Measure what the distance to examples in the subspace rejects beside that to the subspace."""
    rows, labels, train, _ = split(data, seed)
    model = unbend.SubspaceRecognizer(false_acceptance=RATE).fit(rows[train], labels[train])
    others = other_images(np.random.default_rng(seed), (SIDE, SIDE))
    others |= {name: SETS[name](np.random.default_rng(seed))[0] for name in SETS if name != data}
    found = {}
    for name, images in {"of this kind": rows[~train], **others}.items():
        distances = model.identify(images)
        far = distances.subspace_distance > model.subspace_threshold_
        apart = distances.within_distance > model.within_threshold_
        found[f"{name}: rejected by the distance to the subspace"] = float(np.mean(far))
        found[f"{name}: rejected by either distance"] = float(np.mean(far | apart))
    return found


def mean(measured: list[dict[str, float]]) -> dict[str, float]:
    """Return the mean of each figure."""
    return {n: round(float(np.mean([one[n] for one in measured])), 4) for n in measured[0]}


def main(splits: int) -> None:
    """Measure all candidates, and print and keep the means."""
    results: dict[str, Any] = {"splits": splits, "strangers accepted": RATE, "other kinds": {}}
    with threadpool_limits(limits=1):
        for data in SETS:
            results[data] = mean([compare(data, seed) for seed in range(splits)])
            results["other kinds"][data] = mean([reject(data, seed) for seed in range(splits)])
    RESULTS.write_text(json.dumps(results, ensure_ascii=False, indent=1) + "\n")
    means = {name: np.mean([results[data][name] for data in SETS]) for name in results["heads"]}
    for name in sorted(means, key=lambda name: -means[name]):
        print(f"{name:<60}" + "".join(f"{results[data][name]:8.3f}" for data in SETS))
    for data, found in results["other kinds"].items():
        for name, value in found.items():
            print(f"{data}, {name:<70}{value:8.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SPLITS)
