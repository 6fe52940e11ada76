"""Projection of noisy rows onto the surface that they surround."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.denoising.measurement import NoiseMeasurement, Sample, measure_noise
from unbend.denoising.patches import ROUNDS, coefficients, project
from unbend.neighbors import PointSpace
from unbend.report import warn
from unbend.units import ScaleWarning, find_dominant_column
from unbend.validation.arrays import check_rows
from unbend.validation.conditioning import check_rounding
from unbend.validation.scalars import check_integer
from unbend.validation.threads import threads

# Rows of a patch at most: where projections are the result and not averaged further, patches are
# larger than where landmarks are made.
MOST_PATCH_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Denoised:
    """Rows projected onto the estimated surface.

    Attributes
    ----------
    points : array (n, D)
        The projections.
    displacement : array (n,)
        How far each row was moved.
    patch_size : int
        Number of rows in the patches that showed the surface.
    measurement : NoiseMeasurement
        What patches of several sizes showed.
    """

    points: FloatArray
    displacement: FloatArray
    patch_size: int
    measurement: NoiseMeasurement

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise of a column; not a number where it is not known."""
        return self.measurement.sigma


def denoise(
    X: Any, n_components: int = 2, *, patch_size: Any = "auto", n_jobs: int | None = None
) -> Denoised:
    """Project noisy rows onto the surface that they surround.

    Each row is moved along the normals to a local fit of the rows around it, a quadratic over the
    principal plane of a patch; edges and distances along the surface stay as they are.

    Parameters
    ----------
    X : array (n, D)
        Rows, with the same noise in every column: standardise columns of different units first.
    n_components : int
        Dimension of the surface, below D.
    patch_size : int or 'auto'
        Rows in a patch. 'auto' takes the smallest patches that are wide against the noise, and
        larger ones while the surface bends no more than a quadratic does.
    n_jobs : int, optional
        Threads of the neighbour search.

    Returns
    -------
    Denoised
        The projections, and how far each row was moved.

    Raises
    ------
    ValueError
        If no patch size shows a surface: the rows are clustered, or noise is as wide as the data.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> angle = np.random.default_rng(0).uniform(0, 4, 2000)
    >>> arc = np.column_stack((np.cos(angle), np.sin(angle)))
    >>> noisy = arc + np.random.default_rng(1).normal(scale=0.1, size=arc.shape)
    >>> found = unbend.denoise(noisy, 1)
    >>> bool(abs(np.linalg.norm(found.points, axis=1) - 1).mean() < 0.02)
    True
    >>> 0.08 < found.sigma < 0.12
    True
    """
    rows = np.array(check_rows(X, min_rows=3), dtype=np.float64, order="C")
    columns = rows.shape[1]
    if columns == 1:
        raise ValueError(
            "X has 1 column, which leaves no direction across a surface: pass two or more"
        )
    check_integer("n_components", n_components, 1, columns - 1, f"with {columns} columns of X")
    d = int(n_components)
    check_rounding(rows)
    dominant = find_dominant_column(rows, [])
    if dominant is not None:
        warn(
            f"Column {dominant[0]} holds nearly all of the variance of X, so noise cannot be the "
            "same in every column. Standardise the columns by unbend.Prepare, or ignore "
            "unbend.ScaleWarning if they share one unit.",
            ScaleWarning,
        )
    sample = Sample.of(PointSpace(rows, workers=threads(n_jobs)), d)
    if patch_size != "auto":
        check_integer("patch_size", patch_size, coefficients(d), sample.n, "distinct rows")
    measurement = measure_noise(sample, d)
    size = measurement.patch_size if patch_size == "auto" else int(patch_size)
    if size is None and measurement.clustered:
        raise ValueError(
            "the rows are clusters and no surface: denoise each cluster on its own, or pass "
            "patch_size"
        )
    if size is None:
        raise ValueError(
            f"no patches up to a third of the {sample.n} distinct rows show a surface of dimension "
            f"{d}: use more rows or another n_components, or pass patch_size"
        )
    space, patch = sample.part(size, MOST_PATCH_ROWS)
    start = rows if sample.reduction is None else sample.reduction.narrow(rows)
    points = sample.lift(project(space, start, patch, d, ROUNDS).points)
    return Denoised(points, np.linalg.norm(points - rows, axis=1), size, measurement)
