"""Sheets that cannot be flattened: waves about a plane, and bowls. Which chart is meant by them."""

from typing import Literal, TypeAlias

import numpy as np

from unbend.arrays import FloatArray

# What a sheet is that cannot be flattened; empty for all others.
Relief: TypeAlias = Literal["", "waves", "bowl"]

# Distance of a row from the denoised surface, relative to the difference of PCA from the chart that
# keeps lengths best, up to which rows are nearer to their places in the plane than that chart is.
# Any value from 0.2 to 0.7 gives the same answers on 397 surfaces for calibration.
CALM = 0.3
# Difference of PCA from the chart that keeps lengths best, up to which a sheet lies along its
# plane: graphs of functions have 0.02 at most, and arcs, rolls and tori 0.04 at least.
ALONG_PLANE = 0.03
# Strain that every chart has, relative to that difference: 0.35 or more of graphs of functions in
# two or more dimensions, 0.06 at most of sheets that unroll without strain.
STRAINED = 0.2
# Share of the heights, from which on they are those of a bowl. Values from 0.7 to 0.95 differ on
# one of 397 surfaces for calibration.
BOWL = 0.9


def name_relief(
    surface: FloatArray, d: int, displacement: float, bent: float, strain: float
) -> Relief:
    """Say whether a sheet that cannot be flattened undulates about a plane, or is a bowl.

    Where a sheet unrolls without strain, the chart that keeps lengths is meant. No chart keeps the
    lengths of others: of waves the plane is meant, and of a bowl the chart that keeps lengths from
    its middle. Where noise moves rows farther than waves do, they are not named.

    Parameters
    ----------
    surface : array (m, c)
        Rows without noise.
    d : int
        Dimension of the sheet. A curve keeps its lengths in one coordinate.
    displacement : float
        Distance of the rows from the surface.
    bent : float
        Difference between the plane and the chart that keeps lengths best.
    strain : float
        Strain of the latter.

    Examples
    --------
    >>> plane = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
    >>> waves = np.column_stack((plane, 0.1 * np.sin(4 * plane[:, 0]) * np.cos(3 * plane[:, 1])))
    >>> name_relief(waves, 2, 0.0, 0.02, 0.01), name_relief(waves, 2, 0.0, 0.02, 0.001)
    ('waves', '')
    >>> bowl = np.column_stack((plane, 0.1 * np.square(plane).sum(axis=1)))
    >>> name_relief(bowl, 2, 0.0, 0.02, 0.01)
    'bowl'
    """
    if d == 1 or strain < STRAINED * bent:
        return ""
    if bowl_share(surface, d) >= BOWL:
        return "bowl"
    lengths = np.linalg.svd(surface - surface.mean(axis=0), compute_uv=False)
    spread = float(lengths[d - 1]) / np.sqrt(len(surface))
    return "waves" if bent <= ALONG_PLANE and displacement <= CALM * bent * spread else ""


def bowl_share(surface: FloatArray, d: int) -> float:
    """Share of the heights over the best plane that are a function of the distance squared.

    Examples
    --------
    >>> plane = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
    >>> bowl = np.column_stack((plane, 0.1 * np.square(plane).sum(axis=1)))
    >>> saddle = np.column_stack((plane, 0.1 * plane[:, 0] * plane[:, 1]))
    >>> bool(bowl_share(bowl, 2) > 0.99), bool(bowl_share(saddle, 2) < 0.1)
    (True, True)
    """
    centered = surface - surface.mean(axis=0)
    axes = np.linalg.svd(centered, full_matrices=False)[2].T
    ground, heights = centered @ axes[:, :d], centered @ axes[:, d:]
    functions = np.column_stack((np.ones(len(ground)), ground, np.square(ground).sum(axis=1)))
    rest = heights - functions @ np.linalg.lstsq(functions, heights, rcond=None)[0]
    total = max(float(np.square(heights).sum()), np.finfo(float).tiny)
    return 1 - float(np.square(rest).sum()) / total
