"""
Two viewing angles by diffusion maps
====================================

Book sections 14.5.3 and 15.4.2: a head seen from 31 × 15 directions, shuffled. Two coordinates of
diffusion maps recover the grid of the two angles.

What to conclude: diffusion maps give the *order* along each parameter and not its scale. Lines of
the grid stay lines, but are closer together at the edges.
"""

import matplotlib.pyplot as plt
import numpy as np

import unbend

views = unbend.datasets.turning_object(
    (31, 15), size=(54, 50), light=False, sampling="shuffled", random_state=0
)
model = unbend.DiffusionMaps(n_neighbors=20).fit(views.points)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for axis, label, values in zip(axes, views.labels, views.chart.T, strict=False):
    axis.scatter(*model.embedding_.T, c=values, s=14)
    axis.set(title=f"colour: {label}", xticks=[], yticks=[])

# %%
# Rank correlation of each angle with its coordinate.

ranks = [np.argsort(np.argsort(column)) for column in (*views.chart.T, *model.embedding_.T)]
found = np.abs(np.corrcoef(ranks)[:2, 2:]).max(axis=1)
print(f"turn {found[0]:.3f}, nod {found[1]:.3f}")
assert found.min() > 0.95
