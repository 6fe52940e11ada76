"""
A map from a table of distances
===============================

Book section 6.4: distances between cities in kilometres, and nothing else. Classical scaling
gives a map, up to rotation and reflection. The figure aligns it with the true map.

What to conclude: distances determine the map. The remaining error, a few kilometres, comes from the
curvature of the Earth, which no flat map reproduces.
"""

import numpy as np
from cities import UNITED_STATES, azimuthal_map, great_circles

import unbend

distances = np.round(great_circles(UNITED_STATES))
model = unbend.ClassicalMDS(metric="precomputed").fit(distances)
truth = azimuthal_map(UNITED_STATES)
found = unbend.quality.align(truth, model.embedding_)
figure = unbend.plot.scatter(
    found, names=list(UNITED_STATES), title="From distances alone", method="classical_mds"
)

# %%

off = np.linalg.norm(found - truth, axis=1)
print(
    f"{len(off)} cities: off by {np.median(off):.0f} km in the median, {off.max():.0f} km at most"
)
assert off.max() < 20
