"""Feature images of a spectral cube: `python examples/feature_images.py [folder]`.

Book 5.3.3 and 14.5.4: every pixel of a hyperspectral image is a spectrum; coordinates of the pixels
by PCA (eigenimages) and by diffusion maps are images again. Data: a cube of the spectrograph MUSE
(PyPI's source of `mpdaf`), fetched once; else a rendered scene of three materials.
"""

import sys
from pathlib import Path

import numpy as np
from real_data import cube_file

import unbend


def spectra():
    """Return the spectra of the pixels that are whole, in units of their noise, and their mask."""
    try:
        cube, noise = (unbend.io.read_cube(cube_file(), part=part) for part in (1, 2))
        rows = cube.pixels().values / np.sqrt(np.median(noise.pixels().values, axis=0))
    except FileNotFoundError as advice:
        print(f"{advice}. A rendered scene is used.")
        rng = np.random.default_rng(0)
        down, right = np.meshgrid(np.linspace(0, 1, 40), np.linspace(0, 1, 40), indexing="ij")
        shares = np.stack([right, down * (1 - right), (1 - down) * (1 - right)], axis=-1)
        materials = np.cumsum(rng.normal(size=(3, 120)), axis=1)
        rows = (shares @ materials + rng.normal(0, 0.5, (40, 40, 120))).reshape(1600, 120)
        return rows, np.ones((40, 40), dtype=bool)
    return rows, cube.kept


def roughness(image):
    """Geary's C: squared steps to the next pixel over those between any two; of noise it is 1."""
    steps = [np.diff(image, axis=axis) ** 2 for axis in (0, 1)]
    steps = np.concatenate([step.reshape(-1, image.shape[2]) for step in steps])
    return np.nanmean(steps, axis=0).sum() / (2.0 * np.nanvar(image, axis=(0, 1)).sum())


def image_of(values, mask):
    """Put the pixels back to their places."""
    image = np.full((*mask.shape, values.shape[1]), np.nan)
    image[mask] = values
    return image


def main():
    """Print how smooth the feature images are, and draw them."""
    rows, mask = spectra()
    reduced = unbend.PCA(n_components=5).fit_transform(rows)
    found = {
        "PCA": unbend.PCA(n_components=4).fit_transform(rows),
        "DiffusionMaps": unbend.DiffusionMaps(n_components=4).fit_transform(reduced),
    }
    rough = {name: roughness(image_of(values, mask)) for name, values in found.items()}
    before = roughness(image_of(rows, mask))
    print(f"{mask.sum()} pixels of {rows.shape[1]} bands")
    print(
        f"Neighbouring pixels of the spectra differ by {before:.3f} of the variance between any "
        f"two; of eigenimages by {rough['PCA']:.3f}, of diffusion images by "
        f"{rough['DiffusionMaps']:.3f}, although no method knows where a pixel lies."
    )
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        for name, values in found.items():
            figure = unbend.plot.feature_images(values, mask.shape, mask=mask, method=name)
            unbend.plot.save(figure, folder / f"{name}.png")


if __name__ == "__main__":
    main()
