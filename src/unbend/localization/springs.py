"""Weighted stress of a network, minimised by damped Newton steps.

½ Σ w (‖yᵢ − yⱼ‖ − d)² over the edges. One step is one sparse factorisation in the pattern of the
graph, ordered once.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array, diags_array

from unbend.arrays import FloatArray
from unbend.cached import cached_property
from unbend.eigen.shift_invert import NotPositiveDefinite, Symbolic, analyse
from unbend.mvu.curvature import NewtonMatrix
from unbend.mvu.edges import Edges
from unbend.report import step

# Least relative distance for weights 1/d².
SHORT = 0.1
MAX_STEPS = 200
# Relative decrease of the stress, and relative gradient, at convergence.
SMALL_FALL, SMALL_GRADIENT = 1e-10, 1e-13
# Damping relative to the mean diagonal: first, least, factors of increase and decrease, largest.
DAMPING, LEAST_DAMPING, GROW, SHRINK, MOST_DAMPING = 1e-3, 1e-12, 8.0, 4.0, 1e12


@dataclass(frozen=True, eq=False)
class Layout:
    """Positions near a minimum of the stress.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.localization import Springs
    >>> from unbend.mvu import Edges
    >>> triangle = Edges(3, np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([9.0, 16.0, 25.0]))
    >>> start = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> found = Springs(triangle, np.ones(3), 2).refine(start)
    >>> found.positions.shape, bool(found.stress < 1e-20)
    ((3, 2), True)
    """

    positions: FloatArray
    stress: float
    steps: int


@dataclass(frozen=True, eq=False)
class Springs:
    """Edges with a weight each, and positions of `dim` coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> triangle = Edges(3, np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([9.0, 16.0, 25.0]))
    >>> springs = Springs(triangle, np.ones(3), 2)
    >>> found = springs.refine(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    >>> bool(found.stress < 1e-20)
    True
    """

    edges: Edges
    weights: FloatArray
    dim: int

    @cached_property
    def lengths(self) -> FloatArray:
        """Rest lengths of the springs."""
        return np.sqrt(self.edges.squares)

    @cached_property
    def _matrix(self) -> NewtonMatrix:
        return NewtonMatrix(self.edges, self.dim)

    @cached_property
    def _symbolic(self) -> Symbolic:
        rows = self._rows(np.ones(self.edges.m), np.ones(self.edges.m), np.ones((self.edges.m, 1)))
        return analyse(rows)

    def _rows(self, across: FloatArray, along: FloatArray, differences: FloatArray) -> csr_array:
        """Σ over the edges of blocks across·I + along·δδ', with every entry of the pattern."""
        wide = np.broadcast_to(differences, (self.edges.m, self.dim))
        squares = self.edges.squares
        return self._matrix.assemble(across * squares, 0.5 * along * squares**2, wide, 1.0)

    def stress(self, positions: FloatArray) -> float:
        """½ Σ w (‖yᵢ − yⱼ‖ − d)²."""
        return 0.5 * float(self.weights @ np.square(self.errors(positions)))

    def errors(self, positions: FloatArray) -> FloatArray:
        """‖yᵢ − yⱼ‖ − d."""
        reached = np.linalg.norm(self.edges.differences(positions), axis=1)
        return np.asarray(reached - self.lengths)

    def gradient(self, positions: FloatArray) -> FloatArray:
        """Return the forces (n, dim)."""
        differences, reached = self._edge_lengths(positions)
        pull = self.weights * (1.0 - self.lengths / reached)
        return np.asarray(self.edges.incidence @ (pull[:, None] * differences))

    def _edge_lengths(self, positions: FloatArray) -> tuple[FloatArray, FloatArray]:
        differences = self.edges.differences(positions)
        least = 1e-9 * self.lengths
        return differences, np.maximum(np.linalg.norm(differences, axis=1), least)

    def curvature(self, positions: FloatArray, share: float) -> csr_array:
        """Hessian, with a fraction of the part across the edges, which may be negative."""
        differences, reached = self._edge_lengths(positions)
        across = share * self.weights * (1.0 - self.lengths / reached)
        return self._rows(across, (self.weights - across) / np.square(reached), differences)

    def solver(self, matrix: csr_array, shift: float) -> "Solver":
        """Factorise a matrix of the pattern plus a multiple of the identity."""
        return Solver(replace(self._symbolic, values=matrix.data).factor(shift))

    def refine(
        self,
        start: FloatArray,
        penalty: FloatArray | None = None,
        max_steps: int = MAX_STEPS,
    ) -> Layout:
        """Minimise the stress, plus ½ penalty·y² for each coordinate, from initial positions."""
        price = np.zeros(self.dim) if penalty is None else penalty
        here: FloatArray = np.array(start, dtype=np.float64)
        value = self._value(here, price)
        damping, number = DAMPING, 0
        for number in range(1, max_steps + 1):
            gradient = self.gradient(here) + price * here
            if np.abs(gradient).max(initial=0.0) <= SMALL_GRADIENT * self._force:
                break
            found = self._step(here, gradient, price, value, damping)
            if found is None:
                break
            here, after, damping = found
            fall, value = (value - after) / max(value, np.finfo(float).tiny), after
            if fall < SMALL_FALL:
                break
            step(number, max_steps)
        return Layout(here, self.stress(here), number)

    @cached_property
    def _force(self) -> float:
        return float((self.weights * self.lengths).max())

    def _value(self, positions: FloatArray, price: FloatArray) -> float:
        return self.stress(positions) + 0.5 * float((np.square(positions) @ price).sum())

    def _step(
        self,
        here: FloatArray,
        gradient: FloatArray,
        price: FloatArray,
        value: float,
        damping: float,
    ) -> tuple[FloatArray, float, float] | None:
        """Increase the damping until the stress decreases; None if rounding prevents it."""
        matrix = self.curvature(here, 1.0) + diags_array(np.tile(price, len(here)))
        size = float(np.abs(matrix.diagonal()).mean())
        while damping < MOST_DAMPING:
            try:
                move = self.solver(csr_array(matrix), damping * size).solve(-gradient)
            except NotPositiveDefinite:
                damping *= GROW
                continue
            after = self._value(here + move, price)
            if after < value:
                return here + move, after, max(damping / SHRINK, LEAST_DAMPING)
            damping *= GROW
        return None


def relative_weights(lengths: FloatArray) -> FloatArray:
    """1/d², bounded for very short distances."""
    return np.asarray(1.0 / np.square(np.maximum(lengths, SHORT * float(np.median(lengths)))))


@dataclass(frozen=True, eq=False)
class Solver:
    """Factors of a matrix (n·dim, n·dim)."""

    factor: object

    def solve(self, force: FloatArray) -> FloatArray:
        """Solve for one force (n, dim), or for several (n, dim, q)."""
        right = np.ascontiguousarray(force.reshape(force.shape[0] * force.shape[1], -1))
        found = np.empty_like(right)
        self.factor.solve(right, 1, found)  # type: ignore[attr-defined]
        return found.reshape(force.shape)
