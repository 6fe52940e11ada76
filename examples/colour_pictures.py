"""Colour pictures put in order by LLE: `python examples/colour_pictures.py [heads.png]`.

Book 10.3.1 orders colour pictures of a mouth by two coordinates of LLE. Here a coloured head turns
and nods; each picture is a row with three channels. Pictures are rendered on a grid of 30 × 15 and
shuffled, so that the two angles are known. Ten neighbours of 2016 values each hardly determine the
weights, so the result depends on the regularisation. It is chosen by trustworthiness, without the
angles.
"""

import sys
import warnings

import numpy as np

import unbend

REGULARISATIONS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)


def explained(chart, embedding):
    """Return the share of each angle that is a linear function of the coordinates."""
    fit = np.column_stack((embedding, np.ones(len(chart))))
    left = chart - fit @ np.linalg.lstsq(fit, chart, rcond=None)[0]
    return 1 - left.var(axis=0) / chart.var(axis=0)


def main():
    """Embed, choose, compare with the angles, and draw."""
    views = unbend.datasets.turning_object(
        (30, 15), size=(28, 24), color=True, light=False, angles=((-40, 40), (-25, 25)),
        sampling="shuffled", random_state=0,
    )  # fmt: skip
    print(f"{len(views.images)} pictures of {views.points.shape[1]} values")
    print("    reg  trustworthiness   turn    nod")
    models = {}
    for reg in REGULARISATIONS:
        with warnings.catch_warnings():
            # Too little regularisation makes coordinates repeat, which is seen below.
            warnings.simplefilter("ignore")
            model = unbend.LLE(n_neighbors=10, reg=reg).fit(views.points)
        trust = float(unbend.quality.trustworthiness(views.points, model.embedding_))
        turn, nod = explained(views.chart, model.embedding_)
        print(f"{reg:7g}{trust:17.4f}{turn:7.0%}{nod:7.0%}")
        models[trust] = model
    model = models[max(models)]
    neighbors = unbend.quality.neighborhood_preservation(views.chart, model.embedding_)
    turn, nod = explained(views.chart, model.embedding_)
    print(
        f"LLE explains {turn:.0%} of the turn and {nod:.0%} of the nod linearly, and keeps "
        f"{neighbors:.0%} of the ten nearest in angle (0 is chance); reg={model.reg:g} was chosen "
        "by trustworthiness."
    )
    if len(sys.argv) > 1:
        figure = unbend.plot.thumbnails(model, np.clip(views.images, 0, 1), side=0.05)
        unbend.plot.save(figure, sys.argv[1])


if __name__ == "__main__":
    main()
