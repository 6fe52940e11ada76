"""
Where is the picture wrong?
===========================

A sphere cannot be flattened. Every method has to tear or to fold it, and an average over all points
does not say where. The local values of trustworthiness and continuity do.

What to conclude: dark points have false neighbours (left) or lost true ones (right). PCA folds:
front and back overlap, and all points but those at the rim have false neighbours. t-SNE
tears: few false neighbours, but true ones are lost along the tears.
"""

import matplotlib.pyplot as plt
import numpy as np

import unbend

rng = np.random.default_rng(0)
sphere = rng.normal(size=(1500, 3))
sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
models = {"PCA": unbend.PCA().fit(sphere), "t-SNE": unbend.NeighborEmbedding().fit(sphere)}
measures = {
    "trustworthiness": unbend.quality.trustworthiness,
    "continuity": unbend.quality.continuity,
}

figure, axes = plt.subplots(2, 2, figsize=(9, 8), layout="constrained")
values = {}
for row, (name, model) in zip(axes, models.items(), strict=True):
    for axis, (measure, function) in zip(row, measures.items(), strict=True):
        found = function(sphere, model.embedding_, n_neighbors=20)
        values[name, measure] = float(found)
        unbend.plot.point_quality(
            model, found, name=measure, ax=axis, title=f"{name}: {measure} {found:.3f}"
        )

# %%

for (name, measure), value in values.items():
    print(f"{name:6} {measure:16} {value:.3f}")
assert values["t-SNE", "trustworthiness"] > values["PCA", "trustworthiness"] + 0.05
assert values["PCA", "continuity"] > values["PCA", "trustworthiness"]
