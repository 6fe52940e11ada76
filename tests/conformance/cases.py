"""What the conformance tests share: the methods, small data, and ways to compare."""

import dataclasses
import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.oracles import embeddings, kernels, neighbors, rigid
from unbend.arrays import FloatArray
from unbend.datasets import s_curve
from unbend.estimators.neighborhood import NeighborhoodEmbedding
from unbend.registry import METHODS
from unbend.validation.parameters import FLAG, Choice, parameters

CLASSES = [entry.load() for entry in METHODS]
NEIGHBORHOOD = [method for method in CLASSES if issubclass(method, NeighborhoodEmbedding)]


def with_parameter(name: str) -> list[type]:
    return [method for method in CLASSES if name in method().get_params()]


def _words(method: type) -> list[tuple[type, str, Any]]:
    """Every word of every choice, and both values of every flag, that a method declares."""
    return [
        (method, parameter.name, word)
        for parameter in parameters(method)
        for kind in parameter.kinds
        for word in (
            kind.words if isinstance(kind, Choice) else (True, False) if kind is FLAG else ()
        )
        if word not in ("precomputed", "kernel", "affinity")  # these change what X means
    ]


def over(methods: list[type]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("method", methods, ids=lambda method: method.__name__)


def first_declares(method: type, name: str) -> bool:
    """Whether no method before this one inherits the same declaration of the parameter."""
    field = dataclasses.fields(method)
    return not any(
        other is one
        for before in CLASSES[: CLASSES.index(method)]
        for other in dataclasses.fields(before)
        for one in field
        if one.name == name
    )


# What a base class declares is tried with the first method that inherits it; with all others it
# is slow.
INHERITED = pytest.mark.parametrize(
    "inherited",
    [
        pytest.param(False, id="declared"),
        pytest.param(True, id="inherited", marks=pytest.mark.slow),
    ],
)
CHOICES = [case for method in CLASSES for case in _words(method)]
EVERY = over(CLASSES)
EVERY_NEIGHBORHOOD = over(NEIGHBORHOOD)
# A warning of NumPy from inside a fit is a number that went wrong.
STRICT = pytest.mark.filterwarnings("error::RuntimeWarning")
# Curves of 200 rows and fewer have edges that do jump from arc to arc (3.7 times as far and more).
JUMPING = pytest.mark.filterwarnings("ignore:.*between sheets of the data")

# Words of a library that let its own insides speak.
JARGON = (
    "Traceback", "NoneType", "no attribute", "broadcast", "unpack", "ufunc", "out of bounds",
    "ingular", "not converge", "infs or NaNs", "incompatible function", "zero-size", "division",
    "keyword argument", "Last 2 dimensions", "axis", "__", "0x",
)  # fmt: skip


def curve(n: int = 200, seed: int = 0) -> FloatArray:
    return s_curve(n, random_state=seed).points


@functools.cache
def fit_curve(method: Any, n: int = 200, seed: int = 0, **options: Any) -> Any:
    """Fit a method to `curve` once, without warnings. Laws share the fit and must not change it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*between sheets of the data")
        return method(**options).fit(curve(n, seed))


def isometric(method: Any) -> bool:
    """Whether coordinates have the scale of the data, so that a doubled X doubles them."""
    return bool(method.isometric)


def assert_clear(error: BaseException, *words: str) -> None:
    """Check that the message is one that a user can act on, and says all of `words`."""
    message = str(error)
    assert type(error) is not np.linalg.LinAlgError, message
    assert len(message) > 20, message
    assert not [word for word in JARGON if word in message], message
    assert not [word for word in words if word not in message], (words, message)


def refused(
    action: Callable[[], Any],
    *words: str,
    error: type[Exception] | tuple[type[Exception], ...] = (ValueError, TypeError),
) -> None:
    """Check that the action raises, with one clear sentence that says all of `words`."""
    try:
        action()
    except error as caught:
        assert_clear(caught, *words)
    else:
        pytest.fail("nothing was raised")


def answered(action: Callable[[], Any]) -> Any:
    """Return the fitted estimator, its coordinates checked, or None if it refused clearly."""
    try:
        fitted, _ = quietly(action)
    except (ValueError, TypeError) as error:
        assert_clear(error)
        return None
    assert np.all(np.isfinite(fitted.embedding_))
    return fitted


def assert_same(first: FloatArray, second: FloatArray, tolerance: float = 1e-9) -> None:
    """Entries agree to `tolerance` of the largest."""
    size = float(np.abs(first).max())
    np.testing.assert_allclose(second, first, rtol=0, atol=tolerance * size)


def motion_error(first: FloatArray, second: FloatArray) -> float:
    """Largest distance left, relative to the size, when `second` is turned onto `first`."""
    a, b = first - first.mean(axis=0), second - second.mean(axis=0)
    left, _, right = np.linalg.svd(b.T @ a)
    return float(np.abs(a - b @ left @ right).max() / np.abs(a).max())


def assert_alike(method: type, first: FloatArray, second: FloatArray, tolerance: float) -> None:
    """Compare spans; for isometric methods, also points up to a rigid motion."""
    assert embeddings.subspace_angle(first, second) < tolerance
    if isometric(method):
        assert motion_error(first, second) < tolerance


def quietly(action: Callable[[], Any]) -> tuple[Any, list[str]]:
    """Return the result of the action and the warnings it gave; those of NumPy are errors."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("error", RuntimeWarning)
        result = action()
    return result, [str(warning.message) for warning in caught]


def _scaled(points: FloatArray, _: neighbors.Neighbors, d: int) -> FloatArray:
    return embeddings.classical_mds(neighbors.pairwise(points), d)


def _diffused(points: FloatArray, near: neighbors.Neighbors, d: int) -> FloatArray:
    """λ φ/φ₀ of the walk with weights exp(−d²/t), t the mean squared edge, density divided out."""
    lengths = neighbors.union_graph(points, near)
    distances = neighbors.pairwise(points)
    edges = np.concatenate([distances[i, row] for i, row in enumerate(near)])
    weights = np.exp(-np.square(lengths) / np.square(edges).mean())
    np.fill_diagonal(weights, 1.0)
    density = weights.sum(axis=1)
    weights = weights / np.outer(density, density)
    degree = weights.sum(axis=1)
    values, vectors = np.linalg.eigh(weights / np.sqrt(np.outer(degree, degree)))
    return values[-2 : -2 - d : -1] * vectors[:, -2 : -2 - d : -1] / vectors[:, [-1]]


def _gaussian(points: FloatArray, _: neighbors.Neighbors, d: int) -> FloatArray:
    squares = neighbors.pairwise(points) ** 2
    kernel = np.exp(-squares / squares.mean())
    centre = np.eye(len(kernel)) - 1.0 / len(kernel)
    return embeddings.top(centre @ kernel @ centre, d)


# What the plain dense oracle makes of (points, neighbours, d). A new method adds its line.
ORACLES: dict[str, Callable[..., FloatArray]] = {
    "PCA": _scaled,
    "ClassicalMDS": _scaled,
    "KernelPCA": _gaussian,
    "DiffusionMaps": _diffused,
    "Isomap": lambda x, near, d: embeddings.top(kernels.isomap_kernel(x, near), d),
    "LandmarkIsomap": lambda x, near, d: embeddings.top(kernels.isomap_kernel(x, near), d),
    "LLE": lambda x, near, d: embeddings.bottom(kernels.lle_matrix(x, near), d),
    "SupervisedLLE": lambda x, near, d: embeddings.bottom(kernels.lle_matrix(x, near), d),
    "LTSA": lambda x, near, d: embeddings.bottom(kernels.ltsa_matrix(x, near, d), d),
    "HessianLLE": lambda x, near, d: embeddings.bottom(kernels.hessian_matrix(x, near, d), d),
    "RigidAlignment": rigid.embedding,
    "LaplacianEigenmaps": lambda x, near, d: embeddings.generalized_bottom(
        *kernels.laplacian(x, near), d
    ),
}
