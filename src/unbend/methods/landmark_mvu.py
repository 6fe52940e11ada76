"""Landmark maximum variance unfolding."""

from typing import Any, final

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array, eye_array

from unbend.arrays import FloatArray, IntArray
from unbend.eigen import solve
from unbend.eigen.factor import analyse
from unbend.eigen.problem import SpectralProblem
from unbend.estimators.landmarks import LANDMARKS, choose_landmarks
from unbend.estimators.neighborhood import Finish, Part
from unbend.estimators.unfolding import CONSTRAINTS, UnfoldingEmbedding, nothing_to_unfold
from unbend.graphs import undirected
from unbend.memory import reserve
from unbend.methods.lle import reconstruction_weights
from unbend.mvu import Edges, Unfolding, of_graph, unfold_spanned
from unbend.neighbors import GraphSpace, Neighbors
from unbend.report import note, warn
from unbend.validation.parameters import Choice, Integer, Real, declare, inherit, param
from unbend.validation.random_state import generator
from unbend.validation.threads import threads

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

    K = Q L Q' with a small matrix L ⪰ 0. Rows of points are written by their neighbours with the
    weights of LLE; given the landmarks, this determines all others, x = Q x_landmarks, by one
    sparse factorisation. Where only distances of neighbours are known, the columns of Q are the
    smoothest eigenvectors of the graph's Laplacian. tr K is then maximised over L, with every edge
    a spring or a bound, and the bounds of the variance are those within the span of Q.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates, in the units of the data.
    eigenvalues_ : array (n_components,)
        Top eigenvalues of the kernel.
    kernel_ : array (n, r)
        Factor F of the kernel, K = FF', of the distinct rows (of the first part, where there are
        several), in principal axes.
    landmarks_ : array (m,)
        The landmarks, as rows of the distinct fitted rows (of the first part, where several);
        empty where eigenvectors take their place.
    dimension_ : int
        Where the eigenvalues of the kernel fall most steeply.
    lower_bound_ : float
        Variance that the kernel has, less the price of springs.
    upper_bound_ : float
        Proved: no kernel Q L Q' has more.
    gap_ : float
        (upper − lower)/abs(upper).
    edge_residual_ : float
        Largest relative error of a length: by which a bound is exceeded, or a spring not at rest.
    status_ : str
        'certified' if the gap is at most `tol`, of every part where there are several, else 'not
        certified'. Bounds, gap and residual are those of the largest part.
    component_ : array (n_samples,)
        Component of the graph that each row was in.
    report_ : Report
        What every stage did.

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
    landmarks: str = param(
        "maxmin",
        Choice(*LANDMARKS),
        help="How they are chosen: at random; each farthest from those before ('maxmin'); or the "
        "rows nearest to the centres of k-means.",
    )
    basis: str = param(
        "auto",
        Choice("auto", "weights", "laplacian"),
        help="How landmarks write the other rows: by reconstruction weights, or eigenvectors of "
        "the Laplacian in place of landmarks; 'auto' takes these for a graph.",
    )
    constraint: str = param(
        "soft",
        CONSTRAINTS,
        help="How lengths are held: each is a spring; none may grow; or stiff springs. Where the "
        "span keeps lengths worst, bounds shrink everything.",
    )
    weight_neighbors: Any = param(
        "auto",
        Integer(2),
        Choice("auto"),
        help="Neighbours that write each row; 'auto' takes as many as have their distances kept, "
        "but at least 12. A bare graph has its edges only.",
    )
    reg: float = param(
        1e-4, Real(0), help="Ridge of the local weights, relative to the trace of the local Gram."
    )
    tol: float = inherit(UnfoldingEmbedding, "tol", default=1e-5)

    def _kernel(self, part: Part) -> tuple[SpectralProblem, Finish]:
        lengths = undirected(part.neighbors).lengths
        edges, vertex = of_graph(lengths)
        landmarks, columns = self._columns(part, lengths, edges, vertex)
        if edges.m:
            found = unfold_spanned(
                edges,
                columns,
                self.constraint,  # type: ignore[arg-type]
                dimensions=self.n_components,
                slack=self.slack,
                tolerance=self.tol,
                rng=generator(self.random_state),
            )
            self._doubt(found, len(landmarks))
        else:
            found = nothing_to_unfold()
        return self._unfolded(part, found, vertex, self.reg, landmarks_=landmarks)

    def _doubt(self, found: Unfolding, landmarks: int) -> None:
        """Tell where the best that landmarks can write is poor; smooth vectors keep the shape."""
        if landmarks and self.constraint == "soft" and found.certificate.lower < 0:
            warn(
                f"kernels of {landmarks} landmarks keep the lengths so badly (one is "
                f"{found.residual:.0%} off) that the springs cost more than the variance: use more "
                "landmarks, or constraint='inequality'"
            )

    def _columns(
        self, part: Part, lengths: csr_array, edges: Edges, vertex: IntArray
    ) -> tuple[IntArray, FloatArray]:
        """Landmarks, and the columns of Q at the vertices."""
        count = min(AUTO if self.n_landmarks == "auto" else self.n_landmarks, part.space.n)
        if count < self.n_components + 2:
            raise ValueError(
                f"{count} landmarks are too few for n_components={self.n_components}: use at "
                f"least {self.n_components + 2}"
            )
        reserve(16 * count * part.space.n, f"{part.space.n} rows by {count}", "use fewer landmarks")
        by_graph = isinstance(part.space, GraphSpace)
        if self.basis == "laplacian" or (self.basis == "auto" and by_graph):
            note(basis="laplacian", eigenvectors=min(count, edges.n - 1))
            return np.empty(0, dtype=np.intp), smoothest(edges, count)
        rng, jobs = generator(self.random_state), threads(self.n_jobs)
        chosen, _ = choose_landmarks(self.landmarks, count, part.space, lengths, rng, jobs)
        # A given graph may have rows at distance zero, and fewer places than landmarks.
        chosen = chosen[np.sort(np.unique(chosen, return_index=True)[1])]
        note(basis="weights", landmarks=len(chosen), chosen=self.landmarks)
        weights = reconstruction_weights(part.space, self._writers(part, lengths), self.reg)
        _, first = np.unique(vertex, return_index=True)
        return chosen, written_by(weights, chosen, lengths, jobs)[first]

    def _writers(self, part: Part, lengths: csr_array) -> Neighbors:
        """Neighbours by which rows are written: more than those whose distances are kept."""
        auto = self.weight_neighbors == "auto"
        most = part.space.n - 1
        count = min(max(part.rule.k, WRITERS) if auto else self.weight_neighbors, most)
        if not isinstance(part.space, GraphSpace) and count > 0:
            note(weight_neighbors=count)
            return part.space.nearest(count)
        # Only the distances of edges are known; rows that are neighbours of others only are written
        # by these.
        both = coo_array(lengths)
        rows, others = both.coords
        return Neighbors.from_edges(part.space.n, rows, others, both.data)


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
    errors = csr_array(eye_array(n) - weights)
    joined = csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=(n, n))
    joined = csr_array(joined + joined.T)
    springs: csr_array = csr_array(diags_array(joined.sum(axis=1)) - joined)
    kernel = csr_array(errors.T @ errors + FAINT * springs)
    rest = np.setdiff1d(np.arange(n), landmarks)
    columns = np.zeros((n, len(landmarks)))
    columns[landmarks, np.arange(len(landmarks))] = 1.0
    if len(rest):
        pull = np.ascontiguousarray(-kernel[rest][:, landmarks].toarray())
        solved = np.empty_like(pull)
        analyse(csr_array(kernel[rest][:, rest])).factor(0.0, n_threads).solve(
            pull, n_threads, solved
        )
        columns[rest] = solved
    return columns


def smoothest(edges: Edges, count: int) -> FloatArray:
    """Eigenvectors of the least eigenvalues of the graph's Laplacian, the constant left out."""
    if edges.n == 1:
        return np.zeros((1, 1))
    problem = SpectralProblem(edges.laplacian(edges.squares), "bottom", np.ones((edges.n, 1)))
    return solve(problem, min(count, edges.n - 1)).vectors
