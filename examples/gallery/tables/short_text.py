"""
Texts: what Python's modules are about
======================================

Documentation strings of the functions and classes in ten modules of Python's standard library.
``read_texts`` tokenises them and weighs terms by tf-idf; PCA to 30 directions, then a picture.

What to conclude: documents are compared by angles between rows of terms. The picture shows which
modules share their vocabulary, and most neighbours of a text come from its own module.
"""

import importlib
import inspect

import numpy as np

import unbend
from unbend.quality import neighborhood_hit

modules = ("argparse", "asyncio", "decimal", "email.message", "logging", "pathlib",
           "sqlite3", "statistics", "tkinter", "zipfile")  # fmt: skip
texts, module = [], []
for name in modules:
    found = importlib.import_module(name) if importlib.util.find_spec(name) else None
    for value in vars(found).values() if found else ():
        members = [value, *vars(value).values()] if inspect.isclass(value) else [value]
        for one in members:
            text = inspect.getdoc(one) if callable(one) else None
            if text and len(text) > 80 and text not in texts:
                texts.append(text)
                module.append(name)
module = np.array(module)
terms = unbend.io.read_texts(texts, stem=True)
print(f"{len(texts)} texts, {len(terms.columns)} terms")
reduced = unbend.PCA(n_components=30, svd_solver="arpack").fit_transform(terms.values)
model = unbend.NeighborEmbedding(metric="cosine").fit(reduced)
figure = unbend.plot.scatter(model, module, title="Documentation of Python's modules")

# %%
# The share of the five nearest texts that come from the same module, against chance.

hit = float(neighborhood_hit(model.embedding_, module, n_neighbors=5))
chance = float(np.sum((np.unique(module, return_counts=True)[1] / len(module)) ** 2))
print(f"same module: {hit:.2f}, by chance {chance:.2f}")
assert hit > 2 * chance
