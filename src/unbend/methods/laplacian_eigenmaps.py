"""Laplacian eigenmaps."""

from typing import Any, final

import numpy as np

from unbend.arrays import FloatArray
from unbend.eigen import few_columns
from unbend.eigen.problem import SpectralProblem, Spectrum
from unbend.estimators.all_pairs import all_pairs
from unbend.estimators.diagnostics import noted_repetition
from unbend.estimators.neighborhood import Finish, NeighborhoodEmbedding, Part
from unbend.estimators.search import Needs
from unbend.extension import Fitted, Harmonic
from unbend.graphs import adjacency, degrees, heat_kernel, weigh
from unbend.graphs.graph import How, symmetric_part
from unbend.graphs.laplacian import difference
from unbend.graphs.weights import Weight
from unbend.neighbors import Neighbors
from unbend.validation.parameters import FUNCTION, NOTHING, Choice, Real, declare, param


@final
@declare
class LaplacianEigenmaps(NeighborhoodEmbedding):
    """Laplacian eigenmaps: the slowest vibrations of the graph are the coordinates.

    With weights W on the edges and degrees D, the coordinates solve (D − W) f = λ D f at the
    bottom end, the constant left out. Neighbours stay together; lengths are not kept, and on a
    long strip later eigenvectors repeat the first (cos 2x is a function of cos x): the report
    tells which, and more components show the other direction.

    With ``n_neighbors=None``, no radius, ``weights="heat"`` and ``eigen_solver=Nystrom(m)`` all
    pairs of rows are joined, and m columns of their weights stand for all (Fowlkes et al., 2004).

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates, orthonormal with respect to D (`random_walk`) or plainly.
    eigenvalues_ : array (n_components,)
        Bottom eigenvalues, the trivial zero left out.
    repeated_ : array (n_components,)
        How well each coordinate is a function of those before it (R²): near one means that it
        adds nothing.
    volume_ : float
        Sum of the degrees.
    component_ : array (n_samples,)
        Component of the graph that each row was in.
    report_ : Report
        What every stage did.

    References
    ----------
    Belkin and Niyogi, Neural Computation 15 (2003). Book chapter 12. All pairs by a few columns:
    Fowlkes, Belongie, Chung and Malik, IEEE PAMI 26 (2004).

    Examples
    --------
    >>> import unbend
    >>> from scipy.stats import spearmanr
    >>> roll = unbend.datasets.swiss_roll(1000, random_state=0)
    >>> waves = unbend.LaplacianEigenmaps(n_neighbors=8).fit_transform(roll.points)
    >>> bool(abs(spearmanr(waves[:, 0], roll.chart[:, 0])[0]) > 0.99)
    True
    """

    weights: Any = param(
        "adjacency",
        Choice("adjacency", "heat"),
        FUNCTION,
        help="Weight of an edge: 1, exp(−d²/t), or a decreasing function of the distance.",
    )
    t: float | None = param(
        None, Real(0), NOTHING, help="Time of the heat kernel; None: twice the mean squared edge."
    )
    symmetrize: How = param(
        "max",
        Choice("max", "min", "mean"),
        help="Weights W as found become max(W, W'), min(W, W') or (W + W')/2.",
    )
    normalization: str = param(
        "random_walk",
        Choice("random_walk", "symmetric", "none"),
        help="Solutions f of L f = λ D f, their scaling D^½ f, or solutions of L f = λ f.",
    )

    def fit(self, X: Any, y: Any = None, *, graph: Any = None) -> "LaplacianEigenmaps":
        """Fit to the rows of X.

        Parameters
        ----------
        X : array (n_samples, n_features)
            Rows to embed; with ``metric="precomputed"`` a dense distance matrix, a sparse one
            whose entries are the edges of a given graph, or a graph of networkx or igraph.
        y : ignored
            Present for scikit-learn's sake.
        graph : sparse array (n_samples, n_samples), or graph of networkx or igraph, optional
            A given graph: the stored entries of row i are its neighbours. Their distances come
            from X; `n_neighbors` and `radius` are then not used.

        Returns
        -------
        self
        """
        solver = few_columns(self.eigen_solver)
        if solver is None or not (graph is self.n_neighbors is self.radius is None):
            super().fit(X, y, graph=graph)
            return self
        with self._fitting() as report:
            found = all_pairs(self, X, solver)
        self._keep(report, **found)
        return self

    def _needs(self) -> Needs:
        return Needs(mutual=self.symmetrize == "min")

    def _weight(self, neighbors: Neighbors) -> Weight:
        if self.weights == "adjacency":
            return adjacency
        return heat_kernel(neighbors.distances, self.t) if self.weights == "heat" else self.weights

    def _kernel(self, part: Part) -> tuple[SpectralProblem, Finish]:
        space, neighbors, rule = part.space, part.neighbors, part.rule
        weight = self._weight(neighbors)
        weights = symmetric_part(weigh(neighbors.graph(), weight), self.symmetrize)
        degree = degrees(weights)
        _check_degrees(degree)
        plain, scaled = self.normalization == "none", self.normalization == "symmetric"
        problem = SpectralProblem(
            difference(degree, weights), "bottom", np.ones((space.n, 1)), None if plain else degree
        )

        def finish(spectrum: Spectrum) -> Fitted:
            vectors = spectrum.vectors
            repeated = noted_repetition(vectors)
            extension = Harmonic(space, rule, weight, vectors, spectrum.values, plain, scaled)
            coordinates = vectors * np.sqrt(degree)[:, None] if scaled else vectors
            return Fitted(
                coordinates, extension, {"repeated_": repeated, "volume_": float(degree.sum())}
            )

        return problem, finish


def _check_degrees(degree: FloatArray) -> None:
    if np.any(degree <= 0):
        raise ValueError(
            f"{int(np.sum(degree <= 0))} rows have no edge of positive weight: use a larger t, "
            "more neighbours or symmetrize='max'"
        )
