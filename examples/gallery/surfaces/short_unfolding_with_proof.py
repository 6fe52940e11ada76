"""
Unfolding with a proof
======================

Maximum variance unfolding moves points as far apart as the lengths of the edges between
neighbours allow. It is a semidefinite program, and the fit comes with a proved bound of how far
it is from the optimum.

What to conclude: use MVU for some hundred points if local lengths must be kept and you need a
certificate. With landmarks it reaches thousands.
"""

import matplotlib.pyplot as plt

import unbend

few = unbend.datasets.swiss_roll(400, random_state=0)
many = unbend.datasets.swiss_roll(2000, random_state=0)
fits = {
    "MVU, 400 points": (unbend.MVU(n_neighbors=6), few),
    "Isomap, 400 points": (unbend.Isomap(n_neighbors=6), few),
    "LandmarkMVU, 2000 points": (unbend.LandmarkMVU(n_landmarks=20, random_state=0), many),
}
figure, axes = plt.subplots(3, 1, figsize=(7, 6), layout="constrained")
errors = {}
for axis, (name, (model, roll)) in zip(axes, fits.items(), strict=True):
    model.fit(roll.points)
    errors[name] = unbend.quality.procrustes(roll.chart, model.embedding_)
    axis.scatter(*model.embedding_.T, c=roll.chart[:, 0], s=16)
    axis.set_title(name, fontsize=15)
    axis.set(xticks=[], yticks=[], aspect="equal")

# %%

for name, error in errors.items():
    print(f"{name:26} Procrustes error {error:.4f}")
mvu = fits["MVU, 400 points"][0]
print(f"MVU is {mvu.status_}: at most {mvu.gap_:.1e} below the optimum")
assert mvu.status_ == "certified"
assert max(errors.values()) < 0.05
