"""Maximum variance unfolding."""

from typing import final

from unbend.estimators.neighborhood import Component
from unbend.estimators.unfolding import UnfoldedKernel, UnfoldingEmbedding, nothing_to_unfold
from unbend.graphs import undirected
from unbend.mvu import complete_neighborhoods, graph_edges, unfold
from unbend.validation.parameters import FLAG, Choice, declare, param
from unbend.validation.random_state import generator


@final
@declare
class MVU(UnfoldingEmbedding):
    """Maximum variance unfolding: move points as far apart as their neighbours allow.

    Maximises tr K over kernels K ⪰ 0 of centered points, with K_ii + K_jj − 2K_ij ≤ d_ij² for
    neighbours, or with springs in place of bounds: a semidefinite program. The coordinates are the
    top eigenvectors of K, scaled by √λ. The objective is bounded from above by a proof, and a fit
    that is not proved optimal warns.

    The book's graph is locally complete: two rows that are neighbours of a third are joined, too
    (its η_ij = 1 where η'η > 0), so that angles are kept as well as lengths. That is
    ``complete=True``, with several times the edges. Without it k must be large enough that the
    triangles of the graph fix the angles, which ten neighbours do on surfaces; three or four, as
    in the book's figures, do not.

    Where lengths are kept by springs, many kernels can be nearly or exactly as good: what is
    certified is the objective, and small eigenvalues may differ.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates, in the units of the data.

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
        "is known, as in the book: angles are then kept as well, at the cost of many more edges.",
    )
    solver: str = param(
        "auto",
        Choice("auto", "interior", "factored"),
        help="The kernel itself by an interior-point method ('interior', for few edges), or a "
        "factor of it of few columns, for any number; 'auto' explains its choice in the report.",
    )

    def _kernel(self, component: Component) -> UnfoldedKernel:
        self._check_penalty()
        neighbors = component.neighbors
        if self.complete:
            neighbors = complete_neighborhoods(component.space, neighbors)
        edges, vertex = graph_edges(undirected(neighbors).lengths)
        if edges.m:
            found = unfold(
                edges,
                self.constraint,  # type: ignore[arg-type]
                dimensions=self.n_components,
                slack=self.slack,
                nu=self.nu,
                tolerance=self.tol,
                solver=self.solver,  # type: ignore[arg-type]
                rng=generator(self.random_state),
                threads=component.threads,
            )
        else:
            found = nothing_to_unfold()
        return self._unfolded_kernel(component, found, vertex)
