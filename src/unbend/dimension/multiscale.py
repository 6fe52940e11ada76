"""Multiscale singular values: tangents grow linearly, curvature quadratically, noise not at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unbend.arrays import TIED, FloatArray, IntArray, row_chunks
from unbend.dimension._rows import distinct_rows, generator, neighbor_distances, not_isolated
from unbend.dimension._spectra import block_variances, nearest_centre
from unbend.dimension.value import PARAMETERS, Curve, Dimension
from unbend.docstrings import complete_docstring
from unbend.neighbors import MetricName, Space
from unbend.validation.random_state import RandomState
from unbend.validation.scalars import check_integer

# Every neighbourhood is seen through as many of its rows, whatever its size: small samples blur a
# spectrum, and only if all are blurred alike does its growth show.
SAMPLE = 64
# The largest neighbourhoods have this share of the rows; each is so many times the one before.
LARGEST, FACTOR = 0.5, 2**0.5
# Growth is read over so many steps. Variances that grow at least this much faster than the largest
# one are curvature: theirs are fourth powers of the radius, where those of tangents are squares.
STEPS, CURVED = 3, 1.5
# Variances below this share of the largest are as good as zero.
NOTHING = 1e-3
# The least that has a logarithm, as a share of the largest.
ZERO = 1e-12
# Below the last direction there is nothing to compare it with: all directions count unless a gap
# is wider than this factor.
GAP = 10.0
# Neighbouring centres that make one local dimension together; samples of the bootstrap.
AROUND, REPEATS = 8, 50


@dataclass(frozen=True)
class _Reading:
    """How many directions are tangents, and the smallest scale that shows them."""

    dimension: int
    scale: int


@complete_docstring(PARAMETERS)
def multiscale_svd(
    X: Any,
    *,
    n_centers: int = 200,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> Dimension:
    r"""Dimension by the growth of singular values with the radius (Little et al.).

    Around random rows, the centres, the singular values of neighbourhoods of many sizes are
    computed. As the radius r grows, those of tangent directions grow like r, those of curvature
    like r², those of noise stay as they are. The widest gap between variances, over all scales,
    tells noise and curvature that is still small from the rest; of the rest those that grow like r²
    are not counted.

    Parameters
    ----------
    X : array_like, data frame or Space
        Rows of numbers, or a square matrix of distances with ``metric="precomputed"``, of which
        local coordinates are found by classical scaling.
    n_centers : int
        Number of centres.
    random_state : None, int, Generator or RandomState
        Draws the centres.

    Returns
    -------
    Dimension
        An integer. The uncertainty is the standard deviation over bootstrap samples of the
        centres. `local` is the number found around the centre nearest to each row, with the
        centres near that. The curve shows the singular values against the root mean square radius,
        one line a direction, and the range of radii over which growth was read.

    Notes
    -----
    Good are lines in two bundles with a wide gap at some radius: the upper ones are the data, flat
    ones below are noise, steep ones curvature. It is the one to ask where there is noise, and it
    needs only some multiple of d rows in a neighbourhood; but it cannot see a dimension where the
    data bend within the smallest neighbourhoods, of 64 rows, and takes two sheets that lie so near
    each other for one thick one. At most 32 dimensions can be told from 64 rows.

    References
    ----------
    A. V. Little, J. Lee, Y.-M. Jung and M. Maggioni, "Estimation of intrinsic dimensionality of
    samples from noisy low-dimensional manifolds in high dimensions with multiscale SVD" (2009).
    Book section 1.4.4.

    Examples
    --------
    >>> from unbend.datasets import swiss_roll
    >>> multiscale_svd(swiss_roll(2000, noise=0.3, random_state=0).points).dimension
    2.0
    """
    rows = distinct_rows(X, metric, metric_params, n_jobs, min_rows=32)
    check_integer("n_centers", n_centers, 1, 1_000_000)
    rng = generator(random_state)
    inside = np.flatnonzero(not_isolated(neighbor_distances(rows, min(5, rows.n - 1))))
    space = rows.space.take(inside) if len(inside) < rows.n else rows.space
    centres = np.sort(rng.permutation(space.n)[:n_centers])
    variances = _spectra(space, centres, rng)
    # The median: a few centres where the density is low have the largest variances.
    middle = np.median(variances, axis=0)
    # More directions than half of the rows seen cannot be told apart.
    most = _sample_size(space) // 2
    reading = _read(middle, most)
    local = _local(space, centres, variances, most)
    everyone = nearest_centre(rows.space, inside[centres])
    radii = np.sqrt(middle.sum(axis=1))
    last = min(reading.scale + STEPS, len(radii) - 1)
    curve = Curve(
        radii,
        np.sqrt(middle),
        "radius",
        "singular values",
        (float(radii[reading.scale]), float(radii[last])),
    )
    return Dimension(
        "multiscale_svd",
        float(reading.dimension),
        _error(variances, most, rng),
        local[everyone][rows.copy],
        curve,
        rows.n - space.n,
    )


def _sample_size(space: Space) -> int:
    """Rows through which every neighbourhood is seen."""
    return min(SAMPLE, space.n // 4)


def _spectra(space: Space, centres: IntArray, rng: np.random.Generator) -> FloatArray:
    """Variances around each centre at each scale, descending (centres, scales, directions)."""
    seen = _sample_size(space)
    scales = int(np.log(max(LARGEST * space.n / seen, 1.0)) / np.log(FACTOR)) + 1
    sizes = (seen * FACTOR ** np.arange(scales)).astype(np.intp)
    # One row out of each of `seen` equal parts of the neighbourhood, by distance.
    picked = [
        ((np.arange(seen) + rng.uniform(size=seen)) * size / seen).astype(int) for size in sizes
    ]
    found = []
    for chunk in row_chunks(len(centres), 32 * int(sizes[-1]) + 16 * space.n + 32 * seen**2):
        nearest, _ = space.nearest_of(space.rows(centres[chunk]), int(sizes[-1]))
        found.append(
            np.stack([block_variances(space, nearest[:, picks]) for picks in picked], axis=1)
        )
    return np.concatenate(found)


def _read(variances: FloatArray, most: int) -> _Reading:
    """Read the dimension, at most `most`, off typical spectra (scales, directions)."""
    scales = len(variances)
    shares = np.maximum(variances / variances[:, :1], NOTHING)
    end = np.maximum(shares[:, -1:] / GAP, NOTHING)
    gaps = -np.diff(np.log(np.column_stack((shares, end))), axis=1)[:, :most]
    # Of tied gaps the last: where all variances are equal there is none, and no direction is noise.
    widest = gaps.max(axis=0)
    signal = int(np.flatnonzero(widest >= widest.max() - TIED)[-1]) + 1
    # The smallest scale that shows the gap: on larger ones curvature is no longer quadratic.
    scale = int(np.argmax(gaps[:, signal - 1] >= gaps.max(axis=1) - TIED))
    window = slice(min(scale, max(scales - STEPS - 1, 0)), scale + STEPS + 1)
    largest = variances[window, :1]
    x, y = np.log(largest[:, 0]), np.log(np.maximum(variances[window, :signal], ZERO * largest))
    if np.ptp(x) <= TIED:
        return _Reading(signal, scale)
    centred = x - x.mean()
    growth = centred @ y / (centred @ centred)
    return _Reading(max(1, int(np.sum(growth < CURVED))), scale)


def _error(variances: FloatArray, most: int, rng: np.random.Generator) -> float:
    draws = rng.integers(len(variances), size=(REPEATS, len(variances)))
    found = [_read(np.median(variances[draw], axis=0), most).dimension for draw in draws]
    return float(np.std(found))


def _local(space: Space, centres: IntArray, variances: FloatArray, most: int) -> FloatArray:
    """Dimension around each centre, from the median spectrum of the nearest centres."""
    part = space.take(centres)
    k = min(AROUND, part.n)
    near, _ = part.nearest_of(part.rows(np.arange(part.n)), k)
    return np.array(
        [float(_read(np.median(variances[some], axis=0), most).dimension) for some in near]
    )
