"""Maximum variance unfolding."""

from typing import final

from unbend.eigen.problem import SpectralProblem
from unbend.estimators.neighborhood import Finish, Part
from unbend.estimators.unfolding import UnfoldingEmbedding, nothing_to_unfold
from unbend.graphs import undirected
from unbend.mvu import locally_complete, of_graph, unfold
from unbend.validation.parameters import FLAG, Choice, declare, param
from unbend.validation.random_state import generator


@final
@declare
class MVU(UnfoldingEmbedding):
    """Maximum variance unfolding: pull the points apart as far as their neighbours allow.

    Maximises tr K over kernels K ⪰ 0 of centred points, with K_ii + K_jj − 2K_ij ≤ d_ij² for
    neighbours, or with springs in place of bounds: a semidefinite program. The coordinates are the
    top eigenvectors of K, scaled by √λ. What it finds is bounded from above by a proof, and a fit
    that is not shown to be optimal says so.

    Where lengths are kept by springs, many kernels can be nearly or exactly as good: what is
    certified is the variance, and small eigenvalues may differ.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates, in the units of the data.
    eigenvalues_ : array (n_components,)
        Top eigenvalues of the kernel.
    kernel_ : array (n, r)
        Factor F of the kernel, K = FF', of the distinct rows (of the first part, where there are
        several), in principal axes.
    dimension_ : int
        Where the eigenvalues of the kernel fall most steeply; on a long strip that may be after
        the first already.
    lower_bound_ : float
        Variance that the kernel has, less the price of springs: nothing less is optimal.
    upper_bound_ : float
        Proved: no kernel has more.
    gap_ : float
        (upper − lower)/upper.
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
    Weinberger and Saul, International Journal of Computer Vision 70 (2006); Sun, Boyd, Xiao and
    Diaconis, SIAM Review 48 (2006) for the dual; Burer and Monteiro, Mathematical Programming 95
    (2003) for the factor. Book chapter 9.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(400, random_state=0)
    >>> mvu = unbend.MVU(n_neighbors=6).fit(roll.points)
    >>> mvu.status_, bool(unbend.quality.procrustes(roll.chart, mvu.embedding_) < 0.05)
    ('certified', True)
    """

    complete: bool = param(
        False,
        FLAG,
        help="Whether neighbours of one row are joined with each other too, where their distance "
        "is known: angles are then kept as well, at the cost of many more edges.",
    )
    solver: str = param(
        "auto",
        Choice("auto", "interior", "factored"),
        help="The kernel itself by an interior-point method ('interior', for few edges), or a "
        "factor of it of few columns, for any number; 'auto' explains its choice in the report.",
    )

    def _kernel(self, part: Part) -> tuple[SpectralProblem, Finish]:
        neighbors = part.neighbors
        if self.complete:
            neighbors = locally_complete(part.space, neighbors)
        edges, vertex = of_graph(undirected(neighbors).lengths)
        if edges.m:
            found = unfold(
                edges,
                self.constraint,  # type: ignore[arg-type]
                dimensions=self.n_components,
                slack=self.slack,
                tolerance=self.tol,
                solver=self.solver,  # type: ignore[arg-type]
                rng=generator(self.random_state),
            )
        else:
            found = nothing_to_unfold()
        return self._unfolded(part, found, vertex)
