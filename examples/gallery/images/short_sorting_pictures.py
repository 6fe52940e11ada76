"""
Shuffled pictures, put in order
===============================

Book sections 14.5.2 and 15.4.2: 36 pictures of a turning head, in no order, are 36 points in 4096
dimensions. One Isomap coordinate sorts them.

What to conclude: one coordinate is enough where one parameter changes. The order is exact; ask
for one component, not for two, when you expect a sequence.
"""

import matplotlib.pyplot as plt
import numpy as np

import unbend

angles = ((-90, 90), (0, 0))
views = unbend.datasets.turning_object(36, angles=angles, light=False, random_state=0)
order = np.argsort(unbend.Isomap(n_components=1, n_neighbors=4).fit_transform(views.points)[:, 0])

figure, axes = plt.subplots(2, 1, figsize=(9, 5), layout="constrained")
for axis, (title, places) in zip(
    axes, {"as they came": np.arange(36), "sorted": order}.items(), strict=True
):
    rows = [np.hstack(views.images[places[start : start + 12]]) for start in (0, 12, 24)]
    axis.imshow(np.vstack(rows), cmap="gray")
    axis.set(title=title, xticks=[], yticks=[])

# %%

true = np.argsort(views.chart[:, 0])
right = np.array_equal(order, true) or np.array_equal(order[::-1], true)
print(f"the true order, or its reverse: {right}")
assert right
