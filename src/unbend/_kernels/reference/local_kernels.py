"""Local bases, alignment kernels and barycentric weights; distinct rows and second moments."""

from itertools import pairwise

import numpy as np
from scipy.sparse import coo_array, csr_array

from unbend.arrays import BoolArray, FloatArray, IntArray, row_chunks
from unbend.progress import Poll

# Relative tolerance of the rank of a neighbourhood.
RANK_TOLERANCE = 1e-10


def local_bases(
    points: FloatArray, d: int, quadratic: bool, threads: int, poll: Poll, bases: FloatArray
) -> None:
    """Fill `bases` (m, s, w) of neighbourhoods `points` (m, s, r) of a d-dimensional surface.

    Those of the affine functions (w = 1 + d), or of the quadratics that are not affine
    (w = d(d + 1)/2).
    """
    tangent = _tangents(points, d)
    m, s, _ = tangent.shape
    affine = np.concatenate((np.full((m, s, 1), s**-0.5), tangent), axis=2)
    bases[...] = _quadratics(affine) if quadratic else affine


def gathered_bases(
    rows: FloatArray,
    members: IntArray,
    d: int,
    quadratic: bool,
    threads: int,
    poll: Poll,
    bases: FloatArray,
) -> None:
    """Do what `local_bases` does, for neighbourhoods (m, s) given as numbers of rows (n, r)."""
    points = rows[members]
    local_bases(points - points[:, :1], d, quadratic, threads, poll, bases)


def _quadratics(affine: FloatArray) -> FloatArray:
    tangent = affine[:, :, 1:]
    first, second = np.triu_indices(tangent.shape[2])
    products = tangent[:, :, first] * tangent[:, :, second]
    size = np.linalg.norm(products, axis=(1, 2))
    for _ in range(2):  # twice, so that what is left is orthogonal to rounding
        products = products - affine @ (affine.transpose(0, 2, 1) @ products)
    left, singular, _ = np.linalg.svd(products, full_matrices=False)
    basis = _orthogonal_to(affine, left, singular > RANK_TOLERANCE * size[:, None])
    return np.pad(basis, ((0, 0), (0, 0), (0, len(first) - basis.shape[2])))


def _tangents(coordinates: FloatArray, d: int) -> FloatArray:
    """Orthonormal tangent coordinates (m, s, d) of each neighbourhood.

    The leading left singular vectors of the centred points. Where the points span fewer than d
    directions the missing columns are zero.
    """
    # Relative to the first point: duplicates differ by exactly zero.
    centered = coordinates - coordinates[:, :1]
    centered = centered - centered.mean(axis=1, keepdims=True)
    left, singular, _ = np.linalg.svd(centered, full_matrices=False)
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


def align_rows(offset: IntArray, member: IntArray, threads: int, row: IntArray) -> None:
    """Fill `row` with the offsets of the rows of Σ SᵢBᵢSᵢ' in compressed rows."""
    ones = csr_array((np.ones(len(member)), member, offset), shape=(len(offset) - 1, len(row) - 1))
    row[...] = (ones.T @ ones).tocsr().indptr


def align(
    offset: IntArray,
    member: IntArray,
    bases: FloatArray,
    complement: bool,
    threads: int,
    poll: Poll,
    row: IntArray,
    column: IntArray,
    value: FloatArray,
) -> None:
    """Fill columns (ascending) and values of Σ SᵢBᵢSᵢ', Bᵢ = BB' or I − BB'."""
    rows, columns, values = [], [], []
    for start, stop in pairwise(offset):
        block = bases[start:stop] @ bases[start:stop].T
        rows.append(np.repeat(member[start:stop], stop - start))
        columns.append(np.tile(member[start:stop], stop - start))
        values.append((np.eye(stop - start) - block if complement else block).ravel())
    n = len(row) - 1
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    kernel = csr_array(coo_array(entries, shape=(n, n)))
    kernel.sort_indices()
    column[...], value[...] = kernel.indices, kernel.data


def barycentric_weights(
    coordinates: FloatArray, reg: float, threads: int, weights: FloatArray
) -> None:
    """Fill weights (m, s − 1); NaN in rows whose equations are singular to rounding."""
    gram = ridged_gram(coordinates, reg)
    solved = np.linalg.solve(gram, np.ones((*gram.shape[:2], 1)))[..., 0]
    weights[...] = solved / solved.sum(axis=1, keepdims=True)


def place_barycentric(
    points: FloatArray,
    values: FloatArray,
    queries: FloatArray,
    near: IntArray,
    reg: float,
    threads: int,
    placed: FloatArray,
) -> None:
    """Fill `placed` (m, d) with the values of the points near each query, by barycentric weights.

    There must be at least as many neighbours as columns.
    """
    weights = np.empty(near.shape)
    for rows in row_chunks(len(queries), 32 * (near.shape[1] + 1) ** 2, 1 << 22):
        block = np.concatenate((queries[rows, None], points[near[rows]]), axis=1)
        barycentric_weights(block, reg, threads, weights[rows])
    combine_rows(values, near, weights, threads, placed)


def combine_rows(
    values: FloatArray, near: IntArray, weights: FloatArray, threads: int, sums: FloatArray
) -> None:
    """Fill `sums` (m, d) with the weighted sums of the values near each query."""
    for rows in row_chunks(len(near), 8 * near.shape[1] * values.shape[1], 1 << 22):
        sums[rows] = np.einsum("ij,ijk->ik", weights[rows], values[near[rows]])


def ridged_gram(coordinates: FloatArray, reg: float) -> FloatArray:
    """Gram matrices of the differences to the first point, with reg·trace on the diagonal."""
    differences = coordinates[:, 1:] - coordinates[:, :1]
    gram = differences @ differences.transpose(0, 2, 1)
    trace = np.trace(gram, axis1=1, axis2=2)
    # All neighbours are duplicates of the point: use equal weights.
    ridge = np.where(trace > 0, reg * trace, 1.0)
    return np.asarray(gram + ridge[:, None, None] * np.eye(gram.shape[1]))


def distinct_rows(
    points: FloatArray, vanishing: float, copies: IntArray
) -> tuple[bool, float, bool, int]:
    """Fill the index of the distinct row of each row, in order of first occurrence.

    Returns whether all numbers are finite, their largest magnitude, whether a nonzero one is
    below `vanishing`, and the number of distinct rows: `copies` are filled if there are
    duplicates. Here by sorting the rows.
    """
    # Adding zero turns -0.0 to 0.0: equal numbers must have equal bits.
    _, first, inverse = np.unique(
        points + 0.0, axis=0, return_index=True, return_inverse=True, equal_nan=False
    )
    rank = np.empty_like(first)
    rank[np.argsort(first)] = np.arange(len(first))
    copies[...] = rank[inverse.ravel()]
    sizes = np.abs(points)
    tiny = bool(((sizes < vanishing) & (sizes > 0)).any())
    return bool(np.isfinite(points).all()), float(sizes.max()), tiny, len(first)


def near_products(points: FloatArray, far: float, products: FloatArray) -> tuple[int, float]:
    """Fill Σ (x − m)(x − m)' about the mean m of the rows near it, and return their number.

    Beside it the mean of |x − m|⁴, but for what skewness adds where m was guessed first.
    Outliers, more than `far` times as far from the mean as the median row, are removed until
    there are none.
    """
    centered, fourth = near_centred(points, far)
    products[...] = centered.T @ centered
    return len(centered), fourth


def near_centred(points: FloatArray, far: float) -> tuple[FloatArray, float]:
    """Centred rows without outliers, which do not affect the mean either.

    Beside them the mean fourth power of their lengths.
    """
    while True:
        # The mean as a matrix product, which is much faster than column sums.
        centered = points - np.full(len(points), 1 / len(points)) @ points
        squares = np.einsum("ij,ij->i", centered, centered)
        near = squares <= far**2 * np.median(squares)
        if near.all() or not near.any():
            return np.asarray(centered), float(np.square(squares).mean())
        points = points[near]


def thin_products(
    rows: FloatArray, center: FloatArray, axes: FloatArray, products: FloatArray
) -> None:
    """Fill `products` (n, count) of rows, less a center, with one or two axes.

    Independent of the other rows to the last bit.
    """
    for row, product in zip(rows, products, strict=True):
        product[...] = [np.dot(row - center, axis) for axis in axes]


def largest_magnitude(numbers: FloatArray) -> float:
    """Largest magnitude of numbers; NaN if there is one."""
    return float(max(numbers.max(initial=0.0), -numbers.min(initial=0.0)))


def column_spread(rows: FloatArray, step: int, sums: FloatArray, squares: FloatArray) -> None:
    """Sum the differences of every `step`-th row from the first, and their squares."""
    differences = rows[::step] - rows[0]
    sums[:] = differences.sum(axis=0)
    squares[:] = np.square(differences).sum(axis=0)


def gaussians(products: FloatArray, threads: int = 1) -> None:
    """Turn inner products p into exp(p_ij − (p_ii + p_jj) / 2), in place."""
    half = products.diagonal() / 2.0
    products -= half[:, None] + half
    np.minimum(products, 0.0, out=products)
    np.exp(products, out=products)


def add_to_pairs(matrix: FloatArray, values: FloatArray, threads: int = 1) -> None:
    """Add values[i] + values[j] to entry ij, in place."""
    matrix += values[:, None] + values


def few_products(
    matrix: FloatArray, vectors: FloatArray, products: FloatArray, threads: int = 1
) -> None:
    """Fill `products` (width, n) of a few vectors (width, n) with a symmetric matrix."""
    np.matmul(vectors, matrix, out=products)


def orthonormal_block(basis: FloatArray, block: FloatArray, well_apart: float) -> float:
    """Make a block (n, width) orthonormal, and orthogonal to a basis (count, n), in two rounds.

    Return the norm of what the second took out. Where the columns of a round are not well apart,
    the block stays as it was and the result is negative.
    """
    own = block
    for _ in range(2):
        products = basis @ own
        own = own - basis.T @ products
        inner = own.T @ own
        length = np.sqrt(inner.diagonal())
        if not (length.min(initial=np.inf) > 0 and np.isfinite(length.max(initial=0.0))):
            return -1.0
        try:
            root = np.linalg.cholesky(inner / length / length[:, None])
        except np.linalg.LinAlgError:
            return -1.0
        if not root.diagonal().min(initial=1.0) > well_apart:
            return -1.0
        own = np.linalg.solve(root, (own / length).T).T
    block[...] = own
    return float(np.linalg.norm(products))


def symmetric_eigenpairs(matrix: FloatArray, values: FloatArray, vectors: FloatArray) -> bool:
    """Fill the eigenvalues of the mean of a matrix and its transpose, ascending, and unit vectors.

    Vectors (n, n) are rows. False where the iteration does not converge, as for NaN.
    """
    if not np.all(np.isfinite(matrix)):
        return False
    values[...], columns = np.linalg.eigh((matrix + matrix.T) / 2)
    vectors[...] = columns.T
    return True


def local_gram(points: FloatArray, members: IntArray, threads: int, gram: FloatArray) -> None:
    """Fill inner products (m, s, s) of the rows of each neighbourhood, relative to its first one.

    Few at a time: all neighbourhoods of long rows would take many times their memory.
    """
    for some in row_chunks(len(members), 8 * members.shape[1] * points.shape[1], 1 << 22):
        block = points[members[some]].astype(np.float64, copy=False)
        block = block - block[:, :1]
        gram[some] = block @ block.transpose(0, 2, 1)
