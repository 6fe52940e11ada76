"""Maximum variance unfolding."""

from typing import ClassVar, final

import numpy as np
from scipy.sparse.linalg import LinearOperator

from unbend.arrays import FloatArray, IntArray
from unbend.base.inputs import generator
from unbend.base.neighborhood import Finish, NeighborhoodEmbedding, Part
from unbend.base.params import FLAG, Choice, Real, declared, param
from unbend.base.search import Needs
from unbend.extend import Barycentric, Fitted, Rule
from unbend.graphs import undirected
from unbend.neighbors import GraphSpace
from unbend.problem import SpectralProblem, Spectrum
from unbend.report import note, warn
from unbend.unfold import Certificate, Unfolding, locally_complete, of_graph, unfold
from unbend.unfold.place import Trilateration

# Eigenvalues below this share of the largest do not count as dimensions.
LEAST_SHARE = 1e-6
CERTIFIED, NOT_CERTIFIED = "certified", "not certified"


@final
@declared
class MVU(NeighborhoodEmbedding):
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
        Where the eigenvalues of the kernel fall most steeply.
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
    >>> mvu.status_, mvu.dimension_
    ('certified', 2)
    """

    constraint: str = param(
        "inequality",
        Choice("inequality", "soft", "equality"),
        help="How lengths are held: none may grow; each is a spring; or a spring so stiff that it "
        "keeps its length, as far as the others let it.",
    )
    slack: float = param(
        0.01,
        Real(0),
        help="Of springs ('soft'): relative stretch of squared lengths that equal tension in all "
        "edges would cause. More slack gives more variance and smooths noise.",
    )
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
    tol: float = param(1e-6, Real(0), help="Relative gap up to which a result is certified.")
    isometric: ClassVar[bool] = True

    def _needs(self) -> Needs:
        return Needs()

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
            zero = np.zeros(1)
            found = Unfolding(
                zero[:, None], zero, zero, Certificate(0.0, 0.0), 0.0, 0.0, 0, 0, "none"
            )
        self._tell(found, part.space.n - edges.n)
        factor = found.factor[vertex] - found.factor[vertex].mean(axis=0)

        def finish(spectrum: Spectrum) -> Fitted:
            # The spectrum of nothing is known to no digit.
            values = np.maximum(spectrum.values, 0.0) if factor.any() else np.zeros(1)
            coordinates = spectrum.vectors * np.sqrt(values)
            place = Trilateration if isinstance(part.space, GraphSpace) else Barycentric
            extension = place(part.space, Rule(part.rule.k), coordinates)
            return Fitted(coordinates, extension, self._attributes(found, factor))

        return _problem(factor), finish

    def _tell(self, found: Unfolding, merged: int) -> None:
        proof = found.certificate
        note(
            method=found.solver,
            steps=found.steps,
            rank=found.rank,
            merged=merged,
            lower=proof.lower,
            upper=proof.upper,
            gap=proof.gap,
            gradient=found.gradient,
        )
        if proof.gap > self.tol:
            warn(
                f"the unfolding is not certified: the variance may lie {proof.gap:.1e} of itself "
                f"below the largest one, more than tol={self.tol:.1e}; a larger slack, fewer "
                "neighbours or constraint='inequality' are easier"
            )

    def _together(self, parts: list[dict[str, object]]) -> dict[str, object]:
        """Claim no more than what is proved of every part."""
        proved = all(part.get("status_", CERTIFIED) == CERTIFIED for part in parts)
        return {**parts[0], "status_": CERTIFIED if proved else NOT_CERTIFIED}

    def _attributes(self, found: Unfolding, factor: FloatArray) -> dict[str, object]:
        proof = found.certificate
        return {
            "kernel_": factor,
            "dimension_": _steepest(found.eigenvalues),
            "lower_bound_": proof.lower,
            "upper_bound_": proof.upper,
            "gap_": proof.gap,
            "edge_residual_": found.residual,
            "status_": CERTIFIED if proof.gap <= self.tol else NOT_CERTIFIED,
        }


def _problem(factor: FloatArray) -> SpectralProblem:
    n = len(factor)
    squares = np.square(factor).sum(axis=0)

    def product(vectors: FloatArray) -> FloatArray:
        return np.asarray(factor @ (factor.T @ vectors))

    operator = LinearOperator((n, n), matvec=product, matmat=product, dtype=np.float64)
    order: IntArray = np.argsort(-squares, kind="stable")
    size = float(squares.max(initial=0.0))
    return SpectralProblem(
        operator, "top", np.ones((n, 1)), size=size, start=factor[:, order[squares[order] > 0]]
    )


def _steepest(eigenvalues: FloatArray) -> int:
    """Count the eigenvalues before the largest ratio of one to the next."""
    values = np.sort(eigenvalues)[::-1]
    floor = np.append(np.maximum(values, LEAST_SHARE * values[0]), LEAST_SHARE * values[0])
    if floor[0] == 0:
        return 0
    return int(np.argmax(floor[:-1] / floor[1:])) + 1
