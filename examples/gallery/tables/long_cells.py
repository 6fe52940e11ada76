"""
Blood cells
===========

700 white blood cells by the activity of 765 genes (``pbmc68k_reduced`` of the package ``scanpy``,
fetched once; needs ``h5py``). The types were found by others, from other measurements, and only
colour the picture.

What to conclude: types of cells form groups that the genes show without labels; closely related
types of T cells overlap. Diffusion maps show which groups are connected, t-SNE which there are.
"""

import numpy as np
from real_data import cells

import unbend
from unbend.quality import neighborhood_hit

genes, kinds = cells()
reduced = unbend.PCA(n_components=30).fit_transform(genes)
models = {
    "PCA": unbend.PCA().fit(genes),
    "Isomap": unbend.Isomap().fit(reduced),
    "DiffusionMaps": unbend.DiffusionMaps().fit(reduced),
    "NeighborEmbedding": unbend.NeighborEmbedding().fit(reduced),
}
figure = unbend.plot.contact_sheet(models, kinds, columns=2)

# %%
# Share of the ten nearest cells that are of the same type.

hits = {
    name: float(neighborhood_hit(model.embedding_, kinds, n_neighbors=10))
    for name, model in models.items()
}
chance = float(np.sum((np.unique(kinds, return_counts=True)[1] / len(kinds)) ** 2))
for name, hit in {**hits, "chance": chance}.items():
    print(f"{name:18} {hit:.2f}")
assert hits["NeighborEmbedding"] == max(hits.values()) > 2 * chance
