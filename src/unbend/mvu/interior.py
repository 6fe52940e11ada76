"""Maximum variance unfolding of few points by an interior-point method on the kernel.

Path-following in the symmetric matrices X on the vectors of sum zero, where the feasible set has an
interior (with ΣK = 0 alone it has none), with the direction of Helmberg, Rendl, Vanderbei and
Wolkowicz (1996). The matrix of its equations is (B'XB) ∘ (B'S⁻¹B) for the edges B: O(m²) from X and
S⁻¹.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular

from unbend.arrays import FloatArray
from unbend.memory import reserve
from unbend.mvu.certificate import fiedler_pair
from unbend.mvu.edges import Edges
from unbend.mvu.relaxation import Inequality, Relaxation, Soft
from unbend.report import step

MAX_STEPS = 100
TOLERANCE = 1e-9
# Steps without progress before the iteration stops.
PATIENCE = 6
# Fraction of the step to the boundary.
TO_BOUNDARY = 0.95


@dataclass(frozen=True, eq=False)
class InteriorPoint:
    """Strictly feasible kernel X and dual S on vectors of sum zero, tensions u and slacks z."""

    kernel: FloatArray
    dual: FloatArray
    tensions: FloatArray
    slacks: FloatArray


def interior_point(edges: Edges, relaxation: Relaxation) -> tuple[FloatArray, FloatArray]:
    """Coordinates (n, n − 1) of an optimal kernel, and the tensions.

    Examples
    --------
    >>> import numpy as np
    >>> square = Edges(4, np.array([0, 1, 2, 0]), np.array([1, 2, 3, 3]), np.ones(4))
    >>> coordinates, tensions = interior_point(square, Inequality())
    >>> float(np.square(coordinates).sum().round(6)), tensions.round(6)
    (2.0, array([0.5, 0.5, 0.5, 0.5]))
    """
    n, m = edges.n, edges.m
    reserve(8 * (4 * m * m + 8 * n * n), f"equations of {m} edges", "use fewer neighbours or rows")
    path = _Path(edges, relaxation, _basis(n))
    inner = best = path.first()
    least, waited = path.gap(inner), 0
    for number in range(MAX_STEPS):
        # Rounding limits the gap: the best point is kept, and certified by the caller.
        if least < TOLERANCE or waited > PATIENCE:
            break
        try:
            inner = path.next(inner)
        except (LinAlgError, FloatingPointError):
            break
        gap, waited = path.gap(inner), waited + 1
        if gap < least:
            best, least, waited = inner, gap, 0
        step(number + 1, MAX_STEPS)
    values, vectors = np.linalg.eigh(best.kernel)
    found = path.basis @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    return np.asarray(found[:, ::-1]), best.tensions


def _basis(n: int) -> FloatArray:
    """Orthonormal columns (n, n − 1) of sum zero."""
    whole = np.linalg.qr(np.column_stack((np.ones(n), np.eye(n)[:, 1:])))[0]
    return np.asarray(whole[:, 1:])


@dataclass(frozen=True, eq=False)
class _Path:
    edges: Edges
    relaxation: Relaxation
    basis: FloatArray

    @property
    def hard(self) -> bool:
        """Whether lengths are upper bounds, with slacks."""
        return isinstance(self.relaxation, Inequality)

    def first(self) -> InteriorPoint:
        """Equal tensions, 1.5 times the least feasible ones, and a matching kernel."""
        edges = self.edges
        least, _ = fiedler_pair(edges.laplacian(np.ones(edges.m)))
        tensions = np.full(edges.m, 1.5 / least)
        dual = self._dual(tensions)
        size = edges.m / least / (edges.n - 1)
        return InteriorPoint(size * np.eye(edges.n - 1), dual, tensions, np.ones(edges.m))

    def _dual(self, tensions: FloatArray) -> FloatArray:
        basis = self.basis
        laplacian = self.edges.laplacian(tensions)
        return np.asarray(basis.T @ (laplacian @ basis)) - np.eye(basis.shape[1])

    def gap(self, inner: InteriorPoint) -> float:
        """Complementarity relative to the objective, or the residual of the stretch if larger."""
        pairs = float(np.sum(inner.kernel * inner.dual))
        pairs += float(inner.slacks @ inner.tensions) if self.hard else 0.0
        excess = np.abs((self._lengths(inner.kernel) - 1.0) - self._allowance(inner)).max()
        return max(pairs / max(float(np.trace(inner.kernel)), 1e-300), float(excess))

    def _allowance(self, inner: InteriorPoint) -> FloatArray:
        if isinstance(self.relaxation, Soft):
            return np.asarray(inner.tensions / self.relaxation.kappa)
        return -inner.slacks

    def _lengths(self, kernel: FloatArray) -> FloatArray:
        full = self.basis @ kernel @ self.basis.T
        first, second = self.edges.first, self.edges.second
        diagonal = np.diag(full)
        squares = diagonal[first] + diagonal[second] - 2.0 * full[first, second]
        return np.asarray(squares / self.edges.squares)

    def _between(self, kernel: FloatArray) -> FloatArray:
        """b_e' X b_f for all pairs of edges, relative to their lengths."""
        full = self.basis @ kernel @ self.basis.T
        first, second = self.edges.first, self.edges.second
        size = np.sqrt(self.edges.squares)
        rows = (full[first] - full[second]) / size[:, None]
        return np.asarray((rows[:, first] - rows[:, second]) / size)

    def next(self, inner: InteriorPoint) -> InteriorPoint:
        """Predictor step without centring, then the centred step that it determines."""
        inverse = cho_solve(cho_factor(inner.dual), np.eye(len(inner.dual)))
        inverse = 0.5 * (inverse + inverse.T)
        pairs = self._between(inner.kernel)
        pairs *= self._between(inverse)
        if isinstance(self.relaxation, Soft):
            pairs[np.diag_indices_from(pairs)] += 1.0 / self.relaxation.kappa
        else:
            pairs[np.diag_indices_from(pairs)] += inner.slacks / inner.tensions
        factor = cho_factor(pairs, overwrite_a=True)
        mean = self._mean(inner)
        straight = self._direction(inner, inverse, factor, 0.0)
        lengths = self._step_lengths(inner, straight)
        centring = max((1.0 - min(lengths)) ** 2, 0.02) if min(lengths) < 1 else 0.02
        chosen = self._direction(inner, inverse, factor, min(centring, 0.8) * mean)
        primal, dual = self._step_lengths(inner, chosen)
        return InteriorPoint(
            inner.kernel + primal * chosen.kernel,
            self._dual(inner.tensions + dual * chosen.tensions),
            inner.tensions + dual * chosen.tensions,
            inner.slacks + primal * chosen.slacks,
        )

    def _mean(self, inner: InteriorPoint) -> float:
        pairs = float(np.sum(inner.kernel * inner.dual))
        count = len(inner.kernel)
        if self.hard:
            pairs, count = pairs + float(inner.slacks @ inner.tensions), count + self.edges.m
        return pairs / count

    def _direction(
        self,
        inner: InteriorPoint,
        inverse: FloatArray,
        factor: tuple[FloatArray, bool],
        barrier: float,
    ) -> InteriorPoint:
        aim = barrier * self._lengths(inverse) - 1.0
        if isinstance(self.relaxation, Soft):
            aim = aim - inner.tensions / self.relaxation.kappa
        else:
            aim = aim + barrier / inner.tensions
        tensions = cho_solve(factor, aim)
        if not np.all(np.isfinite(tensions)):
            raise FloatingPointError
        dual = self._dual(tensions) + np.eye(len(inner.dual))
        product = inner.kernel @ dual @ inverse
        kernel = barrier * inverse - inner.kernel - 0.5 * (product + product.T)
        slacks = barrier / inner.tensions - inner.slacks * (1.0 + tensions / inner.tensions)
        return InteriorPoint(kernel, dual, tensions, slacks if self.hard else np.zeros_like(slacks))

    def _step_lengths(self, inner: InteriorPoint, way: InteriorPoint) -> tuple[float, float]:
        primal = matrix_step(inner.kernel, way.kernel)
        dual = matrix_step(inner.dual, way.dual)
        if self.hard:
            primal = min(primal, vector_step(inner.slacks, way.slacks))
            dual = min(dual, vector_step(inner.tensions, way.tensions))
        return min(1.0, TO_BOUNDARY * primal), min(1.0, TO_BOUNDARY * dual)


def vector_step(values: FloatArray, change: FloatArray) -> float:
    """Longest step in a direction that leaves all values positive."""
    falling = change < 0
    return float(np.min(-values[falling] / change[falling])) if falling.any() else np.inf


def matrix_step(matrix: FloatArray, change: FloatArray) -> float:
    """Longest step in a direction that leaves the matrix positive definite."""
    root = np.linalg.cholesky(matrix)
    half = solve_triangular(root, change, lower=True)
    least = float(np.linalg.eigvalsh(solve_triangular(root, half.T, lower=True))[0])
    return -1.0 / least if least < 0 else np.inf
