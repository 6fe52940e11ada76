"""Locally linear embedding."""

from typing import Any, ClassVar, final

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import IntArray, compressed_rows
from unbend.eigen import SpectralProblem
from unbend.estimators.denoising_options import denoise_param
from unbend.estimators.kernel import KernelEmbedding, LocalKernel
from unbend.estimators.neighborhood import Component
from unbend.local import align, barycentric_weights
from unbend.neighbors import Neighbors, Space
from unbend.validation.parameters import FLAG, Real, declare, param

# Neighbourhoods whose directions are counted, and the extent below which one is rounding: local
# coordinates from distances have half the digits.
CHECKED, FLAT = 64, 1e-6
# Neighbourhoods whose weights are computed by one call.
AT_ONCE = 4096


def reconstruction_weights(
    space: Space,
    neighbors: Neighbors,
    reg: float,
    nonnegative: bool = False,
    threads: int = 1,
) -> csr_array:
    """Sparse W, rows summing to one, with x ≈ W x for every row x."""
    values = np.empty(len(neighbors.indices))

    def work(points: IntArray, indices: IntArray) -> None:
        if indices.shape[1]:
            local = space.differences(np.column_stack((points, indices)))
            entries = neighbors.offsets[points, None] + np.arange(indices.shape[1])
            values[entries] = barycentric_weights(local, reg, nonnegative)

    neighbors.map_blocks(work, AT_ONCE, threads)
    return compressed_rows(values, neighbors.indices, neighbors.offsets)


def lle_kernel(component: Component, weights: csr_array, reg: float, nullity: int) -> LocalKernel:
    """(I − W)'(I − W), of which the bottom end is wanted.

    It is Σ SᵢeᵢeᵢSᵢ' with eᵢ the row i of I − W: an alignment of blocks of rank one.
    """
    n = component.n
    offsets, members = Neighbors(weights.indptr, weights.indices, weights.data).with_self()
    errors = np.ones(len(members))
    others = np.ones(len(members), dtype=bool)
    others[offsets[:-1]] = False
    errors[others] = -weights.data
    kernel = align(n, offsets, members, errors[:, None], threads=component.threads)
    problem = SpectralProblem(kernel, "bottom", np.ones((n, 1)), nullity=nullity)
    return LocalKernel(component, problem, reg)


def _check_determined(component: Component) -> None:
    """Refuse more neighbours than directions, whose weights nothing but a ridge determines."""
    points, indices = next(component.neighbors.blocks(CHECKED))
    local = component.space.coordinates(np.column_stack((points, indices)))
    directions = int(np.linalg.matrix_rank(local[:, 1:] - local[:, :1], rtol=FLAT).max())
    most = int(component.neighbors.counts.max())
    if most > directions:
        raise ValueError(
            f"reg=0 leaves the weights of {most} neighbours in {directions} directions "
            f"undetermined: use reg=1e-3, or n_neighbors={directions}"
        )


@final
@declare
class LLE(KernelEmbedding):
    """Locally linear embedding: coordinates that the same local weights reconstruct.

    W holds the weights, summing to one a row, that best write each point by its neighbours; the
    coordinates are the bottom eigenvectors of (I − W)'(I − W), the constant one left out.

    With at most as many neighbours as columns no ridge is needed (``reg=0``); with more, every row
    would be written exactly and the coordinates would be a linear projection. The regularisation
    bends the result: on large noiseless surfaces use a small `reg`, or LTSA. On a roll of 100 000
    points and 12 neighbours the default loses the height (R² 0.004), while 1e-6 keeps both
    coordinates (0.9998 and 0.997).

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates: orthogonal vectors of unit length.

    References
    ----------
    Roweis and Saul, Science 290 (2000); Saul and Roweis, JMLR 4 (2003). Book chapter 10.

    Examples
    --------
    >>> import unbend
    >>> curve = unbend.datasets.s_curve(1000, random_state=0)
    >>> flat = unbend.LLE(n_neighbors=8).fit_transform(curve.points)
    >>> unbend.quality.trustworthiness(curve.points, flat) > 0.99
    True
    """

    reg: float = param(
        1e-3,
        Real(0, closed=True),
        help="Ridge of the local weights, relative to the trace of the local Gram matrix. 0: none, "
        "for at most as many neighbours as columns.",
    )
    nonnegative: bool = param(
        False, FLAG, help="Whether weights must not be negative (each point inside its neighbours)."
    )
    denoise: Any = denoise_param()
    local_blocks: ClassVar[bool] = True

    def _kernel(self, component: Component) -> LocalKernel:
        if self.reg == 0 and not self.nonnegative:
            _check_determined(component)
        weights = reconstruction_weights(
            component.space,
            component.neighbors,
            self.reg,
            self.nonnegative,
            component.block_threads,
        )
        return lle_kernel(component, weights, self.reg, self.n_components)
