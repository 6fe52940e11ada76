"""Landmark maximum variance unfolding."""

from typing import Any, final

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array

from unbend.arrays import FloatArray, IntArray
from unbend.eigen import SpectralProblem, solve
from unbend.eigen.shift_invert import analyse
from unbend.estimators.landmarks import choose_landmarks, landmark_count, landmarks_param
from unbend.estimators.neighborhood import Component
from unbend.estimators.unfolding import (
    CONSTRAINTS,
    UnfoldedKernel,
    UnfoldingEmbedding,
    nothing_to_unfold,
)
from unbend.graphs import undirected
from unbend.memory import reserve
from unbend.methods.lle import reconstruction_errors, reconstruction_weights
from unbend.mvu import Edges, Unfolding, graph_edges, unfold_in_span
from unbend.neighbors import GraphSpace, Neighbors
from unbend.report import ask, note, warn
from unbend.validation.parameters import Choice, Integer, Real, declare, inherit, param
from unbend.validation.random_state import generator

# Slack of landmarks, and the median error of a length from which on eigenvectors are reported.
LANDMARK_SLACK, POOR = 0.01, 0.1
# Landmarks taken where the user names no number.
AUTO = 50
# Neighbours that write a row, at least: three, which may be enough for distances, span no plane.
WRITERS = 12
# Share of the graph's own springs in what writes rows: enough to hold rows that only write each
# other, and no landmark.
FAINT = 1e-9


@final
@declare
class LandmarkMVU(UnfoldingEmbedding):
    """Landmark maximum variance unfolding: MVU of a few landmarks that write all other rows.

    K = Q L Q' with a small matrix L ⪰ 0. Rows are combinations of their neighbours with the
    weights of LLE; given the landmarks, this determines all others, x = Q x_landmarks, by one
    sparse factorisation. Where only distances of neighbours are known, the columns of Q are the
    smoothest eigenvectors of the graph's Laplacian. tr K is then maximised over L, with every edge
    a spring or a bound, and the bounds of the variance are those within the span of Q.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates, in the units of the data.
    landmarks_ : array (m,)
        The landmarks, as rows of the distinct fitted rows (of the largest component, where each
        is embedded separately);
        empty where eigenvectors take their place.

    References
    ----------
    Weinberger, Packer and Saul, AISTATS 10 (2005) for the landmarks; Weinberger, Sha, Zhu and Saul,
    NIPS 19 (2006) for the eigenvectors. Book section 9.4.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(2000, random_state=0)
    >>> mvu = unbend.LandmarkMVU(n_landmarks=20).fit(roll.points)
    >>> mvu.status_, unbend.quality.procrustes(roll.chart, mvu.embedding_) < 0.001
    ('certified', True)
    """

    n_landmarks: Any = param(
        "auto",
        Integer(2),
        Choice("auto"),
        help="Number of landmarks, or of eigenvectors in their place; 'auto' takes 50, or all "
        "rows if there are fewer.",
    )
    landmarks: str = landmarks_param()
    basis: str = param(
        "auto",
        Choice("auto", "weights", "laplacian"),
        help="How landmarks represent the other rows: by reconstruction weights, or eigenvectors "
        "of the Laplacian in place of landmarks; 'auto' takes these for a graph.",
    )
    constraint: str = param(
        "soft",
        CONSTRAINTS,
        help="Constraint on edge lengths: 'soft' makes each a spring, 'inequality' lets none grow, "
        "'equality' uses stiff springs. Where the landmarks cannot preserve lengths, 'inequality' "
        "shrinks the embedding.",
    )
    slack: Any = param(
        "auto",
        Real(0),
        Choice("auto"),
        help="For 'soft': relative stretch of squared lengths under equal tension in all edges. "
        "'auto' is 0.01 with landmarks; with eigenvectors, which cannot keep all lengths, as much "
        "as makes a first layout in their span cost its variance.",
    )
    weight_neighbors: Any = param(
        "auto",
        Integer(2),
        Choice("auto"),
        help="Neighbours that represent each row; 'auto' takes as many as have their distances "
        "preserved, but at least 12. A bare graph has its edges only.",
    )
    reg: float = param(
        1e-4, Real(0), help="Ridge of the local weights, relative to the trace of the local Gram."
    )
    tol: float = inherit(UnfoldingEmbedding, "tol", default=1e-5)

    def _kernel(self, component: Component) -> UnfoldedKernel:
        lengths = undirected(component.neighbors).lengths
        edges, vertex = graph_edges(lengths)
        self._check_penalty()
        landmarks, columns = self._columns(component, lengths, edges, vertex)
        slack = self.slack
        if slack == "auto":
            slack = LANDMARK_SLACK if len(landmarks) else None
        if edges.m:
            found = unfold_in_span(
                edges,
                columns,
                self.constraint,  # type: ignore[arg-type]
                dimensions=self.n_components,
                slack=slack,
                nu=self.nu,
                tolerance=self.tol,
                rng=generator(self.random_state),
                threads=component.threads,
            )
            self._warn_if_poor(found, len(landmarks))
        else:
            found = nothing_to_unfold()
        return self._unfolded_kernel(component, found, vertex, self.reg, landmarks_=landmarks)

    def _warn_if_poor(self, found: Unfolding, landmarks: int) -> None:
        """Warn where the best kernel within the span keeps lengths badly."""
        if self.constraint != "soft":
            return
        if landmarks and found.certificate.lower < 0:
            warn(
                f"kernels of {landmarks} landmarks keep the lengths so badly (one is "
                f"{found.residual:.0%} off) that the springs cost more than the variance: use more "
                "landmarks, or constraint='inequality'"
            )
        elif not landmarks and found.median_residual > POOR:
            stiff = " A larger slack lets them go." if found.certificate.lower < 0 else ""
            warn(
                f"Eigenvectors keep the shape but not the lengths: half of the edges are off by "
                f"more than {found.median_residual:.0%}, one by {found.residual:.0%}. Use more of "
                f"them (n_landmarks), or unbend.localize to refine the result.{stiff}"
            )

    def _columns(
        self, component: Component, lengths: csr_array, edges: Edges, vertex: IntArray
    ) -> tuple[IntArray, FloatArray]:
        """Landmarks, and the columns of Q at the vertices."""
        n, jobs = component.n, component.threads
        count = landmark_count(self.n_landmarks, AUTO, n, self.n_components + 2, self.n_components)
        reserve(16 * count * n, f"{n} rows by {count}", "use fewer landmarks")
        by_graph = isinstance(component.space, GraphSpace)
        if self.basis == "laplacian" or (self.basis == "auto" and by_graph):
            note(basis="laplacian", eigenvectors=min(count, edges.n - 1))
            return np.empty(0, dtype=np.intp), smoothest(edges, count)
        rng = generator(self.random_state)
        chosen, _ = choose_landmarks(self.landmarks, count, component.space, lengths, rng, jobs)
        # A given graph may have rows at distance zero, and fewer places than landmarks.
        chosen = chosen[np.sort(np.unique(chosen, return_index=True)[1])]
        note(basis="weights", landmarks=len(chosen), chosen=self.landmarks)
        weights = reconstruction_weights(
            component.space,
            self._writers(component, lengths),
            self.reg,
            threads=component.block_threads,
        )
        _, first = np.unique(vertex, return_index=True)
        return chosen, written_by(weights, chosen, lengths, jobs)[first]

    def _writers(self, component: Component, lengths: csr_array) -> Neighbors:
        """Neighbours by which rows are written: more than those whose distances are kept."""
        auto = self.weight_neighbors == "auto"
        most = component.space.n - 1
        count = min(max(component.rule.k, WRITERS) if auto else self.weight_neighbors, most)
        if not isinstance(component.space, GraphSpace) and count > 0:
            note(weight_neighbors=count)
            return component.space.nearest(count)
        # Only the distances of edges are known; rows that are neighbours of others only are written
        # by these.
        both = coo_array(lengths)
        rows, others = both.coords
        return Neighbors.from_edges(component.space.n, rows, others, both.data)


def written_by(
    weights: csr_array, landmarks: IntArray, graph: csr_array, n_threads: int = 1
) -> FloatArray:
    """Matrix Q (n, m), rows summing to one, of the x = Q x_landmarks that x ≈ W x fits best.

    Minimises ‖(I − W) x‖² over all rows but the landmarks (9.4): one sparse factorisation. Rows
    that no landmark reaches through W lie where their neighbours in the connected `graph` do.

    Examples
    --------
    >>> import numpy as np
    >>> path = csr_array(np.array([[0.0, 1, 0], [0.5, 0, 0.5], [0, 1, 0]]))
    >>> written_by(path, np.array([0, 2]), path).round(6)
    array([[1. , 0. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """
    n = weights.shape[0]
    joined = csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=(n, n))
    joined = csr_array(joined + joined.T)
    springs: csr_array = csr_array(diags_array(joined.sum(axis=1)) - joined)
    ask()
    kernel = csr_array(reconstruction_errors(weights, n_threads) + FAINT * springs)
    ask()
    rest = np.setdiff1d(np.arange(n), landmarks)
    columns = np.zeros((n, len(landmarks)))
    columns[landmarks, np.arange(len(landmarks))] = 1.0
    if len(rest):
        pull = np.ascontiguousarray(-kernel[rest][:, landmarks].toarray())
        solved = np.empty_like(pull)
        inner = csr_array(kernel[rest][:, rest])
        ask()
        analyse(inner, threads=n_threads).factor(0.0, n_threads).solve(pull, n_threads, solved)
        columns[rest] = solved
        ask()
    return columns


def smoothest(edges: Edges, count: int) -> FloatArray:
    """Eigenvectors of the least eigenvalues of the graph's Laplacian, the constant left out."""
    if edges.n == 1:
        return np.zeros((1, 1))
    problem = SpectralProblem(edges.laplacian(edges.squares), "bottom", np.ones((edges.n, 1)))
    return solve(problem, min(count, edges.n - 1)).vectors
