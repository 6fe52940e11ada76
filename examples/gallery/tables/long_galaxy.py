"""
A galaxy by the light of 3681 colours
=====================================

A cube taken by the spectrograph MUSE at the Very Large Telescope (in the source of the package
``mpdaf``, fetched once): 40 × 40 pixels, each a spectrum. Three coordinates of each spectrum are
shown as images.

What to conclude: eigenimages of PCA and diffusion maps show the galaxy and its parts. No method
knows where a pixel lies, yet neighbouring pixels get similar coordinates, much more so than their
spectra are.
"""

import warnings

import numpy as np
from feature_images import roughness
from real_data import cube_file

import unbend

cube, variance = (unbend.io.read_cube(cube_file(), part=part) for part in (1, 2))
spectra = cube.pixels().values / np.sqrt(np.median(variance.pixels().values, axis=0))
scores = unbend.PCA(n_components=5).fit_transform(spectra)
with warnings.catch_warnings():
    # Scores of PCA share one unit: that the first has the largest variance is meant.
    warnings.simplefilter("ignore", unbend.ScaleWarning)
    waves = unbend.DiffusionMaps(n_components=4).fit_transform(scores)
figure = unbend.plot.feature_images(waves, cube.shape[:2], mask=cube.kept, method="diffusion_maps")
linear = unbend.plot.feature_images(scores[:, :4], cube.shape[:2], mask=cube.kept, method="pca")

# %%
# Geary's C: the squared steps from a pixel to the next over those between any two pixels. It is 1
# for noise. No method knows where a pixel lies, so smooth images show what is in the sky: 0.203
# for the spectra and 0.01 for PCA.

rough = {
    name: float(roughness(cube.image(values)))
    for name, values in {"spectra": spectra, "PCA": scores[:, :4], "diffusion maps": waves}.items()
}
for name, value in rough.items():
    print(f"{name:15} {value:.3f}")
assert max(rough["PCA"], rough["diffusion maps"]) < 0.5 * rough["spectra"]
