"""
Short circuits
==============

Four edges of five thousand jump from one turn of this Swiss roll to the next. They are enough:
LTSA keeps their ends together, and the sheet folds. ``short_circuits="remove"`` finds such edges by
the tangent planes at both ends and by the length of other paths, and removes them.

What to conclude: a method that fails at ten neighbours and works at nine has a short circuit.
Look for them.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import unbend

roll = unbend.datasets.swiss_roll(500, sampling="parameter", random_state=0)
jumps = unbend.graphs.find_short_circuits(roll.points, d=2, n_neighbors=10)
print(jumps)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    kept = unbend.LTSA(n_neighbors=10).fit(roll.points)
    removed = unbend.LTSA(n_neighbors=10, short_circuits="remove").fit(roll.points)

figure, axes = plt.subplot_mosaic("AB;AC", figsize=(8.4, 5.4), layout="constrained")
axes["A"].scatter(*roll.points[:, [0, 2]].T, c=roll.chart[:, 0], s=12)
for start, end in zip(roll.points[jumps.first], roll.points[jumps.second], strict=True):
    axes["A"].plot(*np.array([start, end])[:, [0, 2]].T, color="crimson", linewidth=3)
axes["A"].set_title("from the side, jumps in red", fontsize=16)
axes["A"].set_aspect("equal")
for place, title, model in (("B", "LTSA", kept), ("C", "short_circuits='remove'", removed)):
    axes[place].scatter(*model.embedding_.T, c=roll.chart[:, 0], s=10)
    axes[place].set_title(title, fontsize=16)
for axis in axes.values():
    axis.set(xticks=[], yticks=[])

# %%

errors = [
    unbend.quality.procrustes(roll.chart, model.embedding_, kind="affine")
    for model in (kept, removed)
]
apart = np.abs(roll.chart[jumps.first, 0] - roll.chart[jumps.second, 0])
length = np.ptp(roll.chart[:, 0])
print(f"jumps join points at least {apart.min():.0f} apart along a sheet of length {length:.0f}")
print(f"error of the chart: {errors[0]:.3f} with them, {errors[1]:.3f} without")
assert errors[1] < 0.05 < 0.2 < errors[0]
