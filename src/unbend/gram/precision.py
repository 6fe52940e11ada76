"""Choice of the precision of geodesics: single where its rounding is negligible."""

from functools import partial

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import FloatArray, IntArray
from unbend.gram import Gram
from unbend.graphs import geodesics
from unbend.report import note, note_bytes

# Rounding may move a wanted eigenvalue by this share of it, and no more.
TOLERANCE = 1e-5
# Rows whose geodesics are computed in both precisions, and rows from which eigenvalues are
# estimated: as many beyond two, or four, for each coordinate.
CHECKED_ROWS, SAMPLE_ROWS = 8, 100
# Error of the kernel relative to its largest eigenvalue that single precision hardly ever stays
# below: measured, it is 0.4 to 3 times the unit of rounding.
LEAST_ERROR = float(np.finfo(np.float32).eps) / 4


def kernel_geodesics(
    lengths: csr_array, count: int, *, threads: int = 1, instead: str
) -> FloatArray:
    """Geodesics between all rows, for the `count` top eigenvectors of −½ H D² H.

    They are in single precision if the error E that this causes in the kernel satisfies
    ‖E‖ ≤ 1e-5 λ, with λ the smallest wanted eigenvalue: then no wanted eigenvalue moves by more
    than that share of itself (Weyl), and their vectors turn by at most ‖E‖ divided by the gap
    (Davis and Kahan). Otherwise they are in double precision.

    ‖E‖ is estimated by the largest singular value of some rows of E, whose geodesics are computed
    in both precisions; λ from the kernel of a sample of rows. A first estimate of λ from the rows
    in double precision spares the rest where single precision is unlikely to be enough.

    Parameters
    ----------
    lengths : csr_array
        Edge lengths of a connected graph.
    count : int
        Number of wanted eigenvectors.
    threads : int
        Threads; the result does not depend on it.
    instead : str
        What the error should advise if the result does not fit in memory.

    Returns
    -------
    array (n, n) of float32 or float64
    """
    n = lengths.shape[0]
    of_all = partial(geodesics, lengths, threads=threads, instead=instead)
    rows = _sample(n, CHECKED_ROWS + 2 * count)
    exact = geodesics(lengths, rows, threads=threads, instead=instead)
    largest, smallest = _wanted_values(exact[:, rows], n, count)
    if TOLERANCE * smallest < LEAST_ERROR * largest:
        return of_all()
    single = of_all(dtype=np.float32)
    error, some = _kernel_error(single[rows], exact), _sample(n, SAMPLE_ROWS + 4 * count)
    _, smallest = _wanted_values(single[np.ix_(some, some)], n, count)
    if error <= TOLERANCE * smallest:
        note(rounding=error / smallest if smallest else 0.0)
        return single
    note_bytes(-single.nbytes)
    del single
    return of_all()


def _sample(n: int, size: int) -> IntArray:
    return np.linspace(0, n - 1, min(n, size)).astype(np.intp)


def _wanted_values(distances: FloatArray, n: int, count: int) -> tuple[float, float]:
    """Estimate the first and the `count`-th eigenvalue for n rows from those of some rows."""
    values = np.linalg.eigvalsh(Gram(distances).form())[::-1] * (n / len(distances))
    return float(values[0]), float(values[count - 1])


def _kernel_error(rounded: FloatArray, exact: FloatArray) -> float:
    """Estimate ‖E‖ of the whole kernel from some of its rows, chosen regardless of it."""
    error = (np.square(rounded, dtype=np.float64) - np.square(exact)) / 2.0
    error -= error.mean(axis=1, keepdims=True)
    return float(np.linalg.norm(error, 2)) * float(np.sqrt(error.shape[1] / len(error)))
