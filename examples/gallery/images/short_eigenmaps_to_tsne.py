"""
From eigenmaps to t-SNE
=======================

Attraction along the neighbour graph balances repulsion between all points. One number,
``exaggeration``, sets the balance: Laplacian eigenmaps at one end, layouts like UMAP's at about
4, t-SNE at 1.

What to conclude: they are one family. Read continuous structure at the left and clusters at the
right, and distances between clusters nowhere.
"""

from sklearn.datasets import load_digits

import unbend
from unbend.quality import neighborhood_hit

pixels, digit = load_digits(return_X_y=True)
values = {"eigenmaps": "max", "exaggeration=12": 12, "exaggeration=4": 4, "t-SNE (1)": 1}
models = {
    name: unbend.NeighborEmbedding(exaggeration=value).fit(pixels) for name, value in values.items()
}
figure = unbend.plot.contact_sheet(models, digit, columns=2)

# %%
# The share of the ten nearest points that show the same digit grows from left to right.

hits = {
    name: float(neighborhood_hit(model.embedding_, digit, n_neighbors=10))
    for name, model in models.items()
}
for name, hit in hits.items():
    print(f"{name:16} {hit:.3f}")
assert hits["t-SNE (1)"] > 0.95 > hits["eigenmaps"]
