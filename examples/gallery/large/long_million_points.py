"""
A million points
================

The same as *Two hundred thousand points*, with a million, and with Laplacian eigenmaps beside it.
Memory stays below three gigabytes, since nothing of size n² is computed.

What to conclude: methods of sparse graphs embed a million rows in about a minute.
"""

import time

import matplotlib.pyplot as plt

import unbend

sheet = unbend.datasets.s_curve(1_000_000, random_state=0)
methods = {
    "LandmarkIsomap": unbend.LandmarkIsomap(n_landmarks=50, random_state=0),
    "LTSA": unbend.LTSA(n_neighbors=10),
    "LaplacianEigenmaps": unbend.LaplacianEigenmaps(n_neighbors=10),
}
embeddings, seconds = {}, {}
for name, method in methods.items():
    begun = time.process_time()
    embeddings[name] = method.fit_transform(sheet.points)
    seconds[name] = time.process_time() - begun

figure, axes = plt.subplots(1, 3, figsize=(12, 3.2), layout="constrained")
for axis, (name, found) in zip(axes, embeddings.items(), strict=True):
    axis.hexbin(*found.T, C=sheet.chart[:, 0], gridsize=70)
    axis.set(title=f"{name}, {seconds[name]:.0f} CPU-s", xticks=[], yticks=[])

# %%

for name, found in embeddings.items():
    error = unbend.quality.procrustes(sheet.chart, found, kind="affine")
    print(f"{name:20} {seconds[name]:5.0f} CPU-s, error {error:.6f}")
    assert error < (0.1 if name == "LaplacianEigenmaps" else 0.01)
