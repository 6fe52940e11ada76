"""What every set of kernels offers: the compiled module and its twin are checked against this."""

from collections.abc import Callable
from typing import Protocol

from unbend._kernels.objects import Analysis, Factor, Poll, ShortestPaths, Tree
from unbend.arrays import BoolArray, FloatArray, IntArray

PathFinder = Callable[[IntArray, IntArray, FloatArray], ShortestPaths]


class Kernels(Protocol):
    """The loops that NumPy cannot do."""

    @property
    def ShortestPaths32(self) -> PathFinder:
        """Shortest paths in single precision."""

    @property
    def ShortestPaths64(self) -> PathFinder:
        """Shortest paths in double precision."""

    def squared_products(
        self,
        distances: FloatArray,
        squared: bool,
        shift: float,
        vectors: FloatArray,
        threads: int,
        poll: Poll,
        result: FloatArray,
    ) -> None:
        """Fill `result` with (distances + shift)² @ vectors; `squared` ones are taken as such."""

    def place_by_paths(
        self,
        paths: FloatArray,
        neighbors: IntArray,
        distances: FloatArray,
        shift: float,
        weights: FloatArray,
        threads: int,
        poll: Poll,
        placed: FloatArray,
    ) -> None:
        """Fill `placed` (m, d) with (s + shift)² @ weights.T (d, ends).

        s (m, ends) are the shortest ways of new rows through any of their neighbours (m, k), from
        which `paths` (n, ends) lead on; an infinite distance is no neighbour.
        """

    def local_bases(
        self,
        points: FloatArray,
        d: int,
        quadratic: bool,
        threads: int,
        poll: Poll,
        bases: FloatArray,
    ) -> None:
        """Fill `bases` (m, s, w) of neighbourhoods `points` (m, s, r) of a d-dimensional surface.

        Those of the affine functions (w = 1 + d), or of the quadratics that are not affine
        (w = d(d + 1)/2).
        """

    def align_rows(self, offset: IntArray, member: IntArray, threads: int, row: IntArray) -> None:
        """Fill `row` with the offsets of the rows of Σ SᵢBᵢSᵢ' in compressed rows."""

    def align(
        self,
        offset: IntArray,
        member: IntArray,
        bases: FloatArray,
        complement: bool,
        threads: int,
        poll: Poll,
        row: IntArray,
        column: IntArray,
        value: FloatArray,
    ) -> None:
        """Fill columns (ascending) and values of Σ SᵢBᵢSᵢ', Bᵢ = BB' or I − BB'."""

    def analyse(self, row: IntArray, column: IntArray, most_flops: float) -> Analysis:
        """Order a symmetric CSR pattern and predict its Cholesky factor, or give up."""

    def factor(
        self,
        analysis: Analysis,
        row: IntArray,
        column: IntArray,
        values: FloatArray,
        shift: float,
        threads: int,
    ) -> Factor:
        """Factorise A + shift·I; a ValueError if it is not positive definite."""

    def KdTree(self, points: FloatArray, norm: float, threads: int) -> Tree:
        """Build a tree of rows under the 1-, 2- or maximum norm."""

    def smallest(
        self, values: FloatArray, threads: int, indices: IntArray, keys: FloatArray
    ) -> None:
        """Fill (m, k) arrays with the k smallest of each row, sorted by (value, index)."""

    def offer_pairs(
        self,
        panels: FloatArray,
        squares: FloatArray,
        pairs: IntArray,
        tile: int,
        threads: int,
        keys: FloatArray,
        bounds: FloatArray,
        indices: IntArray,
        sizes: IntArray,
        length: int,
    ) -> None:
        """Offer keys a_i + a_j − 2 x_i·x_j of pairs of tiles to the shortlists of both.

        Rows lie in panels of 96 bytes side by side (panel, coordinate, row of the panel).
        A tile paired with itself starts its lists, which must be empty; no row is offered to
        itself, and no tile may be in two pairs.
        """

    def offer_columns(
        self,
        rows: FloatArray,
        row_squares: FloatArray,
        columns: FloatArray,
        column_squares: FloatArray,
        tile: int,
        threads: int,
        keys: FloatArray,
        bounds: FloatArray,
        indices: IntArray,
        sizes: IntArray,
        length: int,
    ) -> None:
        """Offer keys a_i + b_j − 2 x_i·y_j of panels to the empty shortlists of the rows."""

    def sort_shortlists(
        self,
        keys: FloatArray,
        bounds: FloatArray,
        indices: IntArray,
        sizes: IntArray,
        length: int,
        threads: int,
        sorted_keys: FloatArray,
        sorted_indices: IntArray,
    ) -> None:
        """Fill (m, length) arrays with the smallest of each list, sorted by (key, index)."""

    def rank(
        self,
        points: FloatArray,
        queries: FloatArray,
        scale: float,
        candidates: IntArray,
        bounds: FloatArray,
        complete: bool,
        threads: int,
        indices: IntArray,
        distances: FloatArray,
        sure: BoolArray,
    ) -> None:
        """Fill (m, k) arrays with the nearest candidates by their distances from differences.

        `bounds`, ascending, are lower bounds of the squared distances times scale²; a query is
        sure if they prove that no other row is nearer, or if the candidates are `complete`.
        """

    def join(
        self,
        rows: FloatArray,
        members: IntArray,
        fresh_members: IntArray,
        counts: IntArray,
        threads: int,
        keys: FloatArray,
        indices: IntArray,
        fresh: IntArray,
    ) -> None:
        """Offer the members of each group to each other's sorted lists; one of a pair is fresh.

        Of a row of `members` the first `counts` count, of which the first `fresh_members` are
        fresh. Keys are squared distances of single-precision rows, whose columns are a multiple
        of 32; entries that come in are marked in `fresh`.
        """

    def propose(
        self,
        indices: IntArray,
        seed: int,
        threads: int,
        fresh: IntArray,
        members: IntArray,
        fresh_members: IntArray,
        counts: IntArray,
    ) -> None:
        """Fill for each row a group of neighbours and of rows that have it as neighbour.

        At most half the width of `members` are fresh, in either direction, and as many are not;
        entries whose turn has come are no longer `fresh`.
        """

    def count_nearer(
        self,
        points: FloatArray,
        asked: IntArray,
        approximate: FloatArray,
        slack: FloatArray,
        targets: IntArray,
        threads: int,
        ranks: IntArray,
    ) -> None:
        """Fill `ranks` (m, k): the rank of each target among all rows as seen from the asked ones.

        Rows are ordered by (distance, index), the asked one left out; the nearest has rank 1.
        `approximate` (m, n) are squared distances known up to `slack` (m,), or (m, 0).
        """

    def both_ways(
        self, row: IntArray, column: IntArray, value: FloatArray, absent: float
    ) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Every pair that is an edge in some direction: offsets, columns, values forth and back."""

    def components(self, row: IntArray, column: IntArray, labels: IntArray) -> None:
        """Fill the component of each vertex, numbered in the order of their first vertices."""

    def spanning_trees(
        self,
        indices: IntArray,
        distances: FloatArray,
        inside: BoolArray,
        widths: IntArray,
        counts: IntArray,
        lengths: FloatArray,
    ) -> None:
        """Fill the edges and lengths of the spanning trees of samples, `inside` (samples, n).

        Edges join rows of a sample to those of their first `widths[s]` neighbours in it.
        """

    def distinct_rows(
        self, points: FloatArray, vanishing: float, copies: IntArray
    ) -> tuple[bool, float, bool, int]:
        """Fill the number of the distinct row that each row equals, in order of first occurrence.

        Returns whether all numbers are finite, their largest magnitude, whether one other than
        zero is below `vanishing`, and how many rows differ: `copies` are filled if not all do.
        """

    def near_products(
        self, points: FloatArray, far: float, products: FloatArray
    ) -> tuple[int, float]:
        """Fill Σ (x − m)(x − m)' about the mean m of the rows near it, and return their number.

        Beside it the mean of |x − m|⁴, but for what skewness adds where m was guessed first.
        Rows more than `far` times as far from the mean as the median row are left out, and again
        until there are none.
        """

    def sparse_product(
        self,
        row: IntArray,
        column: IntArray,
        values: FloatArray,
        block: FloatArray,
        threads: int,
        image: FloatArray,
    ) -> None:
        """Fill `image`: a sparse matrix times a block of vectors."""

    def stress(
        self,
        dissimilarities: FloatArray,
        weights: FloatArray,
        loss: int,
        coordinates: FloatArray,
        threads: int,
        gradient: FloatArray,
        spread: FloatArray,
    ) -> float:
        """Sum a loss over the pairs i < j of n objects at `coordinates` (n, d).

        0: w (d − δ)²; 1: w (d² − δ²)²; 2: w (d − δ)²/δ. Empty weights are all one. Fills the
        gradient (n, d) and, unless it is empty, each object's sum in `spread` (n,).
        """

    def barycentric_weights(
        self, coordinates: FloatArray, reg: float, threads: int, weights: FloatArray
    ) -> None:
        """Fill weights (m, s − 1); NaN in rows whose equations are singular to rounding."""
