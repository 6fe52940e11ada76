"""Whether distances are Euclidean, of what dimension, and what they lack (book 6.2.3, 8.1.3)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.gram import Gram
from unbend.gram.distances import additive_constant as least_constant
from unbend.validation.arrays import check_rows
from unbend.validation.distances import check_distances, rounding
from unbend.validation.scalars import check_real

# Digits of the largest number that are looked at, and what rounding to some of them may leave in
# units of the last one where they are all there are.
DIGITS, LEFT = 13, 1e-9


@dataclass(frozen=True, eq=False)
class EuclideanDimension:
    """What the eigenvalues of −½HD²H say of distances.

    Attributes
    ----------
    euclidean : bool
        Whether points of some Euclidean space have these distances, up to rounding: no eigenvalue
        is below −tolerance (Theorem 6.2 of the book).
    dimension : int
        Eigenvalues above the tolerance: the intrinsic configuration dimension (Lemma 6.3) if
        `euclidean`, else that of the part that is.
    rounding : float
        Largest error of a distance that was allowed for.
    tolerance : float
        n (δ max D + δ²/2): as much as errors up to δ can move an eigenvalue, or the rounding of
        double precision if that is more.
    eigenvalues : array (n,)
        All, descending.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.mds import euclidean_dimension
    >>> found = euclidean_dimension(np.array([[0.0, 3, 5], [3, 0, 4], [5, 4, 0]]), error=0)
    >>> found.euclidean, found.dimension
    (True, 2)
    """

    euclidean: bool
    dimension: int
    rounding: float
    tolerance: float
    eigenvalues: FloatArray

    def __str__(self) -> str:
        size, least = float(self.eigenvalues[0]), float(self.eigenvalues[-1])
        if self.euclidean:
            told = f"Euclidean, of dimension {self.dimension}"
        else:
            told = f"not Euclidean (smallest eigenvalue {least:.3g}, largest {size:.3g})"
        return f"{told}; distances are taken as right to ±{self.rounding:g}"


def euclidean_dimension(distances: Any, *, error: float | None = None) -> EuclideanDimension:
    """Decide whether a matrix holds Euclidean distances, and of what dimension.

    Distances are Euclidean if −½HD²H has no negative eigenvalue, and its rank is the least
    dimension of points that have them. Tables are rounded: an error of ±δ in every distance moves
    eigenvalues by up to n (δ max D + δ²/2), which for 50 cities and a mileage table is far more
    than the rounding of the machine.

    Parameters
    ----------
    distances : array (n, n)
        Symmetric, with a zero diagonal.
    error : float, optional
        Largest error δ of a distance. By default half a unit of the last decimal that any of them
        has, so half a mile if all are integers; 0 where they are exact.

    Returns
    -------
    EuclideanDimension

    Examples
    --------
    >>> import numpy as np
    >>> right = np.array([[0.0, 3, 5], [3, 0, 4], [5, 4, 0]])
    >>> print(euclidean_dimension(right, error=0))
    Euclidean, of dimension 2; distances are taken as right to ±0
    >>> star = np.array([[0.0, 1, 1, 1], [1, 0, 2, 2], [1, 2, 0, 2], [1, 2, 2, 0]])
    >>> euclidean_dimension(star, error=0).euclidean
    False
    """
    delta = None if error is None else check_real("error", error, 0)
    given = check_rows(distances, "distances", min_rows=2)
    return decide_euclidean(_square(given), delta, given.dtype)


def decide_euclidean(
    distances: FloatArray, error: float | None, dtype: np.dtype[Any]
) -> EuclideanDimension:
    """Do what `euclidean_dimension` does with distances that were checked, of some precision."""
    delta = _decimal_error(distances) if error is None else error
    n, largest = len(distances), float(distances.max())
    values = np.linalg.eigvalsh(Gram(distances).form())[::-1]
    own = n * rounding(largest**2, dtype)
    tolerance = max(n * (delta * largest + delta**2 / 2), own)
    return EuclideanDimension(
        bool(values[-1] >= -tolerance), int(np.sum(values > tolerance)), delta, tolerance, values
    )


def _decimal_error(distances: FloatArray) -> float:
    """Half a unit of the last decimal of a table; zero where numbers have all their digits."""
    size = float(distances.max())
    if size == 0:
        return 0.0
    first = -int(np.floor(np.log10(size)))
    for decimals in range(first, first + DIGITS):
        if np.all(np.abs(distances - np.round(distances, decimals)) <= LEFT * 10.0**-decimals):
            return 0.5 * 10.0**-decimals
    return 0.0


def additive_constant(distances: Any) -> float:
    """Least number that makes distances Euclidean when added to all of them (Theorem 8.1).

    Parameters
    ----------
    distances : array (n, n)
        Symmetric, with a zero diagonal, which stays zero.

    Examples
    --------
    >>> import numpy as np
    >>> longer = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]])
    >>> round(additive_constant(longer), 9)  # 1 + τ, 1 + τ and 3 + τ lie on a line
    1.0
    """
    return least_constant(Gram(_square(distances)))


def additive_constant_bound(distances: Any) -> float:
    """Bound the additive constant from above by two eigenvalues: τ⁺ ≥ τ* (book (8.9)).

    √(μ² − λ) − μ with λ and μ the smallest eigenvalues of −HD²H and −HDH on centered vectors; zero
    where the distances are Euclidean.

    Parameters
    ----------
    distances : array (n, n)
        Symmetric, with a zero diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> longer = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]])
    >>> additive_constant_bound(longer) >= additive_constant(longer) - 1e-9
    True
    """
    given = _square(distances)
    centered = given - given.mean(axis=0)
    centered -= centered.mean(axis=1, keepdims=True)
    lowest = 2.0 * Gram(given).lowest()
    if lowest >= -len(given) * rounding(float(given.max()) ** 2, np.float64):
        return 0.0
    # The constant vector has the eigenvalue zero, and would hide a positive one.
    raised = float(np.abs(centered).sum(axis=1).max())
    smallest = float(np.linalg.eigvalsh(-centered + raised / len(given))[0])
    return float(np.sqrt(smallest**2 - lowest) - smallest)


def _square(distances: Any) -> FloatArray:
    given = np.asarray(check_rows(distances, "distances", min_rows=2), dtype=np.float64)
    check_distances(given, "distances")
    return given
