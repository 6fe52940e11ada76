"""Semidefinite programs in general (book 9.2): an interior-point method with proved bounds.

Path-following with predictor and corrector in the direction of Helmberg, Rendl, Vanderbei and
Wolkowicz (1996), from a start that need not be feasible. Inequalities get slack variables, which
are one by one positive semidefinite matrices of size one. Dense, for matrices of up to about a
hundred rows and constraints of up to about a thousand.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, qr

from unbend.arrays import BoolArray, FloatArray, is_sparse
from unbend.memory import reserve
from unbend.mvu.certificate import EPS
from unbend.mvu.interior import matrix_step, vector_step
from unbend.report import step, warn
from unbend.validation.arrays import check_finite, real_array
from unbend.validation.distances import check_square, check_symmetric
from unbend.validation.scalars import check_choice, check_integer, check_real

RELATIONS = ("==", "<=", ">=")
# Eigenvalues below this share of the norm are zero, where a constraint forces a null space; so are
# matrices on that null space.
ZERO = 1e-12
# A direction in which the objective falls by one and no constraint changes by more than this is a
# proof that there is no optimum, but for matrices whose trace is larger than its inverse.
RAY = 1e-8
# Objectives below this, where cost and constraints have norm one, are compared with it.
SMALL = 1e-3


@dataclass(frozen=True, eq=False)
class SemidefiniteSolution:
    """A feasible matrix X, the multipliers of the constraints, and bounds of the optimum.

    `lower` ≤ optimum ≤ `upper` = ⟨C, X⟩: the multipliers prove the first, and X, which is positive
    definite on the vectors that the constraints allow and violates none by more than `residual`
    relative to the largest value, the second. `gap` is upper − lower over the larger of their
    magnitudes, or over a thousandth of ‖C‖ ‖b‖∞/‖A‖ where both are smaller than that; infinite
    without a proof.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.mvu import solve_semidefinite
    >>> found = solve_semidefinite([[2.0, 1.0], [1.0, 2.0]], [np.eye(2)], [1.0])
    >>> found.lower <= found.upper, round(float(np.trace(found.matrix)), 6)
    (True, 1.0)
    """

    matrix: FloatArray
    multipliers: FloatArray
    lower: float
    upper: float
    gap: float
    residual: float
    steps: int


def solve_semidefinite(
    cost: Any,
    constraints: Sequence[Any],
    values: Any,
    relations: str | Sequence[str] = "==",
    *,
    tolerance: float = 1e-8,
    max_iter: int = 100,
) -> SemidefiniteSolution:
    """Minimise ⟨C, X⟩ over positive semidefinite X with ⟨Aᵢ, X⟩ = bᵢ (book (9.12)–(9.14)).

    Parameters
    ----------
    cost : array (n, n)
        C, symmetric; −C to maximise.
    constraints : sequence of m arrays (n, n), or array (m, n, n)
        Aᵢ, symmetric, dense or sparse.
    values : array (m,)
        bᵢ.
    relations : {"==", "<=", ">="} or sequence of m of them
        How ⟨Aᵢ, X⟩ relates to bᵢ; one for all, or one for each.
    tolerance : float
        Relative duality gap at convergence.
    max_iter : int
        Most steps, each of which factorises a matrix of m rows.

    Returns
    -------
    SemidefiniteSolution
        Warns where the gap is larger than `tolerance`.

    Raises
    ------
    ValueError
        If no positive semidefinite matrix satisfies the constraints, or if the objective has no
        lower bound on those that do.

    Notes
    -----
    A constraint that no positive definite matrix satisfies, such as ΣK = 0 of maximum variance
    unfolding, leaves no interior. Where that shows in one constraint (⟨A, X⟩ = 0 with A positive
    semidefinite) the program is solved on the null space, and its multiplier is zero. `MVU` and
    `unfold` solve their own program, in the pattern of the graph, for thousands of rows.

    References
    ----------
    C. Helmberg, F. Rendl, R. Vanderbei and H. Wolkowicz, "An interior-point method for
    semidefinite programming", SIAM Journal on Optimization 6 (1996). Book section 9.2.

    Examples
    --------
    The least eigenvalue is the least ⟨C, X⟩ of matrices of trace one:

    >>> import numpy as np
    >>> from unbend.mvu import solve_semidefinite
    >>> found = solve_semidefinite([[2.0, 1.0], [1.0, 2.0]], [np.eye(2)], [1.0])
    >>> round(found.upper, 6), found.matrix.round(4) + 0.0
    (1.0, array([[ 0.5, -0.5],
           [-0.5,  0.5]]))
    """
    check_real("tolerance", tolerance, 0, 1, closed="neither")
    check_integer("max_iter", max_iter)
    program = _checked_program(cost, constraints, values, relations)
    m, n = len(program.values), len(program.cost)
    reserve(8 * (4 * m * n * n + 4 * m * m), f"{m} constraints", "use fewer rows or constraints")
    reduced, basis, kept = _reduce(program)
    if not basis.shape[1]:
        # Only the zero matrix is left.
        return SemidefiniteSolution(np.zeros((n, n)), np.zeros(m), 0.0, 0.0, 0.0, 0.0, 0)
    scaled, units = _scale(reduced)
    best = _follow_path(scaled, tolerance, max_iter)
    multipliers = np.zeros(m)
    multipliers[kept] = best.multipliers * units.multipliers
    matrix = basis @ best.matrix @ basis.T * units.matrix
    found = SemidefiniteSolution(
        (matrix + matrix.T) / 2,
        np.where(program.flipped, -multipliers, multipliers),
        best.lower * units.objective,
        best.upper * units.objective,
        best.gap,
        program.residual(matrix),
        best.steps,
    )
    if not found.gap <= tolerance:
        warn(
            f"The semidefinite program did not converge in {best.steps} steps (relative gap "
            f"{found.gap:.1e}). Increase max_iter or tolerance, or remove constraints that only "
            "singular matrices satisfy."
        )
    return found


@dataclass(frozen=True, eq=False)
class _Program:
    """Rows are the constraints as vectors, of which `bounded` are ≤; `flipped` were ≥."""

    cost: FloatArray
    rows: FloatArray
    values: FloatArray
    bounded: BoolArray
    flipped: BoolArray

    def measure(self, matrix: FloatArray) -> FloatArray:
        """⟨Aᵢ, X⟩ for all i."""
        return np.asarray(self.rows @ matrix.ravel())

    def combine(self, multipliers: FloatArray) -> FloatArray:
        """Σ yᵢ Aᵢ."""
        return np.asarray((multipliers @ self.rows).reshape(self.cost.shape))

    def norms(self) -> FloatArray:
        """Frobenius norms of the constraints."""
        return np.asarray(np.linalg.norm(self.rows, axis=1))

    def take(self, places: Any) -> "_Program":
        """Keep some constraints."""
        kept = (part[places] for part in (self.rows, self.values, self.bounded, self.flipped))
        return _Program(self.cost, *kept)

    def residual(self, matrix: FloatArray) -> float:
        """Largest violation of a constraint, relative to the largest value or term."""
        excess = self.measure(matrix) - self.values
        excess = np.where(self.bounded, np.maximum(excess, 0.0), np.abs(excess))
        size = np.abs(self.values).max(initial=0.0) or np.abs(matrix).max()
        return float(excess.max(initial=0.0) / size) if size > 0 else 0.0


def _checked_program(cost: Any, constraints: Any, values: Any, relations: Any) -> _Program:
    main = _symmetric(cost, "cost")
    given = [_symmetric(one, f"constraints[{i}]") for i, one in enumerate(constraints)]
    for i, one in enumerate(given):
        if one.shape != main.shape:
            raise ValueError(
                f"cost is {main.shape} and constraints[{i}] is {one.shape}. All must have the "
                "same shape."
            )
    b = np.atleast_1d(np.asarray(real_array(values, "values"), dtype=np.float64))
    check_finite(b.reshape(-1, 1), "values")
    if not given or b.shape != (len(given),):
        raise ValueError(
            f"There are {len(given)} constraints and values of shape {b.shape}. Pass one value "
            "for each constraint, and at least one constraint."
        )
    words = [relations] * len(given) if isinstance(relations, str) else list(relations)
    if len(words) != len(given):
        raise ValueError(
            f"There are {len(given)} constraints and {len(words)} relations. Pass one relation "
            "for all, or one for each constraint."
        )
    kinds = np.array([check_choice("relations", word, RELATIONS) for word in words])
    flipped = kinds == ">="
    sign = np.where(flipped, -1.0, 1.0)
    rows = sign[:, None] * np.array([one.ravel() for one in given])
    return _Program(main, rows, sign * b, kinds != "==", flipped)


def _symmetric(matrix: Any, name: str) -> FloatArray:
    dense = matrix.toarray() if is_sparse(matrix) else matrix
    found = np.asarray(real_array(dense, name), dtype=np.float64)
    check_square(found, name, "symmetric matrix")
    if not found.size:
        raise ValueError(f"The matrix {name} is empty. Pass at least one row and column.")
    check_finite(found, name)
    check_symmetric(found, f"matrix {name}")
    return (found + found.T) / 2


def _reduce(program: _Program) -> tuple[_Program, FloatArray, Any]:
    """Leave out null spaces that constraints force, and equations that follow from others.

    Returns the program of Y in X = VYV', V, and the places of the constraints that are left.
    """
    n = len(program.cost)
    basis, left = np.eye(n), np.ones(len(program.values), dtype=bool)
    matrices, norms = program.rows.reshape(-1, n, n), program.norms()
    # Constraints may have any unit: values are compared per norm of the matrix.
    share = program.values / np.where(norms > 0, norms, 1.0)
    size = np.abs(share).max(initial=0.0)
    searching = True
    while searching and basis.shape[1]:
        searching = False
        for i in np.flatnonzero(left & (share <= ZERO * size)):
            values, vectors = np.linalg.eigh(basis.T @ matrices[i] @ basis)
            rounding = ZERO * norms[i]
            if not program.bounded[i] and values[-1] <= rounding and values[0] < -rounding:
                # −⟨A, X⟩ = −b is the same equation.
                if share[i] < -ZERO * size:
                    continue
                values = -values
            if values.min() < -rounding:
                continue
            if share[i] < -ZERO * size:
                raise _infeasible(f"constraint {i} asks for a negative value of ⟨A, X⟩ ≥ 0")
            basis, left[i] = basis @ vectors[:, np.abs(values) <= rounding], False
            searching = True
            break
    inside = np.einsum("pa,ipq,qb->iab", basis, matrices[left], basis, optimize=True)
    cost, rows = basis.T @ program.cost @ basis, inside.reshape(len(inside), basis.shape[1] ** 2)
    if np.linalg.norm(cost) <= ZERO * np.linalg.norm(program.cost):
        cost = np.zeros_like(cost)
    rows[np.linalg.norm(rows, axis=1) <= ZERO * norms[left]] = 0.0
    reduced = replace(program.take(left), cost=cost, rows=rows)
    independent = _independent(reduced)
    return reduced.take(independent), basis, np.flatnonzero(left)[independent]


def _independent(program: _Program) -> Any:
    """Constraints without the equations that follow from the others, which must agree."""
    norms = program.norms()
    size = np.abs(program.values).max(initial=0.0)
    zero = norms == 0
    wrong = np.where(program.bounded, program.values < -ZERO * size, np.abs(program.values) > 0)
    if np.any(zero & wrong):
        raise _infeasible("a constraint is zero on all matrices that satisfy the others")
    equations = np.flatnonzero(~program.bounded & ~zero)
    bounds = np.flatnonzero(program.bounded & ~zero)
    if len(equations):
        unit = program.rows[equations] / norms[equations, None]
        _, triangle, order = qr(unit.T, mode="economic", pivoting=True)
        rank = int(np.sum(np.abs(np.diag(triangle)) > 1e-10))
        b = program.values[equations] / norms[equations]
        chosen, rest = order[:rank], order[rank:]
        weights = np.linalg.lstsq(unit[chosen].T, unit[rest].T, rcond=None)[0]
        if np.abs(weights.T @ b[chosen] - b[rest]).max(initial=0.0) > 1e-8 * np.abs(b).max():
            raise _infeasible("two or more equations contradict each other")
        equations = equations[np.sort(chosen)]
    return np.sort(np.concatenate((equations, bounds)))


def _infeasible(reason: str) -> ValueError:
    return ValueError(
        f"No positive semidefinite matrix satisfies the constraints: {reason}. Relax or remove "
        "constraints."
    )


class _Units(NamedTuple):
    """Factors from the scaled program back."""

    matrix: float
    multipliers: FloatArray
    objective: float


def _scale(program: _Program) -> tuple[_Program, _Units]:
    """Constraints and cost of norm one, values of at most one."""
    norms = program.norms()
    values = program.values / norms
    size = float(np.abs(values).max(initial=0.0)) or 1.0
    price = float(np.linalg.norm(program.cost)) or 1.0
    scaled = replace(
        program,
        cost=program.cost / price,
        rows=program.rows / norms[:, None],
        values=values / size,
    )
    return scaled, _Units(size, price / norms, price * size)


class _Iterate(NamedTuple):
    """X and slacks s of the bounds; multipliers y, dual matrix S and prices z of the slacks."""

    matrix: FloatArray
    slacks: FloatArray
    multipliers: FloatArray
    dual: FloatArray
    prices: FloatArray

    @property
    def mean(self) -> float:
        products = float(np.sum(self.matrix * self.dual) + self.slacks @ self.prices)
        return products / (len(self.matrix) + len(self.slacks))


class _Best(NamedTuple):
    """Best feasible matrix and best multipliers so far, with the bounds that they prove."""

    matrix: FloatArray
    multipliers: FloatArray
    lower: float
    upper: float
    steps: int

    @property
    def gap(self) -> float:
        if not (np.isfinite(self.lower) and np.isfinite(self.upper)):
            return np.inf
        return max(self.upper - self.lower, 0.0) / max(abs(self.upper), abs(self.lower), SMALL)


def _follow_path(program: _Program, tolerance: float, max_iter: int) -> _Best:
    at = _start(program)
    projection = cho_factor(program.rows @ program.rows.T + np.diag(program.bounded * 1.0))
    best = _Best(at.matrix, at.multipliers * 0.0, -np.inf, np.inf, 0)
    best = _improve(program, projection, best, at._replace(multipliers=best.multipliers))
    for number in range(max_iter):
        if best.gap <= tolerance:
            break
        _refuse_rays(program, at)
        try:
            at = _next(program, at)
        except (LinAlgError, FloatingPointError):
            # Rounding ends the path: the best bounds so far are what is proved.
            break
        best = _improve(program, projection, best, at)._replace(steps=number + 1)
        step(number + 1, max_iter)
    # Without a proof, the last point is nearer to the optimum than the first.
    return best if np.isfinite(best.upper) else best._replace(matrix=at.matrix)


def _start(program: _Program) -> _Iterate:
    n, count = len(program.cost), int(program.bounded.sum())
    size = max(10.0, np.sqrt(n), n * (1.0 + float(np.abs(program.values).max(initial=0.0))) / 2)
    price = max(10.0, np.sqrt(n))
    m = len(program.values)
    ones = np.ones(count)
    return _Iterate(size * np.eye(n), size * ones, np.zeros(m), price * np.eye(n), price * ones)


def _improve(program: _Program, projection: Any, best: _Best, at: _Iterate) -> _Best:
    """Prove bounds by an iterate: the nearest matrix that solves the equations, and its prices."""
    off = program.values - program.measure(at.matrix)
    off[program.bounded] -= at.slacks
    move = cho_solve(projection, off)
    matrix = at.matrix + program.combine(move)
    value = float(np.sum(program.cost * matrix))
    feasible = np.all(at.slacks + move[program.bounded] >= 0) and _definite(matrix)
    if feasible and value < best.upper:
        best = best._replace(matrix=matrix, upper=value)
    multipliers = np.where(program.bounded, np.minimum(at.multipliers, 0.0), at.multipliers)
    proved = float(program.values @ multipliers)
    proved -= len(multipliers) * EPS * float(np.abs(program.values) @ np.abs(multipliers))
    if proved > best.lower and _definite(program.cost - program.combine(multipliers)):
        best = best._replace(multipliers=multipliers, lower=proved)
    return best


def _definite(matrix: FloatArray) -> bool:
    """Whether no eigenvalue is below zero, whatever the rounding of the eigensolver."""
    values = np.linalg.eigvalsh(matrix)
    return bool(values[0] >= 4 * len(values) * EPS * np.abs(values).max())


def _refuse_rays(program: _Program, at: _Iterate) -> None:
    """Raise where the iterates show that there is no feasible matrix, or no optimum."""
    gain = float(program.values @ at.multipliers)
    if gain > 0:
        # ⟨ΣyA, X⟩ = b'y bounds the trace of every feasible X from below.
        highest = float(np.linalg.eigvalsh(program.combine(at.multipliers))[-1])
        positive = float(np.max(at.multipliers[program.bounded], initial=0.0))
        if max(highest, positive) < RAY * gain:
            raise _infeasible("their multipliers grow without limit")
    fall = -float(np.sum(program.cost * at.matrix))
    if fall > 0:
        change = program.measure(at.matrix)
        change[program.bounded] += at.slacks
        if float(np.abs(change).max(initial=0.0)) < RAY * fall:
            raise ValueError(
                "The objective of the semidefinite program is unbounded below. Add a constraint "
                "that bounds it, such as one on the trace of X, or change the sign of cost."
            )


def _next(program: _Program, at: _Iterate) -> _Iterate:
    """Predictor step without centring, then the centred and corrected step."""
    n = len(at.matrix)
    inverse = cho_solve(cho_factor(at.dual), np.eye(n))
    inverse = (inverse + inverse.T) / 2
    matrices = program.rows.reshape(-1, n, n)
    between = program.rows @ (at.matrix @ matrices @ inverse).reshape(program.rows.shape).T
    between = (between + between.T) / 2
    between[np.diag_indices_from(between)] += _spread(program, at.slacks / at.prices)
    factor = cho_factor(between)
    straight = _direction(program, at, inverse, factor, 0.0)
    primal, dual = _step_lengths(at, straight, 1.0)
    centring = (1.0 - min(primal, dual, 1.0)) ** 2
    barrier = max(centring, 1e-6) * at.mean
    way = _direction(program, at, inverse, factor, barrier, straight)
    primal, dual = _step_lengths(at, way, 0.9 + 0.09 * min(primal, dual, 1.0))
    return _Iterate(
        at.matrix + min(primal, 1.0) * way.matrix,
        at.slacks + min(primal, 1.0) * way.slacks,
        at.multipliers + min(dual, 1.0) * way.multipliers,
        at.dual + min(dual, 1.0) * way.dual,
        at.prices + min(dual, 1.0) * way.prices,
    )


def _spread(program: _Program, of_bounds: FloatArray) -> FloatArray:
    whole = np.zeros(len(program.values))
    whole[program.bounded] = of_bounds
    return whole


def _direction(
    program: _Program,
    at: _Iterate,
    inverse: FloatArray,
    factor: Any,
    barrier: float,
    second: _Iterate | None = None,
) -> _Iterate:
    """Solve the linearised conditions; `second` is a step whose products are put back."""
    missing = program.values - program.measure(at.matrix)
    missing[program.bounded] -= at.slacks
    dual_missing = program.cost - program.combine(at.multipliers) - at.dual
    price_missing = -at.multipliers[program.bounded] - at.prices
    products, slack_products = at.matrix @ dual_missing, at.slacks * price_missing
    if second is not None:
        products = products + second.matrix @ second.dual
        slack_products = slack_products + second.slacks * second.prices
    fixed = barrier * inverse - at.matrix - _symmetric_part(products @ inverse)
    fixed_slacks = (barrier - slack_products) / at.prices - at.slacks
    aim = missing - program.measure(fixed) - _spread(program, fixed_slacks)
    multipliers = np.asarray(cho_solve(factor, aim))
    if not np.all(np.isfinite(multipliers)):
        raise FloatingPointError
    combined = program.combine(multipliers)
    moved = multipliers[program.bounded]
    return _Iterate(
        fixed + _symmetric_part(at.matrix @ combined @ inverse),
        fixed_slacks + at.slacks * moved / at.prices,
        multipliers,
        dual_missing - combined,
        price_missing - moved,
    )


def _symmetric_part(product: FloatArray) -> FloatArray:
    return np.asarray((product + product.T) / 2)


def _step_lengths(at: _Iterate, way: _Iterate, share: float) -> tuple[float, float]:
    primal = min(matrix_step(at.matrix, way.matrix), vector_step(at.slacks, way.slacks))
    dual = min(matrix_step(at.dual, way.dual), vector_step(at.prices, way.prices))
    return share * primal, share * dual
