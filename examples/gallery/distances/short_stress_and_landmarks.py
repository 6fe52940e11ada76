"""
Scaling: which loss, and how many landmarks
===========================================

Thirty European cities by five kinds of multidimensional scaling. Classical scaling needs all
distances and one eigendecomposition; metric scaling minimises the error of the distances
themselves, and some may be missing; nonmetric scaling uses only their order; landmark scaling
only the distances to a few cities.

What to conclude: for a complete table of true distances all agree. With a third of the table
missing, use metric scaling, which ignores what was not measured.
"""

import matplotlib.pyplot as plt
import numpy as np
from cities import EUROPE, azimuthal_map, great_circles

import unbend

distances, truth = great_circles(EUROPE), azimuthal_map(EUROPE)
rng = np.random.default_rng(0)
missing = np.triu(rng.random(distances.shape) < 1 / 3, 1)
partial = np.where(missing | missing.T, np.nan, distances)
models = {
    "classical": unbend.ClassicalMDS(metric="precomputed").fit(distances),
    "metric": unbend.MetricMDS(metric="precomputed").fit(distances),
    "metric, a third missing": unbend.MetricMDS(metric="precomputed").fit(partial),
    "nonmetric": unbend.NonmetricMDS(metric="precomputed").fit(distances),
    "8 landmarks": unbend.LandmarkMDS(metric="precomputed", n_landmarks=8, random_state=0).fit(
        distances
    ),
}
maps = {name: unbend.quality.align(truth, model.embedding_) for name, model in models.items()}
figure, axis = plt.subplots(figsize=(7, 5.2), layout="constrained")
for (name, found), marker in zip(maps.items(), "os^Dv", strict=True):
    axis.scatter(*found.T, s=28, marker=marker, alpha=0.7, label=name)
for place, city in zip(truth, EUROPE, strict=True):
    axis.annotate(city, place + 40, fontsize=8)
axis.set(xticks=[], yticks=[], aspect="equal")
axis.legend(fontsize=9)

# %%

off = {name: np.median(np.linalg.norm(found - truth, axis=1)) for name, found in maps.items()}
for name, kilometres in off.items():
    print(f"{name:24} off by {kilometres:.0f} km in the median")
assert max(off.values()) < 50
