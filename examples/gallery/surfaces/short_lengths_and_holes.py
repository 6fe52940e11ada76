"""
Lengths around a hole
=====================

A sheet with a hole, rolled up. The shortest path between points on both sides of the hole leads
around it, and is longer than the straight line on the sheet. Isomap takes it for that line. LTSA
has no lengths at all: its coordinates have unit variance.

What to conclude: `RigidAlignment` lays the sheet flat with the lengths that it has in space, so
that distances, angles and areas can be read from the chart. `strain_` says by how much edges had
to be stretched: 0.2 % here.
"""

import matplotlib.pyplot as plt
import numpy as np

import unbend

roll = unbend.datasets.swiss_hole(1000, random_state=0)
models = {
    "Isomap": unbend.Isomap(n_neighbors=8).fit(roll.points),
    "LTSA": unbend.LTSA(n_neighbors=8).fit(roll.points),
    "RigidAlignment": unbend.RigidAlignment(n_neighbors=8).fit(roll.points),
}

figure, axes = plt.subplots(1, 4, figsize=(13, 3), layout="constrained")
charts = {"true chart": roll.chart, **{name: model.embedding_ for name, model in models.items()}}
for axis, (name, chart) in zip(axes, charts.items(), strict=True):
    axis.scatter(*chart.T, c=roll.chart[:, 0], s=3)
    axis.set(title=name, aspect="equal")

# %%
# Distances between random pairs of points: the root mean square error of those in the chart, as
# they are, relative to those on the true sheet.

pairs = np.random.default_rng(0).integers(0, 1000, size=(2, 5000))


def distances(chart):
    """Distances of the pairs in a chart."""
    return np.linalg.norm(chart[pairs[0]] - chart[pairs[1]], axis=1)


true, errors = distances(roll.chart), {}
for name, model in models.items():
    rest = distances(model.embedding_) - true
    errors[name] = np.linalg.norm(rest) / np.linalg.norm(true)
    print(f"{name:15} {errors[name]:.4f}")
print(f"strain {models['RigidAlignment'].strain_:.4f}")
assert errors["RigidAlignment"] < 0.003
assert errors["Isomap"] > 0.03
assert errors["LTSA"] > 0.9
