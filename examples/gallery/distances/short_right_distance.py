"""
The right distance
==================

Digits photographed with different exposures: every picture has a gain and an offset of its own,
which say nothing about the digit. Euclidean distances between rows of pixels are mostly distances
between exposures. Correlation ignores both.

What to conclude: before another method, try another metric. ``metric=`` takes a name or a
function in every method.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import unbend
from unbend.quality import neighborhood_hit

pixels, digit = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
n = len(pixels)
exposed = rng.uniform(0.3, 1.0, (n, 1)) * pixels + rng.uniform(0.0, 16.0, (n, 1))
metrics = {"euclidean": {}, "derivative": {"shape": (8, 8)}, "correlation": {}}
models = {
    name: unbend.Isomap(metric=name, metric_params=params).fit(exposed)
    for name, params in metrics.items()
}
figure, axes = plt.subplots(2, 2, figsize=(8, 5.8), layout="constrained")
sheet = exposed[:60].reshape(6, 10, 8, 8).swapaxes(1, 2).reshape(48, 80)
axes[0, 0].imshow(sheet, cmap="gray", aspect="auto")
axes[0, 0].set_title("60 of the pictures", fontsize=16)
for axis, (name, model) in zip(axes.ravel()[1:], models.items(), strict=True):
    axis.scatter(*model.embedding_.T, c=digit, cmap="tab10", s=6)
    axis.set_title(name, fontsize=16)
for axis in axes.ravel():
    axis.set(xticks=[], yticks=[])

# %%
# Share of the ten nearest points in the picture that show the same digit.

hits = {
    name: float(neighborhood_hit(model.embedding_, digit, n_neighbors=10))
    for name, model in models.items()
}
for name, hit in hits.items():
    print(f"{name:12} {hit:.3f}")
assert hits["correlation"] > hits["derivative"] > 1.5 * hits["euclidean"]
