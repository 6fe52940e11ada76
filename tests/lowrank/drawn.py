"""Matrices that the laws of factorisations are tried on, and how their results are judged."""

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

LAW = settings()  # of the profile: see tests/conftest.py
rngs = st.integers(0, 2**32 - 1).map(np.random.default_rng)
SPECTRA = {
    "gap": lambda p: np.where(np.arange(p) < (p + 1) // 2, 1.0, 1e-3) * np.linspace(2, 1, p),
    "flat": lambda p: np.linspace(2, 1, p),
    "equal": np.ones,
    "graded": lambda p: 2.0 ** -np.arange(p),
    "steep": lambda p: 10.0 ** -(2.0 * np.arange(p)),
    "deficient": lambda p: (np.arange(p) < (p + 1) // 2).astype(float),
    "zero": np.zeros,
}
HOSTILE = {
    "NaN": ([[1.0, np.nan], [0.0, 1.0]], ValueError, "NaN"),
    "infinity": ([[1.0, np.inf], [0.0, 1.0]], ValueError, "infinity"),
    "complex": ([[1j, 0.0], [0.0, 1.0]], ValueError, "Complex data not supported"),
    "words": ([["a", "b"], ["c", "d"]], TypeError, "real numbers"),
    "huge numbers": (np.full((2, 2), 1e308), ValueError, "overflow"),
    "a vector": ([1.0, 2.0], ValueError, "rows and columns"),
    "nothing": (np.empty((0, 3)), ValueError, "0 sample"),
}


def orthonormal_basis(rng, n, k):
    return np.linalg.qr(rng.standard_normal((n, k))).Q


def with_spectrum(rng, m, n, singular):
    p = len(singular)
    return (orthonormal_basis(rng, m, p) * singular) @ orthonormal_basis(rng, n, p).T


def kahan(n, angle=1.2):
    """Kahan's matrix: pivoting leaves its columns as they are, and hides the last singular value.

    The perturbation keeps rounding from pivoting after all.
    """
    c, s = np.cos(angle), np.sin(angle)
    upper = np.eye(n) - c * np.triu(np.ones((n, n)), 1)
    return (s ** np.arange(n))[:, None] * upper * (1 - 100 * n * np.finfo(float).eps * np.arange(n))


@st.composite
def matrices(draw):
    """Any shape from one row to fourteen, with each kind of spectrum, at any scale."""
    rng, m, n = draw(rngs), draw(st.integers(1, 14)), draw(st.integers(1, 14))
    kind, scale = (
        draw(st.sampled_from(sorted(SPECTRA))),
        draw(st.sampled_from([1.0, 1e-150, 1e150])),
    )
    return with_spectrum(rng, m, n, SPECTRA[kind](min(m, n))) * scale


@st.composite
def semidefinite(draw, least=1):
    rng, n = draw(rngs), draw(st.integers(least, 12))
    values = SPECTRA[draw(st.sampled_from(sorted(SPECTRA)))](n)
    vectors = orthonormal_basis(rng, n, n)
    product = (vectors * values) @ vectors.T
    return (product + product.T) / 2


def singular(matrix, k=0):
    """Singular values in double precision, followed by zeros."""
    values = np.linalg.svd(np.asarray(matrix, dtype=float), compute_uv=False)
    return np.concatenate((values, np.zeros(len(matrix) + len(matrix[0]) + 1)))[k:]


def rounding(matrix, factor=30):
    """Bound of the rounding in a factorisation, in the units of the matrix."""
    matrix = np.asarray(matrix)
    eps = np.finfo(matrix.dtype).eps
    return factor * sum(matrix.shape) * eps * np.linalg.norm(matrix.astype(float), 2)


def assert_orthonormal(columns):
    eye = np.eye(columns.shape[1])
    error = np.abs(columns.T.astype(float) @ columns - eye).max(initial=0)
    assert error <= 30 * sum(columns.shape) * np.finfo(columns.dtype).eps


def refuses(function, extra=()):
    """Assert that hostile matrices and arguments are each answered by one sentence."""
    for matrix, error, words in HOSTILE.values():
        with pytest.raises(error, match=words) as caught:
            function(matrix)
        assert "\n" not in str(caught.value)
    for arguments, error, words in extra:
        with pytest.raises(error, match=words):
            function(np.eye(3), **arguments)


BAD_ARGUMENTS = [
    ({"rank": 0}, ValueError, "at least 1"),
    ({"rank": 4}, ValueError, "at most 3"),
    ({"rank": 1.5}, TypeError, "integer"),
    ({"rank": True}, TypeError, "integer"),
    ({"tol": 1.0}, ValueError, "tol"),
    ({"tol": -1e-3}, ValueError, "tol"),
    ({"tol": np.nan}, ValueError, "tol"),
]
