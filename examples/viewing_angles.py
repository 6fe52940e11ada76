"""Two viewing angles found by diffusion maps: `python examples/viewing_angles.py [views.png]`.

Book 14.5.3 and 15.4.2: 51 × 25 pictures of 75 × 81 pixels, of a head from as many directions, in no
order. Two coordinates of diffusion maps (Laplace–Beltrami normalisation) recover both angles. The
head is rendered, so that the angles are known.
"""

import sys

import numpy as np

import unbend


def main():
    """Embed, compare with the angles, and draw."""
    views = unbend.datasets.turning_object(
        (51, 25), size=(81, 75), light=False, sampling="shuffled", random_state=0
    )
    model = unbend.DiffusionMaps(n_neighbors=20).fit(views.points)
    # Pictures change by different amounts with each angle, so that ranks are compared.
    ranks = [np.argsort(np.argsort(column)) for column in (*views.chart.T, *model.embedding_.T)]
    table = np.abs(np.corrcoef(ranks)[:2, 2:])
    own = table.argmax(axis=1)
    print(f"{len(views.images)} pictures of {views.points.shape[1]} pixels")
    print(
        f"Coordinate {own[0] + 1} has the order of the turn (rank correlation {table[0].max():.3f})"
        f" and coordinate {own[1] + 1} that of the nod ({table[1].max():.3f})."
    )
    if len(sys.argv) > 1:
        figure = unbend.plot.scatter(model, views.chart, title="Colour: the true angles")
        unbend.plot.save(figure, sys.argv[1])


if __name__ == "__main__":
    main()
