"""
Handwritten twos by ε-Isomap
============================

Book section 8.4.2: pictures of the digit 2 are neighbours when they differ by less than a radius
ε. Two coordinates show how twos differ: by the loop at the bottom and by the slant.

What to conclude: with a radius instead of a number of neighbours, rare shapes stay without
neighbours and are left out of the fit (``connect="largest"``); ``transform`` embeds them
afterwards.
"""

import numpy as np
from sklearn.datasets import load_digits

import unbend

digits = load_digits()
twos = digits.images[digits.target == 2]
points = twos.reshape(len(twos), -1)
fifth = unbend.neighbors.PointSpace(points).nearest(5).distances[4::5]
radius = float(np.quantile(fifth, 0.99))
model = unbend.Isomap(n_neighbors=None, radius=radius, connect="largest").fit(points)
figure = unbend.plot.thumbnails(
    model, 16 - twos, side=0.08, title=f"{len(twos)} twos, ε = {radius:.1f}"
)

# %%

linear = unbend.PCA().fit_transform(points)
trust = [
    float(unbend.quality.trustworthiness(points, flat, n_neighbors=10))
    for flat in (model.embedding_, linear)
]
foot = twos[:, 5:, 5:].sum(axis=(1, 2)) / twos.sum(axis=(1, 2))
follows = np.abs(np.corrcoef(foot, model.embedding_.T)[0, 1:]).max()
print(f"trustworthiness {trust[0]:.3f} (PCA {trust[1]:.3f})")
print(f"|R| of the ink at the lower right with one coordinate: {follows:.2f}")
assert follows > 0.5
assert trust[0] > 0.8
