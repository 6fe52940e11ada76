"""Local geometry: what each neighbourhood says, and how the pieces are aligned.

All functions take `coordinates` (m, s, r): m neighbourhoods of s points each, up to a rigid
motion, as `Space.coordinates` gives them. The point itself comes first in its neighbourhood.
"""

from collections.abc import Iterable

import numpy as np
from scipy.optimize import nnls
from scipy.sparse import coo_array, csr_array

from unbend._kernels import kernels, reference
from unbend.arrays import BoolArray, FloatArray, IntArray

# Singular values below this share of the largest are rounding, not directions.
RANK_TOLERANCE = 1e-10


def barycentric_weights(
    coordinates: FloatArray, reg: float = 1e-3, nonnegative: bool = False
) -> FloatArray:
    """Weights w, summing to one, that write the first point by the others (m, s − 1).

    Minimises ‖x − Σ w_j x_j‖² + reg·trace(G)·‖w‖², with G the Gram matrix of the differences
    x_j − x: the regularisation makes the answer unique when there are more neighbours than
    directions (Saul and Roweis, 2003; book section 10.1).

    Examples
    --------
    >>> import numpy as np
    >>> midpoint = np.array([[[0.0], [-1.0], [1.0]]])
    >>> barycentric_weights(midpoint)
    array([[0.5, 0.5]])
    """
    if nonnegative:
        return _nonnegative_weights(reference.ridged_gram(coordinates, reg))
    coordinates = np.ascontiguousarray(coordinates, dtype=np.float64)
    weights = np.empty((coordinates.shape[0], coordinates.shape[1] - 1))
    kernels.barycentric_weights(coordinates, reg, 1, weights)
    # Only without regularisation can the equations be singular; LAPACK then does what it can.
    singular = np.isnan(weights[:, 0])
    if singular.any():
        found = np.empty((int(singular.sum()), weights.shape[1]))
        reference.barycentric_weights(coordinates[singular], reg, 1, found)
        weights[singular] = found
    return weights


def _nonnegative_weights(gram: FloatArray) -> FloatArray:
    """Minimise w'Gw over w ≥ 0, Σw = 1: up to scale the least-squares problem Rw ≈ R⁻ᵀ1."""
    roots = np.linalg.cholesky(gram).transpose(0, 2, 1)
    ones = np.ones((*gram.shape[:2], 1))
    targets = np.linalg.solve(roots.transpose(0, 2, 1), ones)[..., 0]
    weights = np.stack([nnls(root, target)[0] for root, target in zip(roots, targets, strict=True)])
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def tangents(coordinates: FloatArray, d: int) -> FloatArray:
    """Orthonormal tangent coordinates (m, s, d) of each neighbourhood.

    The leading left singular vectors of the centred points. Where the points span fewer than d
    directions the missing columns are zero.
    """
    # From the first point, so that points that coincide differ by exactly zero.
    centred = coordinates - coordinates[:, :1]
    centred = centred - centred.mean(axis=1, keepdims=True)
    left, singular, _ = np.linalg.svd(centred, full_matrices=False)
    exists = singular > RANK_TOLERANCE * singular[:, :1]
    constant = np.full((len(left), left.shape[1], 1), left.shape[1] ** -0.5)
    tangent = _orthogonal_to(constant, left[:, :, :d], exists[:, :d])
    short = max(0, d - left.shape[2])
    return np.pad(tangent, ((0, 0), (0, 0), (0, short)))


def _orthogonal_to(basis: FloatArray, left: FloatArray, keep: BoolArray) -> FloatArray:
    """Columns to keep, made orthonormal and orthogonal to a basis to rounding, the others zero.

    Singular vectors of small singular values are orthogonal to what was projected out before only
    up to the rounding of the large ones.
    """
    left = left * keep[:, None, :]
    left = left - basis @ (basis.transpose(0, 2, 1) @ left)
    return np.asarray(np.linalg.qr(left)[0] * keep[:, None, :])


def tangent_blocks(coordinates: FloatArray, d: int) -> FloatArray:
    """LTSA's blocks I − GG', G = [1/√s, tangent coordinates] (Zhang and Zha, 2004).

    They vanish exactly on constants and on the tangent coordinates.
    """
    tangent = tangents(coordinates, d)
    s = tangent.shape[1]
    return np.asarray(np.eye(s) - 1.0 / s - tangent @ tangent.transpose(0, 2, 1))


def hessian_blocks(coordinates: FloatArray, d: int) -> FloatArray:
    """Hessian LLE's blocks QQ' (Donoho and Grimes, 2003).

    Q holds what is left of the products t_a t_b of tangent coordinates after Gram–Schmidt
    against 1 and t: an orthonormal basis of the quadratics that are not affine. The QR is the
    reduced one; a full QR would add the rest of the space and give LTSA.
    """
    tangent = tangents(coordinates, d)
    first, second = np.triu_indices(d)
    products = tangent[:, :, first] * tangent[:, :, second]
    m, s, _ = tangent.shape
    affine = np.concatenate((np.full((m, s, 1), s**-0.5), tangent), axis=2)
    size = np.linalg.norm(products, axis=(1, 2))
    for _ in range(2):  # twice, so that what is left is orthogonal to rounding
        products = products - affine @ (affine.transpose(0, 2, 1) @ products)
    left, singular, _ = np.linalg.svd(products, full_matrices=False)
    quadratic = _orthogonal_to(affine, left, singular > RANK_TOLERANCE * size[:, None])
    return np.asarray(quadratic @ quadratic.transpose(0, 2, 1))


def align(n: int, blocks: Iterable[tuple[IntArray, FloatArray]]) -> csr_array:
    """Sum of blocks put in their places: Σ SᵢBᵢSᵢ', from pairs (indices (m, s), blocks (m, s, s)).

    Examples
    --------
    >>> import numpy as np
    >>> align(3, [(np.array([[0, 1], [1, 2]]), np.ones((2, 2, 2)))]).toarray()
    array([[1., 1., 0.],
           [1., 2., 1.],
           [0., 1., 1.]])
    """
    rows, columns, values = [], [], []
    for indices, block in blocks:
        s = indices.shape[1]
        rows.append(np.repeat(indices, s, axis=1).ravel().astype(np.int32))
        columns.append(np.tile(indices, s).ravel().astype(np.int32))
        values.append(block.ravel())
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return csr_array(coo_array(entries, shape=(n, n)))
