"""How many neighbours rows should have, by the spectra of neighbourhoods of several sizes.

Of a neighbourhood on a d-dimensional surface λ_d is the least variance along it and λ_{d+1} the
largest across. With more neighbours λ_d grows; the share λ_{d+1}/λ_d falls while noise makes it,
and rises once curvature or another sheet does. The number chosen is the smallest whose share is
bearable, or the largest before the share rises: more rows average over the noise that is left.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from unbend.arrays import FloatArray, IntArray, row_chunks
from unbend.denoising.sampling import shuffle_distinct
from unbend.graphs import fewest_neighbors, geodesics, undirected
from unbend.graphs.gluing import rigid_pieces
from unbend.graphs.noise import FLAT, principal_variances
from unbend.neighbors import AffinitySpace, GraphSpace, Neighbors, PointSpace, Space

# Numbers of neighbours that are compared, and rows for each neighbour that there must be: a
# neighbourhood of a tenth of the rows is not local.
SIZES, ROWS_EACH = (12, 18, 27, 40), 10
# Neighbourhoods that are looked at.
SAMPLE = 192
# Share of noise, in the median, that methods bear. Set on the s-curves, cylinders and graphs of
# functions of benchmarks/noise, as the other constants; errors there are equal from 0.02 to 0.05.
BEARABLE = 0.03
# Neighbourhoods are too large where the share in one of ten exceeds so many times the least, and
# this: there curvature makes it, or another sheet.
RISEN, NEGLIGIBLE, ONE_OF_TEN = 2.0, 0.003, 0.9
# Neighbours that are looked at first for those that connect the graph, and at most, over log₂ n.
FIRST, JOINING = 16, 4.0
# Larger neighbourhoods make geodesics shorter, all alike. Where two of a hundred of the longer
# geodesics from some rows, those beyond the median, keep less than this share of what the median
# keeps, edges jump between sheets. On sheets of benchmarks/short_circuits.py that were used for
# calibration it was 0.63 or less with jumps that spoil Isomap, and 0.9 or more without.
SOURCES, FEW_OF, KEPT = 12, 0.02, 0.75


@dataclass(frozen=True, eq=False)
class NeighborhoodSizes:
    """What neighbourhoods of several sizes show of noise and curvature, and the size chosen.

    Attributes
    ----------
    d : int
        Dimension of the surface.
    sizes : array (s,)
        Numbers of neighbours that were compared.
    share : array (s,)
        Largest variance across the surface over the least along it, in the median.
    rough : array (s,)
        The same where it is large: exceeded by one neighbourhood of ten.
    n_neighbors : int
        The size chosen.
    """

    d: int
    sizes: IntArray
    share: FloatArray
    rough: FloatArray
    n_neighbors: int

    @property
    def chosen_share(self) -> float:
        """Share across the surface at the size chosen."""
        return float(self.share[self.sizes == self.n_neighbors][0])

    def facts(self) -> dict[str, Any]:
        """Return what a report records."""
        return {
            "share_across": self.chosen_share,
            "share_at_fewest": float(self.share[0]),
            "measured": self.n_neighbors,
        }

    def reason(self) -> str:
        """Say why that size was chosen."""
        k, share = self.n_neighbors, self.chosen_share
        across = f"{share:.2g} of the least variance along a {self.d}-dimensional surface"
        if share <= BEARABLE:
            return f"{k} neighbours: noise and curvature are {across}, which methods bear"
        if k == self.sizes[-1]:
            return f"{k} neighbours, the most that are compared: noise is {across}"
        return f"{k} neighbours: noise is {across}, and with more of them curvature grows"


def measure_sizes(space: Space, d: int) -> NeighborhoodSizes | None:
    """Compare numbers of neighbours by a sample of rows; None where too little is known.

    The sample depends on what rows contain and not on their order.
    """
    sizes = np.array([k for k in SIZES if k > d + 1 and ROWS_EACH * k <= space.n], dtype=np.intp)
    if isinstance(space, GraphSpace | AffinitySpace) or not len(sizes):
        return None
    rows = sample_by_content(space)
    shares = shares_across(space, rows, sizes, d)
    share, rough = np.median(shares, axis=0), np.quantile(shares, ONE_OF_TEN, axis=0)
    return NeighborhoodSizes(d, sizes, share, rough, int(sizes[_choose(share, rough)]))


def shares_across(space: Space, rows: IntArray, sizes: IntArray, d: int) -> FloatArray:
    """λ_{d+1}/λ_d of the neighbourhoods of some rows, for each size (rows, sizes)."""
    most = int(sizes.max()) + 1
    shares = np.zeros((len(rows), len(sizes)))
    nearest, _ = space.nearest_of(space.rows(rows), most)
    for chunk in row_chunks(len(rows), 32 * most**2):
        # Smaller neighbourhoods are the beginning of larger ones, in the same coordinates.
        local = space.coordinates(nearest[chunk])
        for place, size in enumerate(sizes):
            variances = principal_variances(local[:, : size + 1])
            variances = np.pad(variances, ((0, 0), (0, d + 1)))
            along, across = variances[:, d - 1], variances[:, d]
            # Where there is no such direction along the data, all of it is across.
            shown = along > FLAT * variances[:, 0]
            shares[chunk, place] = np.divide(across, along, out=np.ones_like(along), where=shown)
    return shares


def _choose(share: FloatArray, rough: FloatArray) -> int:
    """Place of the smallest size that is bearable, or of the largest that is not too large."""
    last = int(np.flatnonzero(rough <= RISEN * rough.min() + NEGLIGIBLE)[-1])
    bearable = np.flatnonzero(share[: last + 1] <= BEARABLE)
    return int(bearable[0]) if len(bearable) else last


def sample_by_content(space: Space) -> IntArray:
    """Rows to look at, the same in every order of the rows."""
    if isinstance(space, PointSpace):
        return shuffle_distinct(space.points)[:SAMPLE]
    k = min(SIZES[0], space.n - 1)
    return shuffle_distinct(space.nearest(k).distances.reshape(space.n, k))[:SAMPLE]


@dataclass(frozen=True, eq=False)
class OpenNumber:
    """A number of neighbours that was left open, and the neighbours.

    `connecting` is the smallest that connects what many neighbours would; `sizes` is None where
    noise and curvature were not measured.
    """

    n_neighbors: int
    connecting: int
    components: int
    neighbors: Neighbors
    sizes: NeighborhoodSizes | None

    def facts(self) -> dict[str, Any]:
        """Return what a report records."""
        measured = {} if self.sizes is None else self.sizes.facts()
        return {"n_neighbors": self.n_neighbors, "connecting": self.connecting, **measured}


def choose_number(
    space: Space,
    d: int,
    least: int = 1,
    *,
    mutual: bool = False,
    radius: float | None = None,
    measured: bool = True,
    glued: int = 0,
) -> OpenNumber:
    """Choose the number of neighbours by noise and curvature, and by what joins the graph.

    Fewer than noise asks for where as many would jump between sheets, by the geodesics. Twice as
    many as a simplex of d dimensions has corners, at least; k of the order of log n joins points
    of any density (Penrose, 1999), and what that does not join are clusters. Where charts of
    `glued` dimensions are aligned, neighbourhoods overlap enough for one chart, if as many do.
    """
    sizes = measure_sizes(space, d) if measured else None
    wanted = 0 if sizes is None else sizes.n_neighbors
    most = space.n - 1
    least = min(most, max(least, 2 * (d + 1)))
    most = min(most, max(least, wanted, int(np.ceil(JOINING * np.log2(space.n)))))
    k = min(most, max(least, wanted, FIRST))
    while True:
        neighbors = space.nearest(k)
        if radius is not None:
            neighbors = neighbors.within(radius)
        fewest = fewest_neighbors(neighbors, mutual)
        if fewest.components == 1 or k == most:
            break
        k = min(2 * k, most)
    k = max(least, fewest.k)
    if sizes is not None and wanted > k:
        larger = [size for size in sizes.sizes if k < size <= wanted]
        k = _without_jumps(space, neighbors, k, larger)
    if glued and radius is None and fewest.components == 1:
        k, neighbors = _enlarge_until_glued(space, neighbors, k, most, glued)
    return OpenNumber(k, fewest.k, fewest.components, _nearest(neighbors, k), sizes)


def _nearest(neighbors: Neighbors, k: int) -> Neighbors:
    return neighbors.nearest(np.full(neighbors.n, k))


def _enlarge_until_glued(
    space: Space, neighbors: Neighbors, k: int, most: int, d: int
) -> tuple[int, Neighbors]:
    """Find the first number of neighbours whose charts are glued; k where none up to most is."""
    for size in range(k, most + 1):
        if size > neighbors.counts.max():
            neighbors = space.nearest(most)
        if not rigid_pieces(_nearest(neighbors, size), d).any():
            return size, neighbors
    return k, neighbors


def _without_jumps(space: Space, neighbors: Neighbors, k: int, larger: list[int]) -> int:
    """Find the largest of some sizes whose edges do not jump where those of size k do not."""
    sources = sample_by_content(space)[:SOURCES]
    base = geodesics(undirected(_nearest(neighbors, k)).lengths, sources=sources)
    finite = np.isfinite(base)
    far = finite & (base > np.median(base[finite]))
    if not far.any():
        return k
    for size in reversed(larger):
        ways = geodesics(undirected(_nearest(neighbors, size)).lengths, sources=sources)
        kept = ways[far] / base[far]
        if np.quantile(kept, FEW_OF) >= KEPT * np.median(kept):
            return int(size)
    return k
