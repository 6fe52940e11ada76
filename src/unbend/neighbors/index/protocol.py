"""The protocol of neighbour indexes: build on points, query for neighbours."""

from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.report import note
from unbend.validation.arrays import largest_magnitude, stored_type
from unbend.validation.scalars import check_count

Structure = TypeVar("Structure")


@runtime_checkable
class NeighborIndex(Protocol):
    """A search structure for nearest neighbours.

    `KDTree`, `BruteForce` and `NNDescent` implement it, and an index of another library does with
    these two methods. Distances are Euclidean, unless the index has an attribute `p`, the order of
    another Minkowski norm.

    As `neighbors_algorithm` of an estimator it holds parameters only. Each fit builds a shallow
    copy, so `build` may set attributes of `self`.

    Examples
    --------
    A SciPy tree as an index:

    >>> import numpy as np
    >>> from scipy.spatial import KDTree
    >>> import unbend
    >>> class ScipyIndex:
    ...     def build(self, points):
    ...         self.tree = KDTree(points)
    ...         return self
    ...
    ...     def query(self, rows, k):
    ...         distances, indices = self.tree.query(rows, k=range(1, k + 1))
    ...         return indices, distances
    >>> roll = unbend.datasets.swiss_roll(300, random_state=0).points
    >>> model = unbend.LTSA(neighbors_algorithm=ScipyIndex()).fit(roll)
    >>> model.report_.stage("neighbors").facts["recall"]
    1.0
    """

    def build(self, points: FloatArray) -> "NeighborIndex":
        """Return an index of the points, an array (n, D) of float64."""

    def query(self, rows: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Find the k points nearest to each of m rows, nearest first.

        Parameters
        ----------
        rows : array (m, D)
            Queries. They may be points of the index; each is then its own nearest neighbour.
        k : int
            Number of neighbours, at most n.

        Returns
        -------
        indices : integer array (m, k)
            Indices of points, distinct within a row.
        distances : array (m, k)
            Ascending within a row.
        """


def require_built(structure: Structure | None, index: object) -> Structure:
    """Return the search structure of an index, or raise if it has none yet."""
    if structure is None:
        name = type(index).__name__
        raise ValueError(f"this {name} is not built: call {name}(...).build(points) first")
    return structure


def contiguous_points(points: FloatArray) -> FloatArray:
    """Return points as a contiguous array of their stored type; refuse others than finite rows."""
    points = np.asarray(points)
    points = np.ascontiguousarray(points, dtype=stored_type(points))
    if points.ndim != 2 or not len(points) or not np.isfinite(largest_magnitude(points)):
        raise ValueError(
            "an index is built on an array (n, D) of finite numbers with at least one row: the "
            f"shape is {points.shape}; remove rows with NaN or infinity"
        )
    return points


def contiguous_queries(rows: FloatArray, k: int, points: tuple[int, ...]) -> FloatArray:
    """Return queries as contiguous float64, or raise if they do not match the points."""
    check_count(k, points[0])
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != points[1] or not np.isfinite(rows).all():
        raise ValueError(
            f"queries must be finite rows of {points[1]} numbers, as the points of the index are: "
            f"their shape is {rows.shape}"
        )
    return rows


def drop_self(
    indices: IntArray, values: FloatArray, itself: IntArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Drop each query from its row of neighbours, or else the last neighbour.

    With many duplicates, or in an approximate search, a query may not be among its neighbours.
    """
    own = indices == (np.arange(len(indices)) if itself is None else itself)[:, None]
    own[~own.any(axis=1), -1] = True
    shape = (len(indices), indices.shape[1] - 1)
    return indices[~own].reshape(shape), values[~own].reshape(shape)


def note_recall(name: str, found: FloatArray, reach: FloatArray, **facts: int) -> float:
    """Record and return the recall of distances (m, k), given exact distances (m,) of the k-th."""
    shares = np.mean(found <= reach[:, None] * (1 + 1e-12), axis=1)
    error = float(np.std(shares) / np.sqrt(len(shares)))
    note(search=name, **facts, recall=float(shares.mean()), recall_error=error)
    return float(shares.mean())
