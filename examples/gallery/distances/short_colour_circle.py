"""
The colour circle, from ratings
===============================

Ekman (1954) had 31 people rate how alike any two of fourteen spectral colours are. Nonmetric
scaling uses only the *order* of the ratings, and finds the colour circle: violet next to red,
although their wavelengths are farthest apart.

What to conclude: ratings have no unit; use only their order. Random ratings would leave a stress
several times as large, so the circle is in the data.
"""

import matplotlib.pyplot as plt
import numpy as np
from colours import NANOMETRES, around, dissimilarities

import unbend

model = unbend.NonmetricMDS(metric="precomputed").fit(dissimilarities())
circle = model.embedding_
figure, axis = plt.subplots(figsize=(5.5, 5), layout="constrained")
axis.scatter(*circle.T, c=NANOMETRES, cmap="rainbow", s=200, edgecolors="black")
for place, wave in zip(1.22 * circle, NANOMETRES, strict=True):
    axis.annotate(f"{wave}", place, ha="center", va="center")
axis.set(xticks=[], yticks=[], aspect="equal", title="wavelengths in nm")
axis.margins(0.15)

# %%

baseline = model.permutation_baseline(20)
order = [NANOMETRES[color] for color in around(circle)]
print("around the circle:", *order)
print(f"stress-1 {model.stress_:.3f}; of shuffled ratings at least {baseline.random.min():.3f}")
assert order == sorted(order)
assert model.stress_ < 0.2 * np.min(baseline.random)
