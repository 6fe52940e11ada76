"""Shuffled pictures of a turning object, put in order: `python examples/sorting_pictures.py`.

36 pictures of 64 x 64 pixels, in no order, are 36 points in 4096 dimensions; one Isomap coordinate
sorts them (book section 15.4.2). The kernel is solved exactly and by anisotropic transformations
with m = 21, whose mixtures are Gaussian (type 1) and ±1 (type 2): the same order each time.

    python examples/sorting_pictures.py sorted.png      # also the pictures before and after
"""

import sys

import numpy as np

import unbend

SOLVERS = {
    "Isomap": "dense",
    "P-RAT, type 1": unbend.Fat("prat", 21),
    "P-RAT, type 2": unbend.Fat("prat", 21, "sign"),
}


def shuffled(seed=0):
    """Pictures from one profile to the other, at random angles."""
    ranges = ((-90, 90), (0, 0))
    return unbend.datasets.turning_object(36, angles=ranges, light=False, random_state=seed)


def order(points, solver, n_neighbors=4):
    """Sort rows by the first Isomap coordinate."""
    isomap = unbend.Isomap(n_components=1, n_neighbors=n_neighbors, eigen_solver=solver)
    return np.argsort(isomap.fit_transform(points)[:, 0])


def is_true_order(found, angles):
    """Whether pictures are in the order of the angles, or in the reverse one."""
    true = np.argsort(angles)
    return bool(np.array_equal(found, true) or np.array_equal(found[::-1], true))


def draw(pictures, orders, path):
    """One strip of pictures for each order."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(18, 1.3 * (len(orders) + 1)), layout="constrained")
    rows = {"as they came": np.arange(len(pictures)), **orders}
    axes = figure.subplots(len(rows), 1)
    for axis, (name, found) in zip(axes, rows.items(), strict=True):
        axis.imshow(np.concatenate([pictures[i].reshape(64, 64) for i in found], axis=1), "gray")
        axis.set_title(name, loc="left")
        axis.axis("off")
    figure.savefig(path)


def main():
    """Sort the pictures by every solver and say whether the order is right."""
    views = shuffled()
    orders = {name: order(views.points, solver) for name, solver in SOLVERS.items()}
    for name, found in orders.items():
        right = is_true_order(found, views.chart[:, 0])
        print(f"{name:<16} {'the true order' if right else 'NOT the true order'}: {found[:8]} ...")
    if len(sys.argv) > 1:
        draw(views.points, orders, sys.argv[1])


if __name__ == "__main__":
    main()
