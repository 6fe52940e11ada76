"""Control of the error of the repulsion while a layout grows."""

from dataclasses import dataclass, field

import numpy as np

from unbend.arrays import FloatArray
from unbend.layout.repulsion import REFINE, Repulsion

# Steps between two measurements of the error at most, and in the first steps, in which a layout
# grows; and how many these are.
LONGEST, EARLY_LONGEST, EARLY = 25, 10, 100
# Share of the steps after which the error would reach the bound if it grew on as it did, at which
# it is measured again; and steps at least.
SAFE, SHORTEST = 0.35, 3


@dataclass(eq=False)
class ControlledRepulsion:
    """Repulsion whose error is measured now and then, and in time before it passes its bound.

    The error of a mesh grows as clusters gather into clumps, and all at once where the mesh becomes
    coarser because the layout has outgrown it. It is measured there, and at intervals that follow
    its growth; a step whose error is too large is computed again on a finer mesh.

    Attributes
    ----------
    repel : Repulsion
    """

    repel: Repulsion
    _steps: int = 0
    _next: int = field(default=EARLY_LONGEST, repr=False)
    _last: tuple[int, float] | None = field(default=None, repr=False)
    _spacing: float = field(default=np.inf, repr=False)

    def __call__(self, points: FloatArray, box: FloatArray) -> tuple[FloatArray, float]:
        """Repulsion (n, d) of every point, and the sum of w over all ordered pairs."""
        self._steps += 1
        found = self.repel(points, box)
        by_mesh = self.repel.method(points, box) == "mesh"
        spacing = self.repel.mesh.mesh_of(box)[1] if by_mesh else np.inf
        coarser = by_mesh and spacing > self._spacing
        if not coarser and self._steps < self._next:
            return found
        if coarser:
            # What grew by a jump says nothing of what follows.
            self._last = None
        while True:
            before = self.repel.mesh.finer
            error = self.repel.measure(points, box, found[0] if by_mesh else None)
            refined = self.repel.mesh.finer - before
            if not by_mesh or error <= self.repel.error or refined <= 0:
                break
            found = self.repel(points, box)
            by_mesh = self.repel.method(points, box) == "mesh"
        self._spacing = self.repel.mesh.mesh_of(box)[1] if by_mesh else np.inf
        self._plan(error, refined)
        return found

    def _plan(self, error: float, refined: int) -> None:
        """Set the step of the next measurement, by how fast the error grows."""
        longest = EARLY_LONGEST if self._steps < EARLY else LONGEST
        wait = longest
        if 0 < error < np.inf:
            # The error falls with the cube of the spacing: this has no part of the mesh in it.
            level = float(np.log2(error)) + 0.75 * (self.repel.mesh.finer - refined)
            if self._last is not None:
                steps, before = self._last
                rate = (level - before) / (self._steps - steps)
                room = float(np.log2(REFINE * self.repel.error / error)) + 0.75 * refined
                if rate > 0:
                    wait = int(np.clip(SAFE * room / rate, SHORTEST, longest))
            self._last = self._steps, level
        else:
            self._last = None
        self._next = self._steps + wait
