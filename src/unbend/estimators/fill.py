"""Fill of sparse factors, predicted from the neighbourhoods of a sample.

The factor of an alignment kernel has about n log n entries where rows lie on a sheet, and up to
n²/2 in many dimensions. Which of these it is depends on the rows: an analysis of a sample, without
any number of the factor, shows it in a fraction of the time of the fit.
"""

from math import inf, log, log2

import numpy as np

from unbend.arrays import FloatArray
from unbend.eigen.auto import FULL_FACTOR, worth_factorising
from unbend.eigen.problem import SpectralProblem
from unbend.eigen.shift_invert import analyse
from unbend.graphs.graph import merge_directions
from unbend.local import align
from unbend.neighbors import PointSpace

# Rows of the sample; up to as many the analysis is that of the fit.
SAMPLE = 20_000
# Growth of the entries by n^p from which on it is a power, and not n log n; no factor grows faster
# than the triangle.
SHEET, TRIANGLE = 1.3, 2.0


def predict_fill(
    rows: FloatArray,
    neighbors: int,
    alignment: bool,
    wanted: int | None,
    sample: int = SAMPLE,
    threads: int = 1,
) -> float:
    """Predict how many numbers the factor of a kernel stores; zero where the fit takes none.

    Parameters
    ----------
    rows : array (n, columns)
        Rows, of which a sample is analysed.
    neighbors : int
        Neighbours of each row.
    alignment : bool
        Whether all pairs within a neighbourhood are entries, as of LLE and LTSA, or only edges.
    wanted : int or None
        Eigenpairs, by which a graph Laplacian is or is not factorised; with None it always is.
    sample : int
        Rows of the sample.
    threads : int
        Threads; the prediction does not depend on it.
    """
    n = len(rows)
    if n <= max(sample, 4 * neighbors + 8):
        return _stored(rows, neighbors, alignment, wanted, threads)
    order = np.random.default_rng(0).permutation(n)[:sample]
    few, many = (
        _stored(rows[np.sort(order[:m])], neighbors, alignment, wanted, threads)
        for m in (sample // 4, sample)
    )
    if not few or not many:
        return 0.0
    power = min(log(many / few, 4), TRIANGLE)
    growth = (n / sample) ** power
    if power < SHEET:
        growth = n * log2(n) / (sample * log2(sample))
    return float(many * growth)


def _stored(
    rows: FloatArray, neighbors: int, alignment: bool, wanted: int | None, threads: int
) -> float:
    """Count the numbers of the factor for these rows; zero where the solver takes none."""
    n = len(rows)
    space = PointSpace(np.asarray(rows, dtype=np.float64), workers=threads)
    near = space.nearest(min(neighbors, n - 1))
    offsets, members = near.with_self()
    ones = np.ones((len(members), 1))
    matrix = (
        align(n, offsets, members, ones, threads=threads)
        if alignment
        else merge_directions(offsets, members, ones[:, 0], "max", threads).matrix()
    )
    # Sums of ones do not cancel: the pattern is that of the kernel.
    always = alignment or wanted is None
    most = inf if always else worth_factorising(SpectralProblem(matrix, "bottom"), wanted or 0)
    analysis = analyse(matrix, most, threads).analysis
    wide = not always and analysis.entries > FULL_FACTOR * n**2 / 2
    return 0.0 if wide or not analysis.complete else float(analysis.stored)
