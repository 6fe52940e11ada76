"""Error bounds of the theorems in the book's chapters 7 and 15, as functions of sizes and spectra.

β and γ are the book's: a Gaussian matrix l × k has σ_min ≥ 1/√(lβ), and one with sides at most x
has σ_max ≤ √(2xγ), but for the probabilities `smallest_singular_failure` and
`largest_singular_failure`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from unbend.lowrank.selection import log_elementary
from unbend.lowrank.utv import ULV, URV, spectral_norm
from unbend.validation.scalars import check_integer, check_real


def _rate(eps: float) -> float:
    """ε²/2 − ε³/3, which grows up to 1/6 at ε = 1."""
    return eps**2 / 2 - eps**3 / 3


def johnson_lindenstrauss(n: int, eps: float, beta: float = 0.0) -> int:
    """Least dimension in which a random projection keeps all squared distances within 1 ± eps.

    k ≥ (4 + 2β) ln n / (ε²/2 − ε³/3) suffices for n points with probability at least 1 − n^−β
    (Achlioptas, 2003; book (7.6) and Theorem 7.2). β = 0 guarantees only that such a projection
    exists.

    Parameters
    ----------
    n : int
        Number of points, at least 2.
    eps : float
        Relative error of squared distances, between 0 and 1.
    beta : float
        Exponent of the probability of failure.

    Examples
    --------
    >>> from unbend.lowrank import johnson_lindenstrauss
    >>> johnson_lindenstrauss(1000, 0.5)
    332
    """
    n = check_integer("n", n, 2)
    rate = _rate(check_real("eps", eps, 0, 1, closed="neither"))
    return int(np.ceil((4 + 2 * check_real("beta", beta, 0)) * np.log(n) / rate))


def guaranteed_distortion(n: int, k: int, beta: float = 0.0) -> float:
    """Solve (7.6) for the ε that k random coordinates guarantee for all pairs of n points.

    Parameters
    ----------
    n : int
        Number of points, at least 2.
    k : int
        Embedding dimension.
    beta : float
        The guarantee holds with probability at least 1 − n^−β; for β = 0 it only exists.

    Returns
    -------
    float
        Relative error of squared distances, below 1. Not a number where there is no guarantee,
        which is so unless (4 + 2β) ln n / k < 1/6.

    Examples
    --------
    >>> from unbend.lowrank import guaranteed_distortion
    >>> round(guaranteed_distortion(1000, 332), 3), guaranteed_distortion(1000, 100)
    (0.5, nan)
    """
    points, size = check_integer("n", n, 2), check_integer("k", k)
    needed = (4 + 2 * check_real("beta", beta, 0)) * np.log(points) / size
    if needed >= _rate(1.0):
        return float("nan")
    return float(brentq(lambda eps: _rate(eps) - needed, 0.0, 1.0, xtol=1e-15))


def guaranteed_exponent(n: int, k: int, eps: float) -> float:
    """Find the β of the probability 1 − n^−β with which k coordinates keep n points in 1 ± eps.

    k (ε²/4 − ε³/6)/ln n − 2 (Theorem 7.2 of the book). Negative where nothing is guaranteed.

    Parameters
    ----------
    n : int
        Number of points, at least 2.
    k : int
        Embedding dimension.
    eps : float
        Relative error of squared distances, between 0 and 1.

    Examples
    --------
    >>> from unbend.lowrank import guaranteed_exponent
    >>> round(guaranteed_exponent(200, 300, 0.3), 2)
    -0.98
    """
    points, size = check_integer("n", n, 2), check_integer("k", k)
    rate = _rate(check_real("eps", eps, 0, 1, closed="neither"))
    return float(size * rate / 2 / np.log(points) - 2)


@dataclass(frozen=True)
class LengthTails:
    """Bounds of P(‖y‖² ≤ k/β) and P(‖y‖² ≥ kβ).

    Examples
    --------
    >>> from unbend.lowrank import length_tails
    >>> tails = length_tails(100, 1.5)
    >>> 0 < tails.upper < tails.lower < 0.05
    True
    """

    lower: float
    upper: float


def length_tails(k: int, beta: float) -> LengthTails:
    """Bound how often k normal coordinates of mean square 1 are too short or too long by β.

    P(‖y‖² ≤ k/β) < exp(k/2 (1 − 1/β − ln β)) and P(‖y‖² ≥ kβ) < exp(k/2 (1 − β + ln β)): (7.8)
    and (7.9) of the book, from which the bound of Johnson and Lindenstrauss follows.

    Parameters
    ----------
    k : int
        Number of coordinates.
    beta : float
        Factor above 1.

    Examples
    --------
    >>> from unbend.lowrank import length_tails
    >>> tails = length_tails(100, 1.5)
    >>> round(tails.lower, 4), round(tails.upper, 4)
    (0.0271, 0.0089)
    """
    size = check_integer("k", k)
    factor = check_real("beta", beta, 1, closed="neither")
    lower = np.exp(size / 2 * (1 - 1 / factor - np.log(factor)))
    return LengthTails(float(lower), float(np.exp(size / 2 * (1 - factor + np.log(factor)))))


def interpolation_bound(n: int, k: int, f: float = 1.0) -> float:
    """√(1 + f² k(n − k)): bounds ‖P‖, and ‖A − BP‖ in units of σₖ₊₁ (Theorem 15.1; f = 2: (15.27)).

    Examples
    --------
    >>> from unbend.lowrank.bounds import interpolation_bound
    >>> interpolation_bound(10, 2), interpolation_bound(8, 8)
    (4.123105625617661, 1.0)
    """
    return float(np.sqrt(1 + f**2 * k * (n - k)))


def lu_bound(m: int, n: int, k: int, f: float = 1.0) -> float:
    """Bound of the Schur complement of a rank-revealing LU factorisation in units of σₖ₊₁.

    Examples
    --------
    >>> from unbend.lowrank.bounds import lu_bound
    >>> round(lu_bound(10, 10, 2))  # k(n − k) + 1
    17
    """
    return interpolation_bound(m, k, f) * interpolation_bound(n, k, f)


@dataclass(frozen=True)
class SubspaceBounds:
    """Bounds of the sines between approximate and true singular spaces (Theorem 15.2)."""

    left: tuple[float, float]
    right: tuple[float, float]


def subspace_bounds(found: ULV | URV) -> SubspaceBounds:
    """Bounds of Theorem 15.2 (Fierro and Bunch, 1995), from the blocks alone.

    One side is bounded by ‖H‖σ/(σ² − ‖E‖²), the other by ‖H‖‖E‖/(σ² − ‖E‖²), σ = σ_d of the leading
    block: left and right for ULV, right and left for URV. Infinite unless σ > ‖E‖.

    Examples
    --------
    >>> import numpy as np
    >>> from unbend.lowrank import ulv
    >>> from unbend.lowrank.bounds import subspace_bounds
    >>> subspace_bounds(ulv(np.diag([3.0, 1.0]), rank=1)).left
    (0.0, 0.0)
    """
    coupling, trailing = spectral_norm(found.coupling), spectral_norm(found.trailing)
    least = float(np.linalg.svd(found.leading, compute_uv=False)[-1]) if found.rank else np.inf
    largest = spectral_norm(found.middle)
    if not least > trailing:
        exposed = sheltered = (0.0, np.inf)
    elif not coupling:
        exposed = sheltered = (0.0, 0.0)
    else:
        gap = (least - trailing) * (least + trailing)
        exposed = (coupling / (2 * largest), least * coupling / gap)
        sheltered = (0.0, coupling * trailing / gap)
    sides = (exposed, sheltered) if isinstance(found, ULV) else (sheltered, exposed)
    return SubspaceBounds(*sides)


def smallest_singular_failure(l: int, k: int, beta: float) -> float:  # noqa: E741
    """Bound of the probability that a Gaussian l × k matrix has σ_min < 1/√(lβ) ((15.29), √β).

    Examples
    --------
    >>> from unbend.lowrank.bounds import smallest_singular_failure
    >>> smallest_singular_failure(25, 5, 9 / 16) < 1e-17
    True
    """
    more = l - k + 1
    log = more * (1 - np.log(more * np.sqrt(beta))) - np.log(2 * np.pi * more) / 2
    return float(np.exp(min(log, 0.0)))


def largest_singular_failure(x: int, gamma: float) -> float:
    """Bound of the probability that a Gaussian matrix in x × x has σ_max > √(2xγ) (15.30).

    Examples
    --------
    >>> from unbend.lowrank.bounds import largest_singular_failure
    >>> largest_singular_failure(100, 5.0) < 1e-70
    True
    """
    if gamma <= 1:
        return 1.0
    log = x * (np.log(2 * gamma) - gamma + 1) - np.log(4 * (gamma - 1))
    return float(np.exp(min(log - np.log(np.pi * x * gamma) / 2, 0.0)))


@dataclass(frozen=True)
class RandomizedBound:
    """‖A − Ã‖ ≤ first·σₖ₊₁ + later·σₖ₊ⱼ₊₁ except with this probability."""

    first: float
    later: float
    failure: float


def randomized_bound(
    m: int,
    n: int,
    k: int,
    l: int,  # noqa: E741
    j: int | None = None,
    *,
    interpolative: bool,
    beta: float = 9 / 16,
    gamma: float = 5.0,
) -> RandomizedBound:
    """Bounds for k columns or vectors from l Gaussian combinations of the m rows of A.

    Parameters
    ----------
    m, n, k, l : int
        Sizes, k ≤ l < min(m, n).
    j : int, optional
        None: Theorems 15.5 and 15.7. Else 15.6 and 15.8, better where σₖ₊ⱼ₊₁ is much smaller.
    interpolative : bool
        Whether for the interpolative decomposition (15.5, 15.6) or the singular value
        decomposition (15.7, 15.8).
    beta, gamma : float
        Trade-off between size and probability; those of Corollaries 15.1 and 15.2 by default.

    Returns
    -------
    RandomizedBound

    Examples
    --------
    >>> from unbend.lowrank.bounds import randomized_bound
    >>> found = randomized_bound(1000, 500, 10, 30, interpolative=False)
    >>> round(found.first), found.failure < 1e-17
    (1643, True)
    """
    c = interpolation_bound(n, k, 2.0)
    # The two proofs differ in these factors.
    one, two = (c + 1, c) if interpolative else (2.0, 2.0)

    def factor(inside: int, outside: int) -> float:
        unit = 2 * l * beta * gamma
        return float(np.sqrt(unit * inside + 1) * one + np.sqrt(unit * outside) * two)

    fails = smallest_singular_failure(l, k, beta)
    if j is None:
        return RandomizedBound(factor(m, m), 0.0, fails + 2 * largest_singular_failure(m, gamma))
    m1, m2, m3 = max(m - k - j, l), max(j, l), max(j + k, l)
    fails += (
        2 * largest_singular_failure(m1, gamma)
        + largest_singular_failure(m2, gamma)
        + largest_singular_failure(m3, gamma)
    )
    return RandomizedBound(factor(m2, m3), factor(m1, m1), fails)


def interpolative_corollary(m: int, n: int, k: int) -> float:
    """10 √(k(k + 20)mn): Corollary 15.1, in units of σₖ₊₁, for l = k + 20.

    Examples
    --------
    >>> from unbend.lowrank.bounds import interpolative_corollary
    >>> interpolative_corollary(100, 100, 5)
    11180.339887498949
    """
    return float(10 * np.sqrt(k * (k + 20) * m * n))


def svd_corollary(m: int, k: int) -> float:
    """10 √(k(k + 20)m): Corollary 15.2, in units of σₖ₊₁, for l = k + 20.

    Examples
    --------
    >>> from unbend.lowrank.bounds import svd_corollary
    >>> svd_corollary(100, 5)
    1118.033988749895
    """
    return float(10 * np.sqrt(k * (k + 20) * m))


def volume_bound(eigenvalues: Any, k: int) -> float:
    """(k + 1) Σ_{i>k} λᵢ: bounds the mean error from k volume-sampled columns (Theorem 15.9).

    Examples
    --------
    >>> from unbend.lowrank.bounds import volume_bound
    >>> volume_bound([4.0, 2.0, 1.0], 1)
    6.0
    """
    values = np.sort(np.asarray(eigenvalues, dtype=np.float64))[::-1]
    return float((k + 1) * np.maximum(values[k:], 0).sum())


def volume_trace(eigenvalues: Any, k: int) -> float:
    """Mean trace of that error, exactly: (k + 1) e_{k+1}(λ)/e_k(λ) (Deshpande et al., 2006).

    Examples
    --------
    >>> from unbend.lowrank.bounds import volume_trace
    >>> round(volume_trace([4.0, 2.0, 1.0], 1), 12)  # 2 · 14/7
    4.0
    """
    table = log_elementary(np.maximum(np.asarray(eigenvalues, dtype=np.float64), 0), k + 1)[-1]
    return float((k + 1) * np.exp(table[k + 1] - table[k]))
