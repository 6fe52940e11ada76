"""
New samples, and samples from elsewhere
=======================================

A model that was fitted once embeds new samples with ``transform``. Any sample gets coordinates,
however far it is from the training rows, so ask for its *outlyingness*: about 1 for samples like
the training rows, above 5 for samples far outside.

What to conclude: never look at ``transform`` of unknown data without the outlyingness.
"""

import matplotlib.pyplot as plt
import numpy as np

import unbend

roll = unbend.datasets.swiss_roll(2000, random_state=0)
model = unbend.LTSA(n_neighbors=10).fit(roll.points[:1500])
outside = np.random.default_rng(0).normal(roll.points.mean(axis=0), 40, (100, 3))
samples = np.vstack((roll.points[1500:], outside))
coordinates, outlyingness = model.transform(samples, return_outlyingness=True)
far = outlyingness > 5

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
axes[0].scatter(*model.embedding_.T, c="lightgray", s=6)
axes[0].scatter(*coordinates[~far].T, c=np.r_[roll.chart[1500:, 0], np.zeros(100)][~far], s=10)
axes[0].scatter(*coordinates[far].T, c="crimson", marker="x", s=18)
axes[0].set(title="new samples among the training rows (gray)", xticks=[], yticks=[])
axes[1].hist(
    [outlyingness[:500], outlyingness[500:]],
    bins=np.logspace(-0.5, 2, 30),
    label=["roll", "elsewhere"],
)
axes[1].axvline(5, color="gray", linestyle="--")
axes[1].set(xscale="log", xlabel="outlyingness", title="red crosses are above 5")
axes[1].legend()

# %%
# New samples of the roll land where a fit of all rows would put them.

error = unbend.quality.procrustes(roll.chart[1500:], coordinates[:500], kind="affine")
print(f"error of the 500 new samples against their true chart: {error:.5f}")
print(f"far outside: {far[:500].mean():.1%} of the roll, {far[500:].mean():.0%} of the others")
assert error < 0.001
assert far[:500].mean() <= 0.01
assert far[500:].mean() > 0.6
