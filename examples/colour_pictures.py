"""Colour pictures put in order by LLE: `python examples/colour_pictures.py [heads.png]`.

Book 10.3.1 lays out colour pictures of a mouth by two coordinates of LLE. Here a coloured head
turns and nods; each picture is a point of three channels. Pictures are rendered on a grid of 30 ×
15 and shuffled, so that the two angles are known. With ten neighbours of 2016 values each, weights
need more than the default regularisation: with reg=0.001 the angles are not found (58 and 75 %).
"""

import sys

import numpy as np

import unbend


def main():
    """Embed, compare with the angles, and draw."""
    views = unbend.datasets.turning_object(
        (30, 15), size=(28, 24), color=True, light=False, angles=((-40, 40), (-25, 25)),
        sampling="shuffled", random_state=0,
    )  # fmt: skip
    model = unbend.LLE(n_neighbors=10, reg=0.01).fit(views.points)
    neighbors = unbend.quality.neighborhood_preservation(views.chart, model.embedding_)
    fit = np.column_stack((model.embedding_, np.ones(len(views.points))))
    left = views.chart - fit @ np.linalg.lstsq(fit, views.chart, rcond=None)[0]
    shares = 1 - left.var(axis=0) / views.chart.var(axis=0)
    print(f"{len(views.images)} pictures of {views.points.shape[1]} values")
    print(
        f"LLE explains {shares[0]:.0%} of the turn and {shares[1]:.0%} of the nod linearly, and "
        f"keeps {neighbors:.0%} of the ten nearest in angle (0 is chance)."
    )
    if len(sys.argv) > 1:
        figure = unbend.plot.thumbnails(model, np.clip(views.images, 0, 1), side=0.05)
        unbend.plot.save(figure, sys.argv[1])


if __name__ == "__main__":
    main()
