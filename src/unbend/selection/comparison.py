"""Comparison of methods and parameters by several quality measures."""

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from itertools import product
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone

from unbend.arrays import FloatArray
from unbend.progress import advance, monitoring
from unbend.registry import entry_of
from unbend.selection._common import check_estimator, check_points, make_method
from unbend.selection.format import reasons, table
from unbend.selection.judging import BETTER, make_judge
from unbend.validation.scalars import check_integer, refusal
from unbend.validation.threads import threads

# Methods that are compared when none are named: no labels, no chance, and one of each kind.
USUAL = ("PCA", "Isomap", "LLE", "LTSA", "HessianLLE", "LaplacianEigenmaps", "DiffusionMaps")


@dataclass(frozen=True, eq=False)
class Trial:
    """One method with its parameters.

    Attributes
    ----------
    title : str
        Method, and the parameters that were varied.
    estimator : estimator
        Fitted; not fitted where it failed.
    embedding : array (n, d) or None
        Coordinates, or None where it failed.
    measures : mapping of str to float
        What was measured; empty where it failed.
    seconds : float
        Time of the fit.
    mean_rank : float
        Mean of its ranks by all measures; infinite where it failed.
    failure : str
        The sentence with which it failed, or nothing.
    warnings : tuple of str
        What the fit warned of.
    reason : str
        What it is best at, and what is poor.
    """

    title: str
    estimator: Any
    measures: Mapping[str, float]
    seconds: float
    embedding: FloatArray | None = None
    mean_rank: float = np.inf
    failure: str = ""
    warnings: tuple[str, ...] = ()
    reason: str = ""

    @property
    def shown(self) -> Any:
        """What `unbend.plot` draws: the estimator, or the coordinates of one of another library."""
        return self.estimator if hasattr(self.estimator, "embedding_") else self.embedding


@dataclass(frozen=True, eq=False)
class Comparison:
    """Trials, best first; printable.

    Attributes
    ----------
    trials : list of Trial
        Best first by the mean of their ranks.
    """

    trials: list[Trial]

    @property
    def best(self) -> Any:
        """The fitted estimator of the first trial."""
        if self.trials[0].failure:
            raise ValueError(f"no method succeeded; the first said: {self.trials[0].failure}")
        return self.trials[0].estimator

    def contact_sheet(self, color: Any = None, **options: Any) -> Any:
        """Draw all embeddings, best first, as `unbend.plot.contact_sheet` does."""
        from unbend.plot import contact_sheet

        found = {trial.title: trial.shown for trial in self.trials if not trial.failure}
        return contact_sheet(found, color, **options)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return plain numbers by title, best first: pandas.DataFrame.from_dict(…, 'index')."""
        return {
            trial.title: {**trial.measures, "seconds": trial.seconds, "mean_rank": trial.mean_rank}
            for trial in self.trials
        }

    def __str__(self) -> str:
        return table(self.trials)


def compare(
    X: Any,
    methods: Iterable[Any] | Mapping[str, Any] | None = None,
    *,
    n_components: int = 2,
    parameters: Mapping[str, Sequence[Any]] | None = None,
    truth: Any = None,
    labels: Any = None,
    n_neighbors: int = 10,
    max_rows: int = 1000,
    n_jobs: int | None = None,
) -> Comparison:
    """Fit methods with parameters side by side, and rank them by several measures.

    The measures are trustworthiness, continuity, the area under R_NX and the redundancy of
    coordinates; with `truth` also Procrustes and isometry errors and colour mixing, with `labels`
    the neighbourhood hit. Trials are ordered by `mean_rank`, the mean of their ranks by measure:
    one that is good by all measures precedes one that wins by a single one. It says which is
    better, not whether any is good: read the values too. Rank-based measures compare with
    straight-line distances, so for rolled-up surfaces only small neighbourhoods are informative.

    Parameters
    ----------
    X : array (n, D)
        Points.
    methods : iterable of str, classes or estimators, or mapping of titles to them
        Methods; by default one of each kind. Estimators of other libraries are judged by the same
        measures: any with `get_params` and `fit`, such as umap.UMAP(), pacmap.PaCMAP() or
        openTSNE.TSNE().
    n_components : int
        Dimensions, for methods given by name or class.
    parameters : mapping of str to sequence
        Values to try for each parameter, in all combinations; a method uses those it has.
    truth : array (n, d), optional
        True coordinates, if they are known.
    labels : array (n,), optional
        Classes.
    n_neighbors : int
        Size of the neighbourhoods that are looked at by the measures.
    max_rows : int
        At most this many rows are centres of neighbourhoods in the measures.
    n_jobs : int, optional
        Number of trials that run at the same time, in threads: -1 means all available cores, -2
        all but one. At most four per core are started.

    Returns
    -------
    Comparison
        A printable table; `best`, `trials`, `contact_sheet`.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(600, random_state=0)
    >>> found = compare(roll.points, ["PCA", "LTSA"], parameters={"n_neighbors": [8, 12]})
    >>> [trial.title for trial in found.trials][-1]
    'PCA'
    """
    points = check_points(X)
    d = check_integer("n_components", n_components)
    if not isinstance(parameters, Mapping | None):
        raise TypeError(refusal("parameters", parameters, "a dict or None"))
    planned = list(_plan(methods, d, dict(parameters or {})))
    if not planned:
        raise ValueError("there is nothing to compare: name at least one method")
    judge = make_judge(points, truth, labels, n_neighbors, max_rows)
    # Fits inside tell nobody of their stages: only whole trials count here.
    quiet = [copy_context() for _ in planned]
    jobs = (
        joblib.delayed(context.run)(_try, title, estimator, points, judge)
        for context, (title, estimator) in zip(quiet, planned, strict=True)
    )
    done = []
    advance("compare", 0, len(planned))
    # None leaves the number to joblib's own configuration.
    most = None if n_jobs is None else threads(n_jobs)
    running = joblib.Parallel(n_jobs=most, prefer="threads", return_as="generator")
    # What fits warn of is kept with them. Filters hold for all threads, so they are set here.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for trial in running(jobs):
            done.append(trial)
            advance("compare", len(done), len(planned))
    return Comparison(_rank(done))


def _plan(methods: Any, d: int, parameters: dict[str, Sequence[Any]]) -> Iterable[tuple[str, Any]]:
    """Titles and estimators of all combinations."""
    given = methods if methods is not None else USUAL
    if isinstance(given, str):
        raise TypeError(f"methods must be a list: [{given!r}] instead of {given!r}")
    items = given.items() if isinstance(given, Mapping) else ((None, method) for method in given)
    made_of = [(title, _estimator(method, d)) for title, method in items]
    for parameter, values in parameters.items():
        if not any(parameter in estimator.get_params() for _, estimator in made_of):
            raise ValueError(f"none of the methods has a parameter {parameter!r}")
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise TypeError(f"the values of {parameter!r} to try must be a list, not {values!r}")
    for title, estimator in made_of:
        own = [name for name in parameters if name in estimator.get_params()]
        name = str(title or type(estimator).__name__)
        for values in product(*(parameters[parameter] for parameter in own)):
            chosen = dict(zip(own, values, strict=True))
            shown = ", ".join(f"{key}={value}" for key, value in chosen.items())
            yield name + (f" {shown}" if shown else ""), clone(estimator).set_params(**chosen)


def _estimator(method: Any, d: int) -> Any:
    if isinstance(method, str):
        return make_method(method, n_components=d)
    if isinstance(method, type) and hasattr(method, "get_params"):
        return method(n_components=d)
    return check_estimator("method", method)


def _try(title: str, estimator: Any, points: FloatArray, judge: Callable[..., Any]) -> Trial:
    """Fit and measure; what fails says so, and the others go on."""
    start = time.perf_counter()
    with monitoring(lambda progress: None):
        # Libraries other than ours may raise anything.
        ours = entry_of(estimator) is not None
        kinds = (ValueError, TypeError, ArithmeticError, MemoryError) if ours else (Exception,)
        try:
            found = _embed(estimator, points)
            seconds = time.perf_counter() - start
            measures = judge(np.asarray(found, dtype=np.float64))
        except kinds as error:
            return Trial(title, estimator, {}, time.perf_counter() - start, failure=str(error))
    report = getattr(estimator, "report_", None)
    said = () if report is None else tuple(report.warnings)
    return Trial(title, estimator, measures, seconds, found, warnings=said)


def _embed(estimator: Any, points: FloatArray) -> FloatArray:
    """Fit an estimator and return its coordinates; openTSNE's `fit` returns them itself."""
    if not hasattr(estimator, "fit") and not hasattr(estimator, "fit_transform"):
        raise TypeError(f"{type(estimator).__name__} has neither fit nor fit_transform")
    result = estimator.fit(points) if hasattr(estimator, "fit") else None
    if hasattr(estimator, "embedding_"):
        return np.asarray(estimator.embedding_)
    if isinstance(result, np.ndarray):
        return np.asarray(result)
    return np.asarray(estimator.fit_transform(points))


def _rank(trials: list[Trial]) -> list[Trial]:
    """Best first, each with its mean rank and the reason for it."""
    good = [trial for trial in trials if not trial.failure]
    ranks = np.zeros(len(good))
    names = [name for name in BETTER if good and name in good[0].measures]
    for name in names:
        values = np.array([trial.measures[name] for trial in good])
        # Differences in the fourth digit are chance: they share a rank.
        values = np.round(-values if BETTER[name] else values, 3)
        ranks += np.array([1 + np.sum(values < value) for value in values]) / len(names)
    why = reasons([trial.measures for trial in good], BETTER)
    parts = ("title", "estimator", "measures", "seconds", "embedding", "failure", "warnings")
    ranked = [
        Trial(**{part: getattr(trial, part) for part in parts}, mean_rank=float(rank), reason=words)
        for trial, rank, words in zip(good, ranks, why, strict=True)
    ]
    failed = [trial for trial in trials if trial.failure]
    return sorted(ranked, key=lambda trial: trial.mean_rank) + failed
