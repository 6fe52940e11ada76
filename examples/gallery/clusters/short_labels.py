"""
When some labels are known
==========================

Book section 10.3.2: supervised LLE mixes the weights of LLE with weights from neighbours of the
same class, by a share t. Labels of half of the digits are known.

What to conclude: the method uses the labels to separate classes, so a separated picture proves
nothing. Judge it by rows whose labels were not used. These are classified better here, too.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import unbend

pixels, digit = load_digits(n_class=5, return_X_y=True)
known = np.random.default_rng(0).random(len(digit)) < 0.5
partial = np.where(known, digit, -1)
figure, axes = plt.subplots(2, 2, figsize=(8, 6), layout="constrained")
right = {}
for axis, t in zip(axes.ravel(), (0.0, 0.5, 0.9, 1.0), strict=True):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes drawn to points are what is shown
        flat = unbend.SupervisedLLE(n_neighbors=12, t=t).fit_transform(pixels, partial)
    vote = KNeighborsClassifier(10).fit(flat[known], digit[known])
    right[t] = vote.score(flat[~known], digit[~known])
    axis.scatter(*flat.T, c=digit, cmap="tab10", s=8)
    axis.set_title(f"t = {t:g}", fontsize=15)
    axis.set(xticks=[], yticks=[])

# %%
# Rows without a label, classified by their labelled neighbours in the picture.

for t, share in right.items():
    print(f"t = {t:<5g} {share:.3f}")
assert right[1.0] > right[0.0] + 0.02
