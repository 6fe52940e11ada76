"""
Surfaces and methods
====================

Four surfaces by six methods. Colour is the position along the sheet. A method that finds the
sheet shows the colours in order, in a shape without overlaps.

What to conclude: no method wins everywhere. PCA projects every surface, which overlaps the turns of
the roll. Isomap keeps lengths, and enlarges the hole of a sheet. LTSA and Hessian LLE find all flat
sheets, with or without a hole. A punched sphere cannot be flattened without stretching; Laplacian
eigenmaps show it as a disc.
"""

import matplotlib.pyplot as plt

import unbend

surfaces = {
    "Swiss roll": unbend.datasets.swiss_roll(800, random_state=0),
    "S-curve": unbend.datasets.s_curve(800, random_state=0),
    "roll with a hole": unbend.datasets.swiss_hole(800, random_state=0),
    "punched sphere": unbend.datasets.punched_sphere(800, random_state=0),
}
methods = {
    "PCA": unbend.PCA(),
    "Isomap": unbend.Isomap(n_neighbors=8),
    "LLE": unbend.LLE(n_neighbors=8),
    "LTSA": unbend.LTSA(n_neighbors=8),
    "Hessian LLE": unbend.HessianLLE(n_neighbors=8),
    "eigenmaps": unbend.LaplacianEigenmaps(n_neighbors=8),
}
embeddings = {
    (surface, method): estimator.fit_transform(data.points)
    for surface, data in surfaces.items()
    for method, estimator in methods.items()
}

figure = plt.figure(figsize=(12, 7), layout="constrained")
for row, (surface, data) in enumerate(surfaces.items()):
    axes = figure.add_subplot(4, 7, 7 * row + 1, projection="3d")
    axes.scatter(*data.points.T, c=data.chart[:, 0], s=2)
    axes.set_title(surface)
    axes.set_axis_off()
    for column, method in enumerate(methods, start=2):
        axes = figure.add_subplot(4, 7, 7 * row + column)
        axes.scatter(*embeddings[surface, method].T, c=data.chart[:, 0], s=2)
        axes.set(xticks=[], yticks=[], title=method if row == 0 else "")

# %%
# How good is each? The error is what the best affine map leaves of the true chart: 0 for a perfect
# one, 1 for coordinates that have nothing to do with it.

print(f"{'':18}", *(f"{method:>12}" for method in methods))
errors = {
    (surface, method): unbend.quality.procrustes(surfaces[surface].chart, found, kind="affine")
    for (surface, method), found in embeddings.items()
}
for surface in surfaces:
    print(f"{surface:18}", *(f"{errors[surface, method]:12.3f}" for method in methods))

flat = ("Swiss roll", "S-curve", "roll with a hole")
assert all(errors[surface, "LTSA"] < 0.01 for surface in flat)
assert errors["Swiss roll", "PCA"] > 0.5
assert errors["roll with a hole", "Isomap"] > 5 * errors["roll with a hole", "LTSA"]
