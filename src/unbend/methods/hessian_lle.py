"""Hessian locally linear embedding."""

from typing import ClassVar, final

from unbend.arrays import FloatArray
from unbend.estimators.kernel import AlignmentEmbedding
from unbend.estimators.search import Needs
from unbend.local import RowBlocks, quadratic_bases
from unbend.validation.parameters import declare


@final
@declare
class HessianLLE(AlignmentEmbedding):
    """Hessian locally linear embedding: coordinates with no second derivatives.

    In each neighbourhood, the point itself included, Q spans the quadratics in the tangent
    coordinates that are not affine; the coordinates are the bottom eigenvectors of Σ SᵢQQ'Sᵢ',
    which measures the Hessian, the constant one left out. They recover an isometric chart up to an
    affine map, also where its domain has holes or is not convex.

    A neighbourhood needs at least (d+1)(d+2)/2 points; with exactly as many, Q fills all that the
    affine functions leave and the result is that of LTSA. scikit-learn's
    ``LocallyLinearEmbedding(method="hessian")`` always gives LTSA's (a full QR in place of the
    reduced one).

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates: orthogonal vectors of unit length.

    References
    ----------
    Donoho and Grimes, PNAS 100 (2003). Book chapter 13.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_hole(1000, random_state=0)
    >>> flat = unbend.HessianLLE(n_neighbors=8).fit_transform(roll.points)
    >>> unbend.quality.procrustes(roll.chart, flat, kind="affine") < 0.01
    True
    """

    complement: ClassVar[bool] = False

    def _needs(self) -> Needs:
        d = self.n_components
        return Needs(neighbors=(d + 1) * (d + 2) // 2 - 1, glued=d)

    def _denoising_reluctance(self) -> str | None:
        # On 23 noisy curves of calibration families all was lost: errors of 0.59 to 1 as they are,
        # and 0.75 to 1 with landmarks, up to 1.7 times as large.
        if self.n_components == 1:
            return "of a curve Hessian LLE has one condition for each row: use LTSA"
        return None

    def _bases(self, coordinates: FloatArray | RowBlocks, threads: int) -> FloatArray:
        return quadratic_bases(coordinates, self.n_components, threads)
