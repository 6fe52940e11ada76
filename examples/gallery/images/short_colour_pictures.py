"""
Colour pictures, ordered by LLE
===============================

Book section 10.3.1 orders colour pictures of a mouth. Here a coloured head turns and nods: 450
pictures of 2016 values each (three channels). If there are more columns than
neighbours, the regularisation ``reg`` determines the result of LLE. It is chosen by
trustworthiness, without the true angles.

What to conclude: choose ``reg`` by a quality measure; the default is not right for pictures.
"""

import warnings

import numpy as np

import unbend

views = unbend.datasets.turning_object(
    (30, 15), size=(28, 24), color=True, light=False, angles=((-40, 40), (-25, 25)),
    sampling="shuffled", random_state=0,
)  # fmt: skip
models = {}
for reg in (0.001, 0.01, 0.03, 0.1, 0.3):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # little regularisation makes coordinates repeat
        models[reg] = unbend.LLE(n_neighbors=10, reg=reg).fit(views.points)
trust = {
    reg: float(unbend.quality.trustworthiness(views.points, model.embedding_))
    for reg, model in models.items()
}
best = max(trust, key=trust.get)
figure = unbend.plot.thumbnails(models[best], np.clip(views.images, 0, 1), side=0.06)

# %%
# Share of the two angles that is a linear function of the two coordinates, for every value.


def explained(embedding):
    """Share of the variance of turn and nod."""
    design = np.column_stack((embedding, np.ones(len(embedding))))
    rest = views.chart - design @ np.linalg.lstsq(design, views.chart, rcond=None)[0]
    return 1 - rest.var(axis=0) / views.chart.var(axis=0)


for reg, model in models.items():
    turn, nod = explained(model.embedding_)
    print(f"reg={reg:<6} trustworthiness {trust[reg]:.4f}  turn {turn:.0%}, nod {nod:.0%}")
print(f"chosen by trustworthiness: reg={best}")
assert explained(models[best].embedding_).min() > 0.9
