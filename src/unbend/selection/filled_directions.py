"""Directions that rows fill: a body of as many dimensions, or a surface of one less.

Rows about a bent surface span one direction more than they have dimensions, and neighbourhoods
that noise fills, or that reach other sheets, show the span. Two facts tell both from each other.

Distances to the nearest neighbours are shorter than those between sheets: they grow like those of a
surface and not like those of a body (`is_layered`). And where the last direction is too narrow for
two sheets that noise leaves apart, a bent surface is the graph of a function, which a cubic shows:
of a body no direction is a function of the others (`count_filled`).
"""

from itertools import combinations_with_replacement

import numpy as np

from unbend.arrays import FloatArray
from unbend.denoising.reduction import Reduction, reduce_columns
from unbend.neighbors import PointSpace
from unbend.selection.noise_directions import bring_in

# Share of rows, those farthest out, that have no more weight in the directions: outliers.
FAR = 0.1
# Rows do not leave their span by more than this share of its narrowest direction.
THIN = 0.35
# Neighbours whose distances show the dimension of sheets.
NEAREST = (2, 3)
# The dimension that they show is below that of a box by this share at least, and by so many
# standard errors. On 60 surfaces that have as many dimensions as they span it was below by at most
# 0.06, and on nine sparse rolls by 0.07 to 0.22.
LESS, ERRORS = 0.07, 2.5
# Boxes that rows are compared with, and their seed.
BOXES, SEED = 3, 0
# Directions up to this multiple of the noise are too narrow for two sheets.
NARROW = 4.5
# Degree of the functions, and shares of a direction that the others explain: at most of a body, and
# at least of a surface. On 182 of 183 draws of surfaces that have as many dimensions as directions
# it was at most 0.11, on 59 of 60 with one less at least 0.17, and in cubes at most 0.15 or so.
CUBIC, BODY, SURFACE = 3, 0.15, 0.17


def is_layered(rows: FloatArray, d: int) -> bool:
    """Whether rows that span d directions are sheets of one dimension less.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sheets = np.column_stack((rng.uniform(size=(2000, 3)), rng.integers(5, size=2000) / 4))
    >>> is_layered(sheets, 4), is_layered(rng.uniform(size=(2000, 4)), 4)
    (True, False)
    """
    centered = rows - np.median(rows, axis=0)
    values, axes = np.linalg.svd(bring_in(centered, FAR), full_matrices=False)[1:]
    if len(values) < d or (len(values) > d and values[d] > THIN * values[d - 1]):
        return False
    rng = np.random.default_rng(SEED)
    boxes = rng.uniform(-1.0, 1.0, size=(BOXES, len(rows), d)) * values[:d]
    usual = np.mean([_growth(box) for box in boxes], axis=0)
    ratios = _growth(centered @ axes[:d].T) / usual
    return bool(ratios.mean() <= 1 - max(LESS, ERRORS / np.sqrt(len(rows))))


def _growth(points: FloatArray) -> FloatArray:
    """Dimension by the mean growth of distances of the first neighbours (Levina and Bickel)."""
    space = PointSpace(np.ascontiguousarray(points))
    near = space.nearest(NEAREST[-1]).distances.reshape(len(points), -1)
    logs = np.log(np.maximum(near, np.finfo(float).tiny))
    means = [float((logs[:, k - 1 : k] - logs[:, : k - 1]).mean()) for k in NEAREST]
    return 1.0 / np.maximum(means, np.finfo(float).eps)


def _calm_rows(rows: FloatArray, reduction: Reduction) -> tuple[FloatArray, float]:
    """Coordinates along the directions of the half of rows with the least noise; its deviation.

    Heavy-tailed noise moves a row along the directions as far as across them.
    """
    along = reduction.narrow(rows)
    across = np.square(rows - reduction.center).sum(axis=1) - np.square(along).sum(axis=1)
    across = np.maximum(across, 0.0)
    calm = across <= np.median(across)
    columns = rows.shape[1] - along.shape[1]
    return along[calm], float(np.sqrt(across[calm].mean() / columns))


def count_filled(rows: FloatArray) -> int | None:
    """Dimension of rows in r directions that they fill: r, or r − 1 about a bent surface.

    None where neither fits, or sheets do, which are no function: of a direction that is wide.
    """
    reduction = reduce_columns(rows, 0)
    if reduction is None:
        return None
    coordinates, noise = _calm_rows(rows, reduction)
    r = int(coordinates.shape[1])
    if r < 2:
        return None
    narrow = coordinates.var(axis=0).min() <= np.square(NARROW * noise)
    explained = max(_explained(coordinates, place, noise) for place in range(r))
    if narrow and explained >= SURFACE:
        return r - 1
    return r if explained <= BODY and (narrow or not is_layered(rows, r)) else None


def _explained(coordinates: FloatArray, place: int, noise: float) -> float:
    """Share of a direction, without its noise, that is a cubic function of the others."""
    others = np.delete(coordinates, place, axis=1)
    others = (others - others.mean(axis=0)) / np.maximum(others.std(axis=0), np.finfo(float).tiny)
    terms = np.column_stack(
        [
            others[:, places].prod(axis=1)
            for degree in range(CUBIC + 1)
            for places in map(list, combinations_with_replacement(range(others.shape[1]), degree))
        ]
    )
    values = coordinates[:, place]
    rest = values - terms @ np.linalg.lstsq(terms, values, rcond=None)[0]
    n, lost = terms.shape
    whole, left = values.var(), float(rest @ rest) / max(n - lost, 1)
    return float((whole - left) / max(whole - noise**2, 0.1 * whole, np.finfo(float).tiny))
