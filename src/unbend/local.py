"""Local geometry: bases and weights of each neighbourhood, and their alignment.

Functions of one neighbourhood take `coordinates` (m, s, r): m neighbourhoods of s points each, up
to a rigid motion, as `Space.coordinates` gives them. The point itself comes first.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls
from scipy.sparse import csr_array

from unbend._kernels import kernels
from unbend.arrays import FloatArray, IntArray, sorted_rows
from unbend.report import step
from unbend.validation.arrays import check_rows
from unbend.validation.scalars import check_real

# Ridge, relative to the trace, that rounding does not swallow.
LEAST_RIDGE = 1e-14
# Eigenvalues of a Gram matrix below this share of the largest are rounding.
NULL = 1e-12


def barycentric_weights(
    coordinates: FloatArray, reg: float = 1e-3, nonnegative: bool = False
) -> FloatArray:
    """Weights w, summing to one, that write the first point by the others (m, s − 1).

    Minimises ‖x − Σ w_j x_j‖² + reg·trace(G)·‖w‖², with G the Gram matrix of the differences
    x_j − x: the regularisation makes the answer unique when there are more neighbours than
    directions (Saul and Roweis, 2003; book section 10.1). Without one, the shortest of the best
    weights are taken, which those of a vanishing regularisation tend to.

    Examples
    --------
    >>> import numpy as np
    >>> midpoint = np.array([[[0.0], [-1.0], [1.0]]])
    >>> barycentric_weights(midpoint)
    array([[0.5, 0.5]])
    """
    if nonnegative or reg == 0:
        from unbend._kernels import reference

    if nonnegative:
        return _nonnegative_weights(reference.ridged_gram(coordinates, max(reg, LEAST_RIDGE)))
    if reg == 0:
        return _unridged_weights(reference.ridged_gram(coordinates, 0.0))
    coordinates = np.ascontiguousarray(coordinates, dtype=np.float64)
    weights = np.empty((coordinates.shape[0], coordinates.shape[1] - 1))
    kernels.barycentric_weights(coordinates, reg, 1, weights)
    # Where the ridge is lost in rounding, the equations may be singular: they get one that is not.
    singular = np.isnan(weights[:, 0])
    if singular.any():
        from unbend._kernels import reference

        found = np.empty((int(singular.sum()), weights.shape[1]))
        reference.barycentric_weights(coordinates[singular], max(reg, LEAST_RIDGE), 1, found)
        weights[singular] = found
    return weights


def _unridged_weights(gram: FloatArray) -> FloatArray:
    """Minimise w'Gw over Σw = 1; of several solutions the shortest.

    With G = Σ λ u u' and c = u'1 the ridged weights are Σ c/(λ + ε) u, up to scale: in the limit
    the part of 1 in the null space of G, if there is any, and else G⁺1.
    """
    values, vectors = np.linalg.eigh(gram)
    sums = vectors.sum(axis=1)
    null = values <= NULL * np.maximum(values[:, -1:], np.finfo(float).tiny)
    within = np.where(null, sums, 0.0)
    feasible = np.square(within).sum(axis=1, keepdims=True) > NULL * gram.shape[1]
    outside = np.divide(sums, values, out=np.zeros_like(sums), where=~null)
    weights = np.einsum("mij,mj->mi", vectors, np.where(feasible, within, outside))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def barycentric_coordinates(
    points: ArrayLike, vertices: ArrayLike, *, reg: float = 0.0, nonnegative: bool = False
) -> FloatArray:
    """Weights, summing to one, that write points by vertices (book section 10.1.1).

    Inside a simplex these are the barycentric coordinates; with fewer vertices those of the
    nearest point of their plane, and with more the shortest of all that are exact.

    Parameters
    ----------
    points : array (m, D)
        Points to write.
    vertices : array (k, D) or (m, k, D)
        Vertices for all points, or for each its own.
    reg : float
        Ridge, relative to the trace of the Gram matrix of the differences, which draws the weights
        together.
    nonnegative : bool
        Whether weights must not be negative: the nearest point of the convex hull.

    Returns
    -------
    array (m, k)

    Examples
    --------
    >>> import numpy as np
    >>> triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> barycentric_coordinates([[0.2, 0.3]], triangle).round(6)
    array([[0.5, 0.2, 0.3]])
    """
    rows = check_rows(points, "points", min_rows=1).astype(np.float64)
    given = np.asarray(vertices, dtype=np.float64)
    if given.ndim == 2:
        corners = np.broadcast_to(
            check_rows(given, "vertices", min_rows=1), (len(rows), *given.shape)
        )
    else:
        corners = given
    if corners.ndim != 3 or corners.shape[0] != len(rows) or corners.shape[2] != rows.shape[1]:
        raise ValueError(
            f"vertices must be (k, {rows.shape[1]}) or ({len(rows)}, k, {rows.shape[1]}) for "
            f"points of shape {rows.shape}, and their shape is {given.shape}"
        )
    if not np.all(np.isfinite(corners)):
        raise ValueError("vertices contains NaN or infinity. Pass finite numbers.")
    ridge = check_real("reg", reg, 0)
    return barycentric_weights(np.concatenate((rows[:, None], corners), axis=1), ridge, nonnegative)


def _nonnegative_weights(gram: FloatArray) -> FloatArray:
    """Minimise w'Gw over w ≥ 0, Σw = 1: up to scale the least-squares problem Rw ≈ R⁻ᵀ1."""
    roots = np.linalg.cholesky(gram).transpose(0, 2, 1)
    ones = np.ones((*gram.shape[:2], 1))
    targets = np.linalg.solve(roots.transpose(0, 2, 1), ones)[..., 0]
    weights = np.stack([nnls(root, target)[0] for root, target in zip(roots, targets, strict=True)])
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def affine_bases(coordinates: "FloatArray | RowBlocks", d: int, threads: int = 1) -> FloatArray:
    """Orthonormal bases [1/√s, tangent coordinates] of each neighbourhood, (m, s, 1 + d).

    Tangent coordinates are the leading left singular vectors of the centered points; where the
    points span fewer than d directions the missing columns are zero. LTSA's blocks are I − GG'
    (Zhang and Zha, 2004): they vanish exactly on constants and on the tangent coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.array([[[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]])
    >>> np.abs(affine_bases(line, 1)[0, :, 1]).round(6)
    array([0.707107, 0.      , 0.707107])
    """
    return _bases(coordinates, d, False, threads)


def quadratic_bases(coordinates: "FloatArray | RowBlocks", d: int, threads: int = 1) -> FloatArray:
    """Orthonormal bases of the quadratics that are not affine, (m, s, d(d + 1)/2).

    What is left of the products t_a t_b of tangent coordinates after Gram–Schmidt against 1 and
    t. Hessian LLE's blocks are QQ' (Donoho and Grimes, 2003); the rest of the space, which a full
    QR would add, gives LTSA.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.array([[[0.0], [1.0], [2.0]]])
    >>> np.abs(quadratic_bases(line, 1)[0, :, 0]).round(6)
    array([0.408248, 0.816497, 0.408248])
    """
    return _bases(coordinates, d, True, threads)


@dataclass(frozen=True, eq=False)
class RowBlocks:
    """Neighbourhoods as numbers `members` (m, s) of rows (n, r), relative to the first of each."""

    rows: FloatArray
    members: IntArray


def _bases(
    coordinates: FloatArray | RowBlocks, d: int, quadratic: bool, threads: int
) -> FloatArray:
    width = d * (d + 1) // 2 if quadratic else 1 + d
    if isinstance(coordinates, RowBlocks):
        rows, members = coordinates.rows, coordinates.members
        bases = np.empty((*members.shape, width))
        kernels.gathered_bases(rows, members, d, quadratic, threads, step, bases)
        return bases
    points = np.ascontiguousarray(coordinates, dtype=np.float64)
    bases = np.empty((*points.shape[:2], width))
    kernels.local_bases(points, d, quadratic, threads, _no_progress, bases)
    return bases


def _no_progress(done: int, total: int) -> None:
    """Do nothing: the caller reports progress over all neighbourhoods."""


def align(
    n: int,
    offsets: IntArray,
    members: IntArray,
    bases: FloatArray,
    *,
    complement: bool = False,
    threads: int = 1,
) -> csr_array:
    """Sum of blocks put in their places: Σ SᵢBᵢSᵢ', with Bᵢ = BB', or I − BB' for a complement.

    Neighbourhood i has the points ``members[offsets[i]:offsets[i + 1]]``, and the same rows of
    `bases` (entries, w) are its B.

    Examples
    --------
    >>> import numpy as np
    >>> align(3, np.array([0, 2, 4]), np.array([0, 1, 1, 2]), np.ones((4, 1))).toarray()
    array([[1., 1., 0.],
           [1., 2., 1.],
           [0., 1., 1.]])
    """
    offset, member = offsets.astype(np.int64), members.astype(np.int32)
    row = np.empty(n + 1, dtype=np.int64)
    kernels.align_rows(offset, member, threads, row)
    column, value = np.empty(row[-1], dtype=np.int32), np.empty(row[-1])
    basis = np.ascontiguousarray(bases)
    kernels.align(offset, member, basis, complement, threads, _no_progress, row, column, value)
    return sorted_rows(row, column, value)
