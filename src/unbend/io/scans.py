"""Scans of writing, which are black on white."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from unbend.io.numerals import Array


@dataclass
class Tally:
    """Which values the pixels of many images have, counted as the images come.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.add(np.array([[255, 255], [255, 0]]), color=False)
    >>> tally.is_mostly_white, tally.least, tally.most
    (True, 0.0, 255.0)
    """

    least: float = np.inf
    most: float = -np.inf
    # Whether there was a third value, or a colour.
    other: bool = False
    counts: Counter[float] = field(default_factory=Counter)

    def add(self, pixels: Array, color: bool) -> None:
        """Count the pixels of some images; with colours, three after each other are one pixel."""
        ends = {float(pixels.min()), float(pixels.max())}
        self.least, self.most = min(self.least, *ends), max(self.most, *ends)
        if self.other:
            return
        found = {end: int(np.count_nonzero(pixels == end)) for end in ends}
        self.counts.update(found)
        dots = pixels.reshape(-1, 3 if color else 1)
        self.other = (
            sum(found.values()) < pixels.size
            or len(self.counts) > 2
            or bool((dots != dots[:, :1]).any())
        )

    @property
    def is_mostly_white(self) -> bool:
        """Whether all images together have two values, and more of the larger; neither a colour."""
        if self.other or len(self.counts) < 2:
            return False
        return self.counts[self.most] > self.counts[self.least]
