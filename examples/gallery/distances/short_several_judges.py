"""
Several judges
==============

Six people compare twenty objects by size and colour, each with different weights. One configuration
for all of them (replicated scaling) averages. Weighted scaling (INDSCAL) finds the two axes and the
weights of each judge.

What to conclude: several matrices of the same objects determine the axes, not only the plane:
there is no rotation to choose.
"""

import matplotlib.pyplot as plt
import numpy as np

import unbend

rng = np.random.default_rng(0)
objects = rng.normal(size=(20, 2))  # size and colour
looks_at = np.array([[2.0, 0.1], [1.5, 0.3], [1.0, 1.0], [0.8, 1.2], [0.3, 1.6], [0.1, 2.0]])
tables = []
for weights in looks_at:
    judged = objects * np.sqrt(weights) + rng.normal(0, 0.05, objects.shape)
    tables.append(np.linalg.norm(judged[:, None] - judged, axis=2))

weighted, replicated = unbend.WeightedMDS().fit(tables), unbend.ReplicatedMDS().fit(tables)
figure, axes = plt.subplots(1, 2, figsize=(8.4, 4.2), layout="constrained")
axes[0].scatter(*weighted.embedding_.T, c=objects[:, 0], s=80)
axes[0].set(title="objects, colour: their size", xlabel="axis 1", ylabel="axis 2", aspect="equal")
axes[1].scatter(*weighted.weights_.T, s=80, color="crimson")
for number, place in enumerate(weighted.weights_, start=1):
    axes[1].annotate(f"  judge {number}", place)
axes[1].set(title="what the judges look at", xlabel="weight of axis 1", ylabel="weight of axis 2")

# %%

axis_of = np.abs(np.corrcoef(objects.T, weighted.embedding_.T)[:2, 2:])
print(f"size and colour are single axes: correlations {axis_of.max(axis=1).round(3)}")
print(f"variance accounted for: {weighted.variance_accounted_.min():.3f} at least")
print(f"stress of one configuration for all: {replicated.stress_:.3f}")
assert axis_of.max(axis=1).min() > 0.98
