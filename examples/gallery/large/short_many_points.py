"""
Two hundred thousand points
===========================

Methods whose cost grows with n² stop at some ten thousand rows. Methods of sparse graphs and
landmarks do not: they embed two hundred thousand points of a Swiss roll in seconds, on one core.
The long example *A million points* has five times as many.

What to conclude: for large n use ``LandmarkIsomap`` if lengths matter and ``LTSA`` if the shape
matters. Draw densities, not points.
"""

import time

import matplotlib.pyplot as plt

import unbend

roll = unbend.datasets.swiss_roll(200_000, random_state=0)
models, seconds = {}, {}
for name, method in {
    "LandmarkIsomap": unbend.LandmarkIsomap(n_landmarks=50, random_state=0),
    "LTSA": unbend.LTSA(n_neighbors=10),
}.items():
    begun = time.process_time()
    models[name] = method.fit(roll.points)
    seconds[name] = time.process_time() - begun

figure, axes = plt.subplots(2, 1, figsize=(6, 4.6), layout="constrained")
for axis, (name, model) in zip(axes, models.items(), strict=True):
    axis.hexbin(*model.embedding_.T, C=roll.chart[:, 0], gridsize=70)
    axis.set_title(f"{name}: 200 000 points", fontsize=15)
    axis.set(xticks=[], yticks=[])

# %%

for name, model in models.items():
    error = unbend.quality.procrustes(roll.chart, model.embedding_, kind="affine")
    print(f"{name:15} {seconds[name]:5.1f} CPU-s, error {error:.6f}")
    assert error < 0.01
