"""
Data in several pieces
======================

Two S-curves that do not touch. Their neighbourhood graph has two connected components, and
nothing in the data says where one lies relative to the other. Four ways to handle that, by the
parameter ``connect``.

What to conclude: distances *between* pieces mean nothing, unless the bridge between them does.
Embed pieces side by side to look at each, or the largest alone.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import unbend

first = unbend.datasets.s_curve(500, random_state=0)
second = unbend.datasets.s_curve(300, random_state=1)
points = np.vstack((first.points, second.points + np.array([6, 0, 0])))
color = np.concatenate((first.chart[:, 0], second.chart[:, 0]))
piece = np.repeat([0, 1], (500, 300))

models = {}
for connect in ("bridge", "components", "largest"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        models[connect] = unbend.Isomap(n_neighbors=8, connect=connect).fit(points)
    print(f"{connect}: {caught[0].message if caught else 'no warning'}\n")

figure, axes = plt.subplots(2, 2, figsize=(8, 5.8), layout="constrained")
pictures = {"from the side": points[:, [0, 2]]}
pictures |= {f"connect={connect!r}": model.embedding_ for connect, model in models.items()}
for axis, (title, places) in zip(axes.ravel(), pictures.items(), strict=True):
    for number, marker in ((0, "o"), (1, "^")):
        own = piece == number
        axis.scatter(*places[own].T, c=color[own], s=14, marker=marker)
    axis.set_title(title, fontsize=16)
    axis.set(xticks=[], yticks=[])

# %%
# ``connect="error"`` refuses instead. Each piece on its own is right: its error against its true
# chart is small.

try:
    unbend.Isomap(n_neighbors=8, connect="error").fit(points)
except ValueError as refused:
    print(refused)
model = models["components"]
errors = [
    unbend.quality.procrustes(data.chart, model.embedding_[piece == number])
    for number, data in enumerate((first, second))
]
print(f"components: {model.component_.max() + 1}, errors: {errors[0]:.4f}, {errors[1]:.4f}")
assert max(errors) < 0.01
