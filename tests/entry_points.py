"""Public names that take data, how each is called, and the mistakes that it must refuse.

`TABLE` holds how a name is called with data, `EXEMPT` the public names that take no data, or whose
checks are tested elsewhere, with the reason.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

import unbend
from unbend import dimension, graphs, lowrank, mvu, neighbors, plot, quality, selection
from unbend.dimension import estimators
from unbend.registry import CLASSIFIERS, CLUSTERINGS, METHODS, SEVERAL

X = np.random.default_rng(0).normal(size=(40, 3))
FLAT = X[:, :2]
SQUARE = cdist(X, X)
GRAM = X @ X.T + np.eye(40)
RNG = np.random.default_rng(0)


def spoiled(rows: Any, value: Any, dtype: Any = np.float64) -> Any:
    copy = np.array(rows, dtype=dtype)
    copy[3, 1] = value
    return copy


def lopsided(amount: float) -> Any:
    matrix = SQUARE.copy()
    matrix[0, 1] += amount
    return matrix


# What is done to good data, the error, and the sentence: NAME is that of the argument, # a number.
ROWS: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "NaN": (
        lambda rows: spoiled(rows, np.nan),
        ValueError,
        "NAME contains NaN (first in row #, column #).",
    ),
    "infinity": (
        lambda rows: spoiled(rows, np.inf),
        ValueError,
        "NAME contains infinity (first in row #, column #).",
    ),
    "minus infinity": (
        lambda rows: spoiled(rows, -np.inf),
        ValueError,
        "NAME contains infinity (first in row #, column #).",
    ),
    "strings": (
        lambda rows: np.full(np.shape(rows), "red"),
        TypeError,
        "NAME must be an array of real numbers (could not convert string to float",
    ),
    "objects": (
        lambda rows: spoiled(rows, {"red": 1}, object),
        TypeError,
        "NAME must be an array of real numbers (float() argument must be",
    ),
    "complex": (
        lambda rows: rows + 1j,
        ValueError,
        "Complex data not supported: NAME is complex. Pass real numbers",
    ),
    "complex objects": (
        lambda rows: spoiled(rows, 1j, object),
        ValueError,
        "Complex data not supported: NAME is complex. Pass real numbers",
    ),
    "integers beyond double precision": (
        lambda rows: spoiled(rows, 10**400, object),
        TypeError,
        "NAME must be an array of real numbers (int too large to convert to float).",
    ),
    "one dimension": (
        lambda rows: rows[:, 0],
        ValueError,
        "NAME must be a #D array of rows and columns, and its shape is (#,). Reshape your data",
    ),
    "no rows": (
        lambda rows: rows[:0],
        ValueError,
        "NAME has # sample(s) (shape=(#, #)) while a minimum of # is required. Pass more rows.",
    ),
    "one row": (
        lambda rows: rows[:1],
        ValueError,
        "NAME has # sample(s) (shape=(#, #)) while a minimum of # is required. Pass more rows.",
    ),
    "no columns": (
        lambda rows: rows[:, :0],
        ValueError,
        "NAME has # feature(s) (shape=(#, #)) while a minimum of # is required.",
    ),
    "1e155": (
        lambda rows: rows * 1e155,
        ValueError,
        "The largest magnitude in NAME is #, and its square leaves double precision. Rescale NAME",
    ),
}
DISTANCES: dict[str, tuple[Any, type[Exception], str]] = {
    "asymmetric by 1e-3": (
        lopsided(1e-3),
        ValueError,
        "The distance matrix is not symmetric (entries differ by up to #). Pass (X + X.T) / #",
    ),
    "asymmetric by 1e-9": (
        lopsided(1e-9),
        ValueError,
        "The distance matrix is not symmetric (entries differ by up to #). Pass (X + X.T) / #",
    ),
    "negative": (
        -SQUARE,
        ValueError,
        "Distances must be non-negative, and the smallest in NAME is #.",
    ),
    "diagonal": (
        SQUARE + np.eye(40),
        ValueError,
        "The distance matrix has a non-zero diagonal (max #). Set it to zero",
    ),
    "not square": (
        SQUARE[:, :30],
        ValueError,
        "A precomputed distance matrix must be square, and the shape of NAME is (#, #).",
    ),
}
COUNTS = {
    "k = 0": (0, "NAME=# is not allowed: it must be an integer of at least #"),
    "k >= n": (40, "NAME=# is not allowed: it must be at most #"),
}
ANY_SCALE = {"1e155": "works in units of the matrix"}
ONE_ROW = {"one row": "a matrix may have one row"}
ONE_COLUMN = {"one dimension": "is taken for one column"}


@dataclass(frozen=True)
class Entry:
    """How a public name is called with rows, with distances, and with a number of neighbours."""

    rows: Callable[[Any], Any]
    name: str = "X"
    distances: Callable[[Any], Any] | None = None
    count: Callable[[Any], Any] | None = None
    counted: str = "n_neighbors"
    # Mistakes that are none for this name, with the reason.
    allowed: dict[str, str] = field(default_factory=dict)
    good: Any = None


LOWERED = {"k >= n": "n_neighbors is lowered, with a warning"}
FEWER = {"k >= n": "documented: fewer where there are fewer rows"}


def estimator_entry(method: Any) -> Entry:
    parameters, y = method()._get_param_names(), np.arange(len(X)) % 2
    distances = None
    if "metric" in parameters:
        distances = lambda D: method(metric="precomputed").fit(D, y)  # noqa: E731
    count = None
    if "n_neighbors" in parameters:
        count = lambda k: method(n_neighbors=k).fit(X, y)  # noqa: E731
    fit = lambda rows: method().fit(rows, y)  # noqa: E731
    return Entry(fit, distances=distances, count=count, allowed=LOWERED)


def several_entry(method: Any) -> Entry:
    return Entry(
        lambda rows: method(metric="euclidean").fit([rows, rows]),
        distances=lambda D: method().fit([D, D]),
        allowed={"one dimension": "X is a list of matrices, and says so"},
    )


def pair(measure: Any, name: str = "X", distances: bool = True, counted: bool = False) -> Entry:
    return Entry(
        lambda rows: measure(rows, FLAT),
        name,
        (lambda D: measure(D, FLAT, metric="precomputed")) if distances else None,
        (lambda k: measure(X, FLAT, n_neighbors=k)) if counted else None,
    )


def estimate(function: Any, **options: Any) -> Entry:
    name = function.__name__
    counted = name in ("mle", "two_nn", "local_pca")
    return Entry(
        lambda rows: function(rows, **options),
        distances=lambda D: function(D, metric="precomputed", **options),
        count=(lambda k: function(X, n_neighbors=k)) if counted else None,
        allowed={} if name == "mle" else dict(FEWER),
    )


def factorisation(call: Callable[[Any], Any], good: Any = GRAM) -> Entry:
    return Entry(call, "matrix", allowed=ANY_SCALE | ONE_ROW, good=good)


def choice(function: Any, counted: bool = False, precomputed: bool = False) -> Entry:
    return Entry(
        function,
        distances=(lambda D: function(D, metric="precomputed")) if precomputed else None,
        count=(lambda k: function(X, n_neighbors=k)) if counted else None,
        allowed=dict(FEWER),
    )


SYMMETRIC = {"one row": "is not square either", "no columns": "is not square either"}
TABLE: dict[str, Entry] = {
    **{f"unbend.{e.class_name}": estimator_entry(e.load()) for e in METHODS},
    **{f"unbend.{e.class_name}": several_entry(e.load()) for e in SEVERAL},
    **{
        f"unbend.{e.class_name}": Entry(lambda rows, e=e: e.load()().fit(rows, np.arange(40) % 4))
        for e in CLASSIFIERS
    },
    "unbend.choose_bandwidth": Entry(
        selection.choose_bandwidth,
        count=lambda k: selection.choose_bandwidth(X, n_neighbors=k),
    ),
    "unbend.choose_dimension": choice(selection.choose_dimension, counted=True, precomputed=True),
    "unbend.choose_neighbors": choice(selection.choose_neighbors),
    "unbend.compare": choice(
        lambda X, **o: selection.compare(X, ["PCA"], **o), counted=True, precomputed=True
    ),
    "unbend.stability": Entry(lambda rows: selection.stability(unbend.PCA(), rows)),
    "unbend.selection.resample": Entry(lambda rows: selection.resample(unbend.PCA(), rows)),
    "unbend.suggest": choice(selection.suggest, precomputed=True),
    "unbend.denoise": Entry(lambda rows: unbend.denoise(rows, 1, patch_size=10)),
    "unbend.localize": Entry(
        unbend.localize,
        "distances",
        unbend.localize,
        allowed={
            **ANY_SCALE,
            "NaN": "is a distance that was not measured",
            "one row": "is not square either",
            "no columns": "is not square either",
        },
        good=SQUARE,
    ),
    "unbend.quality.align": pair(quality.align, "truth", distances=False),
    "unbend.quality.procrustes": pair(quality.procrustes, "truth", distances=False),
    "unbend.quality.trustworthiness": pair(quality.trustworthiness, counted=True),
    "unbend.quality.continuity": pair(quality.continuity, counted=True),
    "unbend.quality.mean_relative_rank_errors": pair(
        quality.mean_relative_rank_errors, counted=True
    ),
    "unbend.quality.neighborhood_preservation": pair(
        quality.neighborhood_preservation, counted=True
    ),
    "unbend.quality.coranking": pair(quality.coranking),
    "unbend.quality.coranking_matrix": pair(quality.coranking_matrix),
    "unbend.quality.shepard": pair(quality.shepard),
    "unbend.quality.strain": pair(quality.strain),
    "unbend.quality.stress": pair(quality.stress),
    "unbend.quality.residual_variance": pair(quality.residual_variance),
    "unbend.quality.local_isometry_error": pair(
        quality.local_isometry_error, "chart", distances=False, counted=True
    ),
    "unbend.quality.conformality_error": pair(
        quality.conformality_error, "chart", distances=False, counted=True
    ),
    "unbend.quality.density_distortion": pair(
        quality.density_distortion, distances=False, counted=True
    ),
    "unbend.quality.noise_amplification": pair(
        quality.noise_amplification, distances=False, counted=True
    ),
    "unbend.quality.neighborhood_hit": Entry(
        lambda rows: quality.neighborhood_hit(rows, np.zeros(40)),
        "embedding",
        count=lambda k: quality.neighborhood_hit(X, np.zeros(40), n_neighbors=k),
    ),
    "unbend.quality.color_mixing": Entry(
        lambda rows: quality.color_mixing(rows, FLAT),
        "embedding",
        count=lambda k: quality.color_mixing(X, FLAT, n_neighbors=k),
    ),
    "unbend.quality.coordinate_redundancy": Entry(
        quality.coordinate_redundancy,
        "embedding",
        count=lambda k: quality.coordinate_redundancy(X, n_neighbors=k),
    ),
    "unbend.quality.occupancy": Entry(quality.occupancy, "embedding"),
    **{
        f"unbend.dimension.{name}": estimate(getattr(dimension, name))
        for name in dimension.__all__
        if name[0].islower() and name != "curse"
    },
    **{
        f"unbend.dimension.estimators.{e.__name__}": Entry(
            lambda rows, e=e: e().fit(rows),
            distances=lambda D, e=e: e(metric="precomputed").fit(D),
        )
        for e in estimators.ESTIMATORS
    },
    "unbend.neighbors.open_space": Entry(
        neighbors.open_space, distances=lambda D: neighbors.open_space(D, "precomputed")
    ),
    "unbend.graphs.consistency": Entry(
        lambda rows: graphs.consistency(rows, 2, 10),
        count=lambda k: graphs.consistency(X, 2, k),
    ),
    "unbend.graphs.find_short_circuits": Entry(
        lambda rows: graphs.find_short_circuits(rows, 2, 10),
        count=lambda k: graphs.find_short_circuits(X, 2, k),
    ),
    **{
        f"unbend.lowrank.{name}": factorisation(getattr(lowrank, name), X)
        for name in ("strong_qr", "interpolative", "rank_revealing_lu", "ulv", "urv")
    },
    "unbend.lowrank.randomized_interpolative": factorisation(
        lambda matrix: lowrank.randomized_interpolative(matrix, 1, RNG), X
    ),
    "unbend.lowrank.randomized_svd": factorisation(lambda m: lowrank.randomized_svd(m, 1), X),
    "unbend.lowrank.single_pass_svd": factorisation(lambda m: lowrank.single_pass_svd(m, 1), X),
    "unbend.lowrank.fat_rows": factorisation(lambda m: lowrank.fat_rows(m, 1), X),
    **{
        f"unbend.lowrank.{name}": Entry(call, "matrix", allowed=ANY_SCALE | SYMMETRIC, good=GRAM)
        for name, call in {
            "fat": lambda m: lowrank.fat(m, 2),
            "greedy_columns": lambda m: lowrank.greedy_columns(m, 2),
            "leverage_columns": lambda m: lowrank.leverage_columns(m, 2, RNG),
            "leverage_scores": lambda m: lowrank.leverage_scores(m, 2),
            "pivoted_cholesky": lowrank.pivoted_cholesky,
            "pivoted_columns": lambda m: lowrank.pivoted_columns(m, 2),
            "volume_columns": lambda m: lowrank.volume_columns(m, 2, RNG),
            "vsv": lowrank.vsv,
            "weighted_columns": lambda m: lowrank.weighted_columns(m, [0, 1]),
        }.items()
    },
    "unbend.mvu.solve_semidefinite": Entry(
        lambda cost: mvu.solve_semidefinite(cost, [np.eye(40)], [1.0]),
        "cost",
        allowed=ANY_SCALE
        | SYMMETRIC
        | dict.fromkeys(("no rows", "one dimension"), "is not square either"),
        good=GRAM,
    ),
    "unbend.plot.scatter": Entry(
        plot.scatter, "embedding", allowed=ONE_COLUMN | {"1e155": "axes have any unit"}
    ),
    "unbend.plot.contact_sheet": Entry(
        lambda rows: plot.contact_sheet({"a": rows}),
        "embedding",
        allowed=ONE_COLUMN | {"1e155": "axes have any unit"},
    ),
}

VALUES = "holds results or parameters; data do not pass through it"
CORE = "takes values of the core that were checked before; its refusals are in tests/stages"
GRAPHS = "takes a sparse graph; lengths and weights are tested below and in tests/stages"
PICTURE = "draws what a function of this table, or an estimator, checks"
EXEMPT = {
    "unbend.Fat": VALUES,
    "unbend.Nystrom": VALUES,
    "unbend.Prepare": "takes tables with text, dates and gaps; tests/prepare",
    "unbend.OutOfDistributionWarning": VALUES,
    "unbend.PrecisionWarning": VALUES,
    "unbend.Report": VALUES,
    "unbend.ScaleWarning": VALUES,
    "unbend.load": "reads files",
    "unbend.memory_limit": VALUES,
    "unbend.monitoring": VALUES,
    "unbend.progress_bar": VALUES,
    "unbend.show_versions": VALUES,
    "unbend.view": "checked in tests/test_viewers.py",
    **{f"unbend.{e.class_name}": "its fit is that of a method of this table" for e in CLUSTERINGS},
    "unbend.quality.widest_gap": "takes a vector of eigenvalues; tests/test_spread.py",
    **{
        f"unbend.plot.{name}": PICTURE
        for name in plot.__all__
        if f"unbend.plot.{name}" not in TABLE
    },
    **{
        f"unbend.lowrank.{name}": "takes sizes, operators or blocks; tests/lowrank"
        for name in (
            "largest_eigenvalue",
            "largest_singular",
            "nystrom_extension",
            "orthogonal_nystrom",
            "random_columns",
            "random_matrix",
            "sketch_matrix",
            "sparse_signs",
            "apply_sketch",
            "guaranteed_distortion",
            "guaranteed_exponent",
            "johnson_lindenstrauss",
            "length_tails",
        )
    },
    **{
        f"unbend.graphs.{name}": GRAPHS
        for name in graphs.__all__
        if name[0].islower() and name not in ("consistency", "find_short_circuits")
    },
    **{
        f"unbend.neighbors.{name}": CORE
        for name in neighbors.__all__
        if name[0].islower() and name != "open_space"
    },
    **{
        f"unbend.mvu.{name}": "takes edges or neighbours of the core; tests/mvu"
        for name in mvu.__all__
        if name[0].islower() and name != "solve_semidefinite"
    },
    **{
        f"unbend.scale.{name}": "takes Dask collections; tests/scale/test_mistakes.py"
        for name in ("estimate_cost", "map_rows", "measure_quality", "nearest_neighbors")
    },
    "unbend.scale.open_rows": "part of fits, in tests/scale/test_mistakes.py",
}
# Modules whose public functions take data.
MODULES = [
    "",
    ".quality",
    ".dimension",
    ".selection",
    ".lowrank",
    ".graphs",
    ".mvu",
    ".plot",
    ".neighbors",
]
# Its names take Dask collections, which have mistakes of their own: tests/scale/test_mistakes.py.
if find_spec("distributed"):
    MODULES.append(".scale")


def public_names() -> set[str]:
    """Public functions, and the estimators of `unbend`; other classes are values."""
    names = set()
    for ending in MODULES:
        module = import_module(f"unbend{ending}")
        for name in module.__all__:
            found = getattr(module, name)
            if callable(found) and (ending == "" or not isinstance(found, type)):
                names.add(f"unbend{ending}.{name}")
    # Functions that two modules offer are one.
    twice = {name for name in names if name.replace(".selection", "") in names}
    return names - {name for name in twice if ".selection" in name}
