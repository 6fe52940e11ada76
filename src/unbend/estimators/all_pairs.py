"""Spectral embedding without neighbourhoods: all pairs of rows, by a few columns of affinities."""

from typing import Any

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.eigen import Nystrom, signed
from unbend.estimators.diagnostics import noted_repetition
from unbend.estimators.inputs import open_space
from unbend.estimators.search import Found
from unbend.estimators.shepard import check_size
from unbend.extension import Barycentric, Placement, Rule
from unbend.gram.similarities import SimilarityColumns
from unbend.gram.spectral import (
    LEAST_DEGREE,
    SpectralColumns,
    SpectralPlaces,
    WeightedDistances,
    spectral_columns,
)
from unbend.graphs import heat_kernel
from unbend.graphs.weights import Weight
from unbend.neighbors import Neighbors, PointSpace
from unbend.report import note, stage
from unbend.validation.random_state import generator
from unbend.validation.threads import threads

# Fitted rows by which coordinates are carried back to rows.
BACK = 10


def all_pairs(model: Any, X: Any, solver: Nystrom) -> dict[str, Any]:
    """Embed rows by the random walk on all pairs (slides (69)); return what a model keeps.

    Nothing of size n² is made: three passes over n × m affinities.
    """
    if model.weights == "adjacency" or model.normalization == "none":
        raise ValueError(
            f"weights={model.weights!r} with normalization={model.normalization!r} says nothing "
            "about all pairs of rows: use weights='heat' and 'random_walk', or give n_neighbors"
        )
    space, dtype = open_space(model, X, threads(model.n_jobs))
    if not isinstance(space, PointSpace):
        raise ValueError(
            "all pairs are weighed by the distances between rows, and metric='precomputed' gives "
            "none: give n_neighbors or radius"
        )
    d = model.n_components
    check_size(d, space.n)
    with stage("kernel"):
        chosen = solver.columns(space.n, d + 1, generator(model.random_state))
        affinities = WeightedDistances(space, chosen, _weight(model, space, chosen))
        note(rows=space.n, columns=len(chosen), pairs="all")
    with stage("spectrum"):
        found = spectral_columns(SimilarityColumns(space.points, chosen, affinities), d + 2)
        note(rows=space.n, end="top", wanted=d, solver=repr(model.eigen_solver), converged=True)
        if len(found.values) <= d:
            raise ValueError(
                f"{len(chosen)} columns of the weights have only {len(found.values)} eigenvectors "
                f"for {d} coordinates: use a larger m, a smaller t or a smaller n_components"
            )
    with stage("coordinates"):
        return _kept(space, dtype, affinities, found, d, model.normalization == "symmetric")


def _weight(model: Any, space: PointSpace, chosen: IntArray) -> Weight:
    if model.weights != "heat":
        weight: Weight = model.weights
        return weight
    few = space.take(chosen)
    between = few.distances_of(few.rows(np.arange(few.n)))
    if not np.any(between > 0):
        raise ValueError(f"the {few.n} rows whose columns were drawn are all equal: use a larger m")
    return heat_kernel(between[~np.eye(few.n, dtype=bool)], model.t)


def _kept(
    space: PointSpace,
    dtype: np.dtype[Any],
    affinities: WeightedDistances,
    found: SpectralColumns,
    d: int,
    scaled: bool,
) -> dict[str, Any]:
    wanted = slice(1, d + 1)
    plain: FloatArray = found.vectors[:, wanted]
    vectors = signed(plain)
    turn = np.where(np.sum(plain * vectors, axis=0) < 0, -1.0, 1.0)
    least = LEAST_DEGREE * float(found.degree.max())
    places = SpectralPlaces(
        affinities, found.weights[:, wanted] * turn, found.degree_weights, least, scaled
    )
    coordinates = vectors * np.sqrt(found.degree)[:, None] if scaled else vectors
    rows = np.arange(space.n)
    # No neighbours were looked for: the graph that the model shows has no edges.
    none = Neighbors(np.zeros(space.n + 1, dtype=np.int64), np.empty(0, np.int64), np.empty(0))
    map_ = PointSpace(coordinates)
    back = Barycentric(map_, Rule(max(BACK, d + 1)), space.points)
    values = 1.0 - found.values
    return {
        "embedding": coordinates,
        "dtype": dtype,
        "extension": Placement.whole(space, coordinates, places),
        "preimage": Placement.whole(map_, space.points, back),
        "component_": np.zeros(space.n, dtype=np.int64),
        "eigenvalues_": values[wanted],
        "_next_eigenvalue": float(values[d + 1]) if len(values) > d + 1 else np.nan,
        "repeated_": noted_repetition(vectors),
        "volume_": float(found.degree.sum()),
        "_found": Found(space, none, Rule(1), rows, rows),
    }
