"""How much of a Gram matrix is negative."""

import numpy as np
from scipy.linalg.lapack import dpotrf
from scipy.sparse.linalg import LinearOperator

from unbend.arrays import FloatArray
from unbend.eigen.problem import Spectrum
from unbend.gram.centered import CentredGram
from unbend.report import note

# Up to here the share of negative eigenvalues is exact; beyond, it is estimated from this many
# probes and Lanczos steps.
EXACT_ROWS, PROBES, STEPS = 600, 8, 30
# Up to here a Cholesky factorisation takes less time than the estimate.
PROVED_ROWS = 2000


def negative_share(gram: CentredGram, spectrum: Spectrum, rng: np.random.Generator) -> float:
    """Share of the eigenvalues' total magnitude that is negative, Σ_{λ<0}|λ| / Σ|λ|.

    Zero where up to 2000 rows have a Cholesky factorisation, which proves that no eigenvalue is
    negative by more than rounding. Else exact up to 600 rows. Beyond, the sum of the negative
    eigenvalues is estimated by stochastic Lanczos quadrature (Ubaru, Chen and Saad, 2017) beside
    the eigenvectors that are known, and the rest follows from the trace.
    """
    if gram.n <= PROVED_ROWS and _semidefinite(gram, spectrum.norm):
        note(negative_share_by="Cholesky factorisation")
        return 0.0
    if gram.n <= EXACT_ROWS:
        note(negative_share_by="all eigenvalues")
        values = np.linalg.eigvalsh(gram.formed())
        negative = float(-values[values < 0].sum())
    else:
        note(negative_share_by=f"quadrature from {PROBES} probes")
        probes = rng.choice((-1.0, 1.0), (gram.n, PROBES))
        probes = probes - spectrum.vectors @ (spectrum.vectors.T @ probes)
        values, weights = _quadrature(gram.operator(), probes)
        rest = gram.n - len(spectrum.values)
        negative = rest * float(weights @ np.maximum(-values, 0.0)) / PROBES
    total = gram.trace + 2.0 * negative
    # An estimate may exceed what there is.
    return min(1.0, negative / total) if total > 0 else 0.0


def _semidefinite(gram: CentredGram, norm: float) -> bool:
    """Whether no eigenvalue lies below zero by more than the rounding of sums of n terms."""
    kernel = gram.formed()
    kernel.flat[:: gram.n + 1] += np.finfo(np.float64).eps * gram.n * norm
    # The transpose is in LAPACK's order, and as good: the matrix is symmetric.
    failed: int = dpotrf(kernel.T, clean=False, overwrite_a=True)[1]
    return failed == 0


def _quadrature(operator: LinearOperator, probes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of the Gauss rules for the spectral measures of the probes (Lanczos)."""
    n, count = probes.shape
    basis = np.empty((count, STEPS + 1, n))
    basis[:, 0] = (probes / np.linalg.norm(probes, axis=0)).T
    diagonal, beside = np.empty((count, STEPS)), np.empty((count, STEPS))
    for number in range(STEPS):
        image = (operator @ basis[:, number].T).T[:, None]
        diagonal[:, number] = np.einsum("ij,ij->i", basis[:, number], image[:, 0])
        against = basis[:, : number + 1]
        for _ in range(2):
            image = image - (image @ against.mT) @ against
        beside[:, number] = np.linalg.norm(image[:, 0], axis=1)
        floor = np.maximum(beside[:, number, None], np.finfo(float).tiny)
        basis[:, number + 1] = image[:, 0] / floor
    nodes, weights = [], []
    for middle, side in zip(diagonal, beside[:, :-1], strict=True):
        values, vectors = np.linalg.eigh(np.diag(middle) + np.diag(side, 1) + np.diag(side, -1))
        nodes.append(values)
        weights.append(np.square(vectors[0]))
    return np.concatenate(nodes), np.concatenate(weights)
