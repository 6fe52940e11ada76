"""Kernels of the nonlinear methods as dense n x n matrices.

`neighbors` holds one array of indices for each point, without the point itself.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from tests.oracles.neighbors import Floats, Neighbors, shortest_paths, union_graph


def isomap_kernel(points: ArrayLike, neighbors: Neighbors) -> Floats:
    """-1/2 H D^2 H, D the shortest paths in the union graph, squared entry by entry.

    J. B. Tenenbaum, V. de Silva, J. C. Langford, Science 290 (2000).
    """
    paths = shortest_paths(union_graph(points, neighbors))
    if np.isinf(paths).any():
        raise ValueError("the graph is not connected")
    centre = np.eye(len(paths)) - 1.0 / len(paths)
    return -0.5 * centre @ paths**2 @ centre


def lle_weights(points: ArrayLike, neighbors: Neighbors, reg: float = 1e-3) -> Floats:
    """W with row i proportional to (C + reg trace(C) I)^-1 1, C_ab = (x_a - x_i).(x_b - x_i).

    Rows sum to one. The ridge is not divided by k, and is added even when k <= D (the authors'
    code adds it for k > D only). If all neighbours equal the point, trace(C) is zero and reg
    itself is added, which gives equal weights.
    S. T. Roweis, L. K. Saul, Science 290 (2000).
    """
    rows = np.asarray(points, dtype=np.float64)
    weights = np.zeros((len(rows), len(rows)))
    for i, around in enumerate(neighbors):
        offsets = rows[around] - rows[i]
        gram = offsets @ offsets.T
        ridge = reg * np.trace(gram) if np.trace(gram) > 0 else reg
        solution = np.linalg.solve(gram + ridge * np.eye(len(around)), np.ones(len(around)))
        weights[i, around] = solution / solution.sum()
    return weights


def lle_matrix(points: ArrayLike, neighbors: Neighbors, reg: float = 1e-3) -> Floats:
    """(I - W)'(I - W), W from `lle_weights`; the embedding is at the bottom of its spectrum."""
    difference = np.eye(len(neighbors)) - lle_weights(points, neighbors, reg)
    return difference.T @ difference


def tangent_coordinates(block: Floats, d: int) -> Floats:
    """Return the d leading left singular vectors U of the centred block: U'U = I and U'1 = 0.

    A block of lower rank is refused: the vectors of zero singular values are arbitrary, and
    not even orthogonal to the constant.
    """
    left, values, _ = np.linalg.svd(block - block.mean(axis=0), full_matrices=False)
    if len(values) < d or values[d - 1] <= 1e-12 * values[0]:
        raise ValueError(f"the block spans fewer than {d} dimensions")
    return left[:, :d]


def ltsa_matrix(points: ArrayLike, neighbors: Neighbors, d: int) -> Floats:
    """Sum over i of S_i (I - G_i G_i') S_i', G_i = [1 / sqrt(s), U_i], block = i and neighbours.

    Z. Zhang, H. Zha, SIAM J. Sci. Comput. 26 (2004).
    """
    rows = np.asarray(points, dtype=np.float64)
    matrix = np.zeros((len(rows), len(rows)))
    for i, around in enumerate(neighbors):
        block = np.concatenate([[i], around])
        constant = np.full((len(block), 1), 1.0 / np.sqrt(len(block)))
        basis = np.hstack([constant, tangent_coordinates(rows[block], d)])
        matrix[np.ix_(block, block)] += np.eye(len(block)) - basis @ basis.T
    return matrix


def hessian_matrix(points: ArrayLike, neighbors: Neighbors, d: int) -> Floats:
    """Sum over i of S_i Q_i Q_i' S_i', block = i and its neighbours.

    Q_i is the last d(d+1)/2 columns of the reduced QR of [1, U, U_a U_b (a <= b)]: what is new
    in the quadratics, once the affine functions are taken out. A full QR would append the rest
    of R^s, and so build I - GG', which is LTSA. The authors' code leaves the point itself out of
    the block, and divides a column of Q by its sum where that exceeds 1e-4. The columns are
    orthogonal to the constant, so these sums are rounding errors and that scaling acts on
    degenerate blocks only, which are refused here: it is left out.
    The rank is at most d(d+1)/2 times the number of different blocks: too low on a line if k > 2.
    D. L. Donoho, C. Grimes, PNAS 100 (2003).
    """
    rows = np.asarray(points, dtype=np.float64)
    matrix = np.zeros((len(rows), len(rows)))
    for i, around in enumerate(neighbors):
        block = np.concatenate([[i], around])
        if len(block) < (d + 1) * (d + 2) // 2:
            raise ValueError(f"block {i} has {len(block)} points, too few for d = {d}")
        u = tangent_coordinates(rows[block], d)
        products = [u[:, a] * u[:, b] for a in range(d) for b in range(a, d)]
        design = np.column_stack([np.ones(len(block)), u, *products])
        q, r = np.linalg.qr(design, mode="reduced")
        if (np.abs(np.diag(r)) <= 1e-10 * np.linalg.norm(design, axis=0)).any():
            raise ValueError(f"block {i} lies on a quadric: its quadratics are not independent")
        matrix[np.ix_(block, block)] += q[:, d + 1 :] @ q[:, d + 1 :].T
    return matrix


def laplacian(
    points: ArrayLike, neighbors: Neighbors, weight: Callable[[float], float] = lambda d: 1.0
) -> tuple[Floats, Floats]:
    """(D - W, degrees) on the union graph, w_ij = weight(|x_i - x_j|), degrees the sums of W.

    The weight is a function of a symmetric distance, so an edge found from one side only weighs
    max(w, 0) = w. M. Belkin, P. Niyogi, Neural Computation 15 (2003).
    """
    lengths = union_graph(points, neighbors)
    weights = np.zeros(lengths.shape)
    for i, j in np.argwhere(np.isfinite(lengths)):
        weights[i, j] = weight(float(lengths[i, j]))
    degrees = weights.sum(axis=1)
    return np.diag(degrees) - weights, degrees
