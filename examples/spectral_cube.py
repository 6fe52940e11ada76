"""A galaxy by the light of 3681 colours: `python examples/spectral_cube.py [folder]`.

The cube was taken by MUSE at the Very Large Telescope and comes with PyPI's `mpdaf`. A pixel is a
spectrum; three coordinates of it are shown as red, green and blue. Where a pixel lies is not told
to any method, but light is smeared over several pixels: coordinates that tell of the galaxy rather
than of noise change little from a pixel to the next. With a folder, images are written there.
"""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np

import unbend
from unbend.quality import trustworthiness

PACKAGE = "mpdaf==3.6"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "unbend" / "mpdaf"
# Directions of the spectra that are kept: the others vary from pixel to pixel as noise does.
DIRECTIONS = 5
METHODS = {
    "PCA": unbend.PCA(n_components=3),
    "Isomap": unbend.Isomap(n_components=3),
    "LaplacianEigenmaps": unbend.LaplacianEigenmaps(n_components=3),
}
# Pixels of a PNG for each of the cube.
ENLARGED = 5


def archive_file():
    """Path of the source of the package, got by pip unless it is there."""
    CACHE.mkdir(parents=True, exist_ok=True)
    arguments = ["download", "-q", "--no-deps", "--no-binary", "mpdaf", PACKAGE]
    if not list(CACHE.glob("mpdaf-*.tar.gz")):
        fetch = [sys.executable, "-m", "pip", *arguments]
        try:
            subprocess.run(fetch, cwd=CACHE, check=True, capture_output=True, timeout=300)
        except (OSError, subprocess.SubprocessError):
            command = " ".join(["pip", *arguments])
            sys.exit(f"spectral_cube.py needs the source of mpdaf: run `{command}` in {CACHE}")
    return next(CACHE.glob("mpdaf-*.tar.gz"))


def cube_file():
    """Path of the cube: unpacked once, and kept in the user's cache."""
    path = CACHE / "minicube.fits"
    if not path.exists():
        with tarfile.open(archive_file()) as archive, unbend.io.atomic_write(path) as temporary:
            member = next(name for name in archive.getnames() if name.endswith("/minicube.fits"))
            temporary.write_bytes(archive.extractfile(member).read())
    return path


def roughness(image):
    """Geary's C: squared steps to the next pixel over those between any two; of noise it is 1."""
    steps = [np.diff(image, axis=axis) ** 2 for axis in (0, 1)]
    steps = np.concatenate([step.reshape(-1, image.shape[2]) for step in steps])
    return np.nanmean(steps, axis=0).sum() / (2.0 * np.nanvar(image, axis=(0, 1)).sum())


def main():
    """Print how smooth the images are, and write them if a folder is named."""
    cube = unbend.io.read_cube(cube_file(), part=1)
    variance = unbend.io.read_cube(cube_file(), part=2)
    lines, samples, bands = cube.shape
    print(f"{lines} x {samples} pixels, {cube.kept.sum()} of them whole, {bands} bands")
    # In units of its noise, no band counts for more because the night sky shines in it.
    noise = np.sqrt(np.median(variance.pixels().values, axis=0))
    spectra = cube.pixels().values / noise
    reduced = unbend.PCA(n_components=DIRECTIONS).fit_transform(spectra)

    print(f"{'':20} {'rough':>6} {'trust':>6}")
    print(f"{'spectra':20} {roughness(cube.image(spectra)):6.3f}")
    images = {"brightness": cube.image(spectra.mean(axis=1))}
    for name, method in METHODS.items():
        colors = method.fit_transform(reduced)
        images[name] = cube.image(colors)
        trust = trustworthiness(spectra, colors, n_neighbors=10)
        print(f"{name:20} {roughness(images[name]):6.3f} {trust:6.3f}")
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        for name, image in images.items():
            large = image.repeat(ENLARGED, axis=0).repeat(ENLARGED, axis=1)
            unbend.io.write_cube(folder / f"{name}.png", large)
            unbend.io.write_cube(folder / f"{name}.hdr", image)


if __name__ == "__main__":
    main()
