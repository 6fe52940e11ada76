"""
Noise, and what denoising does
==============================

Ten thousand points around a Swiss roll, moved off it by noise with a standard deviation of 0.5.
With a fixed number of neighbours, more points make LTSA *worse*: neighbourhoods shrink until they
contain nothing but noise. ``denoise="auto"`` fits landmarks that were projected onto the surface,
and embeds all rows by the out-of-sample extension.

What to conclude: if a local method loses a coordinate of data with many rows, try
``denoise="auto"`` before more neighbours.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import unbend

roll = unbend.datasets.swiss_roll(10_000, noise=0.5, random_state=0)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the first fit warns that noise rules the neighbourhoods
    plain = unbend.LTSA(n_neighbors=12).fit(roll.points)
denoised = unbend.LTSA(n_neighbors=12, denoise="auto").fit(roll.points)

figure, axes = plt.subplot_mosaic("AB;AC", figsize=(8.4, 5.4), layout="constrained")
cut = np.abs(roll.points[:, 1] - np.median(roll.points[:, 1])) < 1.5
axes["A"].scatter(*roll.points[cut][:, [0, 2]].T, c=roll.chart[cut, 0], s=6)
axes["A"].set_title("a slice of the data", fontsize=16)
axes["A"].set_aspect("equal")
for place, title, model in (("B", "LTSA", plain), ("C", "denoise='auto'", denoised)):
    axes[place].scatter(*model.embedding_.T, c=roll.chart[:, 0], s=2)
    axes[place].set_title(title, fontsize=16)
for axis in axes.values():
    axis.set(xticks=[], yticks=[])

# %%
# How much of each true coordinate, length and height, is a linear function of the embedding?


def explained(embedding):
    """Share of the variance of both true coordinates."""
    design = np.column_stack((embedding, np.ones(len(embedding))))
    rest = roll.chart - design @ np.linalg.lstsq(design, roll.chart, rcond=None)[0]
    return 1 - rest.var(axis=0) / roll.chart.var(axis=0)


before, after = explained(plain.embedding_), explained(denoised.embedding_)
for name, (length, height) in {"LTSA": before, "with denoising": after}.items():
    print(f"{name:15} length {length:.3f}, height {height:.3f}")
print(denoised.report_.stage("denoise").facts)
assert before.min() < 0.1 < 0.97 < after.min()
