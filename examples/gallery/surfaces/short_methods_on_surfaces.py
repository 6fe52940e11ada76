"""
Surfaces and methods
====================

Nine methods on the same Swiss roll. Colour is the position along the sheet: a method that unrolls
it shows the colours in order, in a shape without overlaps.
"""

import unbend

roll = unbend.datasets.swiss_roll(1000, random_state=0)
methods = [
    unbend.PCA(),
    unbend.MetricMDS(),
    unbend.Isomap(n_neighbors=8),
    unbend.MVU(n_neighbors=6),
    unbend.LLE(n_neighbors=8),
    unbend.LTSA(n_neighbors=8),
    unbend.HessianLLE(n_neighbors=8),
    unbend.LaplacianEigenmaps(n_neighbors=8),
    unbend.DiffusionMaps(),
]
models = {type(method).__name__: method.fit(roll.points) for method in methods}
figure = unbend.plot.contact_sheet(models, roll)

# %%
# How good is each? The Procrustes error to the true sheet after the best affine map is 0 for a
# perfect chart; trustworthiness is 1 where no false neighbours were brought in.

print(f"{'method':20} {'error':>8} {'trust':>8}")
for name, model in models.items():
    error = unbend.quality.procrustes(roll.chart, model.embedding_, kind="affine")
    trust = unbend.quality.trustworthiness(roll.points, model.embedding_)
    print(f"{name:20} {error:8.4f} {trust:8.3f}")
