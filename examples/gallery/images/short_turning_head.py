"""
Pose and light of a turning head
================================

Book section 8.4.2: 698 pictures of 64 × 64 pixels differ in three parameters, the turn, the nod
and the direction of the light. Isomap gets the pixels only, in no order, and finds three
coordinates. The head is rendered, so the parameters are known.

What to conclude: coordinates of a neighbourhood method can be *parameters of the world*, not only
a picture. The thumbnails turn from left to right and nod from bottom to top (or the other way
around: signs are arbitrary).
"""

import numpy as np

import unbend

views = unbend.datasets.turning_object(698, random_state=0)
model = unbend.Isomap(n_components=3, n_neighbors=6).fit(views.points)
correlation = np.abs(np.corrcoef(views.chart.T, model.embedding_.T)[:3, 3:])
turn, nod = correlation[:2].argmax(axis=1)
figure = unbend.plot.thumbnails(
    model.embedding_[:, [turn, nod]], views.images, views.chart[:, 2], method="isomap", side=0.07
)

# %%
# How far do the three coordinates together determine each parameter? The book has correlations of
# .99, .90 and .92, on photographs and with one coordinate each.

design = np.column_stack((model.embedding_, np.ones(len(views.chart))))
rest = views.chart - design @ np.linalg.lstsq(design, views.chart, rcond=None)[0]
together = np.sqrt(1 - rest.var(axis=0) / views.chart.var(axis=0))
for label, value in zip(views.labels, together, strict=True):
    print(f"{label:12} R = {value:.2f}")
assert together.min() > 0.9
