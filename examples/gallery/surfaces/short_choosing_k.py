"""
How many neighbours?
====================

The same Swiss roll with too few, enough and too many neighbours. With four, shortest paths make
detours; with forty, edges jump from one turn of the roll to the next, and no method can correct
that.

What to conclude: between the two, here from 6 to 12, the number hardly matters. Let
``n_neighbors="auto"`` choose, or look at several.
"""

# sphinx_gallery_thumbnail_number = 1
import matplotlib.pyplot as plt

import unbend

roll = unbend.datasets.swiss_roll(1000, random_state=0)
sizes = (4, 6, 8, 10, 14, 20, 28, 40)
models = {k: unbend.Isomap(n_neighbors=k).fit(roll.points) for k in sizes}
figure, axes = plt.subplots(2, 2, figsize=(8, 5.4), layout="constrained")
for axis, k in zip(axes.ravel(), (4, 8, 20, 40), strict=True):
    axis.scatter(*models[k].embedding_.T, c=roll.chart[:, 0], s=10)
    axis.set_title(f"{k} neighbours", fontsize=16)
    axis.set(xticks=[], yticks=[])

# %%
# The error against the true chart, and the number that the data themselves suggest.

errors = {k: unbend.quality.procrustes(roll.chart, model.embedding_) for k, model in models.items()}
choice = unbend.choose_neighbors(roll.points)
curve, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
axis.semilogy(list(errors), list(errors.values()), "o-")
axis.axvline(int(choice), color="gray", linestyle="--", label=f"chosen: {int(choice)}")
axis.set(xlabel="n_neighbors", ylabel="Procrustes error")
axis.legend()

print({k: round(error, 4) for k, error in errors.items()})
print(choice)
chosen = unbend.Isomap(n_neighbors=int(choice)).fit(roll.points)
error = unbend.quality.procrustes(roll.chart, chosen.embedding_)
print(f"error with the chosen {int(choice)} neighbours: {error:.4f}")
assert errors[40] > 0.1 > 0.02 > error
