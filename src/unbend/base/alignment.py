"""Methods that align local blocks: LTSA and Hessian LLE differ only in the block."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.base.neighborhood import Finish, NeighborhoodEmbedding, Part
from unbend.base.params import declared
from unbend.extend import Barycentric, Fitted, Rule
from unbend.local import align
from unbend.memory import reserve
from unbend.problem import SpectralProblem, Spectrum
from unbend.report import step

# Neighbourhoods handled at once: enough to batch, little enough to stay in cache.
AT_ONCE = 2048


@declared
class AlignmentEmbedding(NeighborhoodEmbedding):
    """Abstract: bottom eigenvectors of Σ SᵢBᵢSᵢ', with one block Bᵢ for each neighbourhood.

    Neighbourhoods contain the point itself: otherwise a point that is nobody's neighbour would
    have a zero row, and the bottom eigenvectors would sit on such points.
    """

    local_blocks: ClassVar[bool] = True

    @abstractmethod
    def _blocks(self, coordinates: FloatArray) -> FloatArray:
        """Blocks (m, s, s) of neighbourhoods with the given local coordinates (m, s, r)."""

    def _kernel(self, part: Part) -> tuple[SpectralProblem, Finish]:
        space, neighbors, rule = part.space, part.neighbors, part.rule
        entries = int(np.sum(np.square(neighbors.counts + 1)))
        reserve(40 * entries, f"{entries} entries of local blocks", "use fewer neighbours")

        def blocks() -> Iterator[tuple[IntArray, FloatArray]]:
            done = 0
            for points, indices in neighbors.blocks(AT_ONCE):
                whole = np.column_stack((points, indices))
                yield whole, self._blocks(space.coordinates(whole))
                done += len(points)
                step(done, space.n)

        def finish(spectrum: Spectrum) -> Fitted:
            return Fitted(spectrum.vectors, Barycentric(space, Rule(rule.k), spectrum.vectors))

        kernel = align(space.n, blocks())
        constant = np.ones((space.n, 1))
        return SpectralProblem(kernel, "bottom", constant, nullity=self.n_components), finish
