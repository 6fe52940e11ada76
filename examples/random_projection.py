"""Noisy images and texts by random projection: `python examples/random_projection.py [rp.png]`.

Book 7.4.2: a random projection is cheap and does not depend on which pixels carry noise. The script
measures how well k coordinates of noisy digits predict distances between the clean ones, and how
many of a text's ten nearest texts its projection keeps, both beside PCA. Data: scikit-learn's
digits; package descriptions of Debian (`apt-cache dumpavail`), or random texts of ten topics.
"""

import sys

import numpy as np
from real_data import descriptions
from sklearn.datasets import load_digits

import unbend
from unbend.quality import neighborhood_preservation

SIZES = (8, 16, 32, 48)


def noisy_digits(share=0.1):
    """Digits, and the same with a share of the pixels replaced by black or white."""
    clean = load_digits().data[:1000]
    rng = np.random.default_rng(0)
    hit = rng.random(clean.shape) < share
    return clean, np.where(hit, rng.choice((0.0, 16.0), clean.shape), clean)


def documents():
    """Return texts as sparse rows of unit length."""
    try:
        rows = {name: column[:2000] for name, column in descriptions().items()}
        return unbend.io.read_texts(rows, column="text", stem=True).values
    except FileNotFoundError as advice:
        print(f"{advice}. Random texts are used.")
        rng = np.random.default_rng(0)
        topics = rng.dirichlet(np.full(1000, 0.02), 10)
        words = [rng.choice(1000, 20, p=topics[topic]) for topic in rng.integers(10, size=1000)]
        sentences = [" ".join(f"word{word}" for word in some) for some in words]
        return unbend.io.read_texts(sentences, stop_words=None).values


def pairs(rows):
    """Distances of all pairs of rows, as a vector."""
    squares = np.square(rows).sum(axis=1)
    gram = squares[:, None] + squares - 2 * rows @ rows.T
    return np.sqrt(np.maximum(gram[np.triu_indices(len(rows), 1)], 0))


def main():
    """Measure both, and draw the curves."""
    clean, noisy = noisy_digits()
    texts = documents()
    truth, curves = pairs(clean), {"noisy digits": {}, "texts": {}}
    for name in ("RandomProjection", "PCA"):
        method = getattr(unbend, name)
        options = {"orthogonalize": True} if name == "RandomProjection" else {}
        flat = [method(n_components=k, **options).fit_transform(noisy) for k in SIZES]
        curves["noisy digits"][name] = [np.corrcoef(truth, pairs(one))[0, 1] for one in flat]
        flat = [method(n_components=8 * k).fit_transform(texts) for k in SIZES]
        dense = texts.toarray()
        curves["texts"][name] = [neighborhood_preservation(dense, one) for one in flat]
    for data, found in curves.items():
        for name, values in found.items():
            print(f"{data:14} {name:18} " + " ".join(f"{value:.3f}" for value in values))
    digits, words = (found["RandomProjection"][-1] for found in curves.values())
    print(
        f"48 random directions of noisy digits have a correlation of {digits:.2f} with clean "
        f"distances; 384 keep {words:.0%} of the ten nearest texts (0 is chance)."
    )
    if len(sys.argv) > 1:
        figure = unbend.plot.image_sheet(
            np.r_[clean[:10], noisy[:10]].reshape(-1, 8, 8), columns=10
        )
        unbend.plot.save(figure, sys.argv[1])


if __name__ == "__main__":
    main()
