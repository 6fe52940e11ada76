"""Local tangent space alignment."""

from typing import ClassVar, final

from unbend.arrays import FloatArray
from unbend.estimators.kernel import AlignmentEmbedding
from unbend.estimators.search import Needs
from unbend.local import RowBlocks, affine_bases
from unbend.validation.parameters import declare


@final
@declare
class LTSA(AlignmentEmbedding):
    """Local tangent space alignment: coordinates that are affine in every tangent space.

    In each neighbourhood, the point itself included, G = [1/√s, tangent coordinates]; the
    coordinates are the bottom eigenvectors of Σ Sᵢ(I − GG')Sᵢ', the constant one left out. They
    recover an isometric chart up to an affine map.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates: orthogonal vectors of unit length.

    References
    ----------
    Zhang and Zha, SIAM J. Sci. Comput. 26 (2004). Book chapter 11.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(1000, random_state=0)
    >>> flat = unbend.LTSA(n_neighbors=8).fit_transform(roll.points)
    >>> unbend.quality.procrustes(roll.chart, flat, kind="affine") < 0.001
    True
    """

    complement: ClassVar[bool] = True

    def _needs(self) -> Needs:
        return Needs(neighbors=self.n_components + 1, glued=self.n_components)

    def _bases(self, coordinates: FloatArray | RowBlocks, threads: int) -> FloatArray:
        return affine_bases(coordinates, self.n_components, threads)
