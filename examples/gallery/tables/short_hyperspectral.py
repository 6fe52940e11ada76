"""
Feature images of a spectral cube
=================================

Book sections 5.3.3 and 14.5.4: every pixel of a hyperspectral image is a spectrum. Coordinates of
the pixels are images again. The scene is rendered: three materials in smooth proportions, 120
bands, with noise. (The cube of a galaxy is a long example.)

What to conclude: no method knows where a pixel lies, and yet the images are smooth: coordinates
show materials and not noise. This check needs no ground truth.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import unbend

rng = np.random.default_rng(0)
down, right = np.meshgrid(np.linspace(0, 1, 40), np.linspace(0, 1, 40), indexing="ij")
shares = np.stack([right, down * (1 - right), (1 - down) * (1 - right)], axis=-1)
materials = np.cumsum(rng.normal(size=(3, 120)), axis=1)
cube = shares @ materials + rng.normal(0, 2.0, (40, 40, 120))
spectra = cube.reshape(1600, 120)

pca = unbend.PCA(n_components=2).fit_transform(spectra)
with warnings.catch_warnings():
    # Scores of PCA share one unit: that the first has the largest variance is meant.
    warnings.simplefilter("ignore", unbend.ScaleWarning)
    scores = unbend.PCA(n_components=5).fit_transform(spectra)
    waves = unbend.DiffusionMaps(n_components=2).fit_transform(scores)
images = {
    "one band": cube[..., :1],
    "PCA": pca.reshape(40, 40, 2),
    "diffusion maps": waves.reshape(40, 40, 2),
}
figure, axes = plt.subplots(2, 3, figsize=(8, 5.6), layout="constrained")
panels = {"band 1": cube[..., 0], "band 60": cube[..., 59]}
for name in ("PCA", "diffusion maps"):
    panels |= {f"{name} {number + 1}": images[name][..., number] for number in range(2)}
order = ("band 1", "PCA 1", "diffusion maps 1", "band 60", "PCA 2", "diffusion maps 2")
for axis, title in zip(axes.ravel(), order, strict=True):
    axis.imshow(panels[title], cmap="cividis")
    axis.set_title(title, fontsize=14)
    axis.set(xticks=[], yticks=[])

# %%
# Squared steps between neighbouring pixels over those between any two pixels (Geary's C): 1 for
# noise.


def roughness(image):
    """Mean squared step to the next pixel, relative to twice the variance."""
    steps = [np.mean(np.diff(image, axis=axis) ** 2, axis=(0, 1)) for axis in (0, 1)]
    return float(np.mean(steps, axis=0).sum() / (2 * image.var(axis=(0, 1)).sum()))


rough = {name: roughness(image) for name, image in images.items()}
for name, value in rough.items():
    print(f"{name:15} {value:.3f}")
assert max(rough["PCA"], rough["diffusion maps"]) < 0.1 * rough["one band"]
