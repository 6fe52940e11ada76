"""Data and contenders of the pictures, and the affinities that judge a case."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, load_npz, save_npz
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import unbend
from benchmarks.data import CACHE, fashion, glove, strokes
from benchmarks.data import digits as mnist

Array = NDArray[Any]
Fit = Callable[[Array, int, str], Any]


def small_digits(n: int) -> tuple[Array, Array]:
    """Digits of scikit-learn."""
    rows, labels = load_digits(return_X_y=True)
    return rows[:n], labels[:n]


DATA: dict[str, Callable[[int], tuple[Array, Array | None]]] = {
    "digits": small_digits,
    "mnist": mnist,
    "fashion": fashion,
    "glove": glove,
    "strokes": strokes,
}


def ours(**options: Any) -> Fit:
    """Neighbour embedding; the seed matters for approximate neighbours only."""

    def fit(rows: Array, seed: int, case: str) -> Any:
        return unbend.NeighborEmbedding(random_state=seed, n_jobs=1, **options).fit(rows)

    return fit


def ours_of_affinities(rows: Array, seed: int, case: str) -> Any:
    """Lay out the affinities of the case, as openTSNE does; of the warm-up's rows their own."""
    if len(rows) != CASES[case][1]:
        return unbend.NeighborEmbedding(random_state=seed, n_jobs=1).fit(rows)
    model = unbend.NeighborEmbedding(metric="affinity", tol=0, random_state=seed, n_jobs=1)
    return model.fit(case_affinities(case))


def principal_components(rows: Array, seed: int) -> Array:
    """Rows as openTSNE's guide has them: fifty principal components of wide ones."""
    if rows.shape[1] > 50:
        rows = PCA(50, random_state=seed).fit_transform(rows)
    return np.ascontiguousarray(rows)


def open_tsne(**options: Any) -> Fit:
    """Fit openTSNE, after the same number of principal components."""

    def fit(rows: Array, seed: int, case: str) -> Any:
        from openTSNE import TSNE

        return TSNE(n_jobs=1, random_state=seed, **options).fit(principal_components(rows, seed))

    return fit


def open_tsne_of_ours(rows: Array, seed: int, case: str) -> Any:
    """Compute openTSNE's affinities and lay out those of the case."""
    from openTSNE import TSNE
    from openTSNE.affinity import PerplexityBasedNN, PrecomputedAffinities

    rows = principal_components(rows, seed)
    own = PerplexityBasedNN(rows, perplexity=30, n_jobs=1, random_state=seed)
    joint = case_affinities(case) if len(rows) == CASES[case][1] else own.P
    return TSNE(n_jobs=1, random_state=seed).fit(rows, affinities=PrecomputedAffinities(joint))


def umap(rows: Array, seed: int, case: str) -> Any:
    """Fit UMAP with its defaults."""
    from umap import UMAP

    return UMAP(random_state=seed, n_jobs=1).fit(rows)


def pacmap(rows: Array, seed: int, case: str) -> Any:
    """Fit PaCMAP with its defaults."""
    from pacmap import PaCMAP

    return PaCMAP(random_state=seed).fit_transform(rows)


CONTENDERS: dict[str, Fit] = {
    "unbend, exaggeration 1": ours(),
    "unbend, exaggeration 1, 750 iterations": ours(tol=0),
    "unbend, exaggeration 1, our affinities": ours_of_affinities,
    "unbend, exaggeration 1, 750 iterations, PCA start": ours(tol=0, init="pca"),
    "unbend, exaggeration 4, perplexity 10": ours(exaggeration=4, perplexity=10),
    "unbend, exaggeration 4, 15 neighbours": ours(exaggeration=4, n_neighbors=15),
    "unbend, exaggeration 4, approximate neighbours": ours(
        exaggeration=4, n_neighbors=15, neighbors_algorithm="approximate"
    ),
    "openTSNE, exaggeration 1": open_tsne(),
    "openTSNE, exaggeration 1, our affinities": open_tsne_of_ours,
    "openTSNE, exaggeration 4, perplexity 10": open_tsne(exaggeration=4, perplexity=10),
    "UMAP": umap,
    "PaCMAP": pacmap,
}
EVERYONE = [name for name in CONTENDERS if "approximate" not in name and "PCA" not in name]
# Both minimise the divergence of the same matrix in as many iterations.
SAME = ["unbend, exaggeration 1, our affinities", "openTSNE, exaggeration 1, our affinities"]
WHOLE = "unbend, exaggeration 1, 750 iterations"
LARGE = [WHOLE, *SAME, "unbend, exaggeration 4, 15 neighbours", "UMAP"]
JUDGED_BY_DIVERGENCE = {*SAME, WHOLE, f"{WHOLE}, PCA start"}
# Data, rows, contenders.
CASES: dict[str, tuple[str, int, list[str]]] = {
    "digits": ("digits", 1797, EVERYONE),
    "mnist 10k": ("mnist", 10_000, EVERYONE),
    "fashion 10k": ("fashion", 10_000, EVERYONE),
    "mnist 70k": ("mnist", 70_000, [*LARGE, "PaCMAP"]),
    "fashion 70k": ("fashion", 70_000, LARGE),
    "glove 50k": ("glove", 50_000, [*LARGE, "unbend, exaggeration 1, 750 iterations, PCA start"]),
    "strokes 1M": ("strokes", 1_000_000, ["unbend, exaggeration 4, approximate neighbours"]),
}
# New samples in pictures of as many rows.
PLACEMENT = "new samples"
PLACED = ["unbend, exaggeration 1", "openTSNE, exaggeration 1", "UMAP"]


def case_affinities(case: str) -> csr_array:
    """Joint probabilities of perplexity 30 that judge a case, computed once."""
    cached = CACHE / f"affinities {case}.npz"
    if not cached.exists():
        name, n, _ = CASES[case]
        rows, _ = DATA[name](n)
        # The affinities depend neither on the start nor on the descent.
        start = np.random.default_rng(0).standard_normal((n, 2))
        model = unbend.NeighborEmbedding(max_iter=1, init=start).fit(rows)
        save_npz(cached, model.affinities_)
    return csr_array(load_npz(cached))
