"""Methods that align local blocks: LTSA and Hessian LLE differ only in the block."""

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from unbend.arrays import FloatArray
from unbend.eigen import SpectralProblem
from unbend.estimators.neighborhood import Component, LocalKernel, NeighborhoodEmbedding
from unbend.local import align
from unbend.memory import reserve
from unbend.report import step
from unbend.validation.parameters import declare

# Neighbourhoods handled at once: enough to batch, little enough to stay in cache.
AT_ONCE = 2048


@declare
class AlignmentEmbedding(NeighborhoodEmbedding):
    """Abstract: bottom eigenvectors of Σ SᵢBᵢSᵢ', with one block Bᵢ for each neighbourhood.

    A block is the projector on a basis of few columns, or on all that is orthogonal to it.

    Neighbourhoods contain the point itself: otherwise a point that is nobody's neighbour would
    have a zero row, and the bottom eigenvectors would sit on such points.
    """

    local_blocks: ClassVar[bool] = True
    # Whether blocks are I − BB' and not BB'.
    complement: ClassVar[bool]

    @abstractmethod
    def _bases(self, coordinates: FloatArray, threads: int) -> FloatArray:
        """Bases (m, s, w) of neighbourhoods with the given local coordinates (m, s, r)."""

    def _kernel(self, component: Component) -> LocalKernel:
        neighbors, n = component.neighbors, component.n
        entries = int(np.sum(np.square(neighbors.counts + 1)))
        # The pieces overlap, so the kernel has at most half as many entries as they have.
        reserve(6 * entries, f"the kernel of {entries} local entries", "use fewer neighbours")
        offsets, members = neighbors.with_self()
        bases, done = np.empty((0, 0)), 0
        for points, indices in neighbors.blocks(AT_ONCE):
            local = component.space.coordinates(np.column_stack((points, indices)))
            found = self._bases(local, component.threads)
            if not done:
                bases = np.empty((len(members), found.shape[2]))
            bases[offsets[points, None] + np.arange(found.shape[1])] = found
            done += len(points)
            step(done, n)
        kernel = align(
            n, offsets, members, bases, complement=self.complement, threads=component.threads
        )
        constant = np.ones((n, 1))
        problem = SpectralProblem(kernel, "bottom", constant, nullity=self.n_components)
        return LocalKernel(component, problem)
