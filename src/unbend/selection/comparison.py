"""Comparison of methods and parameters by several quality measures."""

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, replace
from itertools import product
from textwrap import wrap
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone

from unbend.arrays import FloatArray
from unbend.docstrings import complete_docstring
from unbend.neighbors import MetricName
from unbend.progress import advance, monitoring
from unbend.registry import entry_of
from unbend.report import html_table
from unbend.selection.dimensions import DimensionChoice, vote_on_dimension
from unbend.selection.format import (
    HEADS,
    WIDTH,
    figures,
    measure_names,
    pluralize,
    reasons,
    remarks,
    table,
)
from unbend.selection.inputs import (
    PARAMETERS,
    Data,
    Kind,
    check_estimator,
    make_method,
    open_data,
    set_metric,
)
from unbend.selection.judging import BETTER, WEIGHTS, degeneracy, make_judge
from unbend.validation.scalars import check_integer, refusal, suggest_name
from unbend.validation.threads import threads

# Characters of a parameter that a title shows, at most.
SHORT = 24
# Methods that are compared when none are named: no labels, no chance, and one of each kind.
OF_GRAPHS = ("LaplacianEigenmaps", "DiffusionMaps", "NeighborEmbedding")
OTHERS = ("MetricMDS", "Isomap", "LLE", "LTSA", "HessianLLE", "RigidAlignment", *OF_GRAPHS)
USUAL: Mapping[Kind, tuple[str, ...]] = {
    "points": ("PCA", *OTHERS),
    "distances": ("ClassicalMDS", *OTHERS),
    "graph": ("Isomap", *OF_GRAPHS),
}


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

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(300, random_state=0)
    >>> trial = unbend.compare(roll.points, ["PCA"]).trials[0]
    >>> trial.title, 0 < trial.measures["trustworthiness"] < 1
    ('PCA', True)
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
    def degenerate(self) -> bool:
        """Whether its coordinates are redundant or its picture is a few specks."""
        return degeneracy(self.measures) > 0

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
        Best first by the mean of their ranks; degenerate ones after all others.
    dimension : DimensionChoice or None
        The intrinsic dimension of the data; None where they are too few.
    n_components : int
        Coordinates of methods given by name or class.
    scaling : str
        How columns were scaled before, and why; empty if they were not.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(300, random_state=0)
    >>> found = unbend.compare(roll.points, ["PCA", "LTSA"], truth=roll.chart)
    >>> found.trials[0].title, type(found.best).__name__
    ('LTSA', 'LTSA')
    """

    trials: list[Trial]
    dimension: DimensionChoice | None
    n_components: int
    scaling: str = ""

    @property
    def best(self) -> Any:
        """The fitted estimator of the first trial."""
        if self.trials[0].failure:
            raise ValueError(f"no method succeeded; the first said: {self.trials[0].failure}")
        return self.trials[0].estimator

    @property
    def headline(self) -> str:
        """The intrinsic dimension, and in how many coordinates methods were compared."""
        verdict = "not determined" if self.dimension is None else self.dimension.verdict
        m = self.n_components
        return f"intrinsic dimension {verdict}, compared in {pluralize(m, 'coordinate')}"

    def notes(self) -> list[str]:
        """Return sentences about all trials: scaling, and whether none is of use."""
        unusable = all(trial.failure or trial.degenerate for trial in self.trials)
        none = "no method gave a usable picture: every one is redundant, a few specks or failed"
        return [self.scaling] * bool(self.scaling) + [none] * unusable

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
        lines = [part for note in (self.headline, *self.notes()) for part in wrap(note, WIDTH)]
        return "\n".join([*lines, table(self.trials)])

    def _repr_html_(self) -> str:
        names = measure_names(self.trials)
        heads = ("method", *(HEADS[name][1] for name in names), "mean rank", "seconds", "remarks")
        rows = [
            (trial.title, *figures(trial, names), "; ".join(remarks(trial)))
            for trial in self.trials
        ]
        return html_table(self.headline, heads, rows, sentences=self.notes())


@complete_docstring(PARAMETERS)
def compare(
    X: Any,
    methods: Iterable[Any] | Mapping[str, Any] | None = None,
    *,
    n_components: int = 2,
    parameters: Mapping[str, Sequence[Any]] | None = None,
    metric: MetricName | None = None,
    scale: str = "auto",
    missing: str = "error",
    truth: Any = None,
    labels: Any = None,
    n_neighbors: int = 10,
    max_rows: int = 1000,
    n_jobs: int | None = None,
) -> Comparison:
    """Fit methods with parameters side by side, and rank them by several measures.

    The measures are trustworthiness, continuity, the area under R_NX, the redundancy of
    coordinates and the occupancy of the picture; with `truth` also Procrustes and isometry errors
    and colour mixing, with `labels` the neighbourhood hit. Trials are ordered by `mean_rank`, the
    weighted mean of their ranks by measure, where values that agree to three digits share a rank.
    All weights are 1 but those of redundancy and occupancy, which are 0: one that is good by all
    measures precedes one that wins by a single one. A trial with a coordinate that is a function of
    another (redundancy above 0.8) comes after all others, and one with most points in a few specks
    (occupancy below 0.1) after these.

    The order says which is better, not whether any is good: read the values too. Rank-based
    measures compare with straight-line distances, so for rolled-up surfaces only small
    neighbourhoods are informative; distances and graphs are compared with what they hold, and
    graphs with lengths of shortest paths.

    Parameters
    ----------
    methods : iterable of str, classes or estimators, or mapping of titles to them
        Methods; by default one of each kind that takes such data.
        Estimators of other libraries are judged by the same measures: any with `get_params` and
        `fit`, such as umap.UMAP(), pacmap.PaCMAP() or openTSNE.TSNE().
    n_components : int
        Dimensions, for methods given by name or class.
    parameters : mapping of str to sequence
        Values to try for each parameter, in all combinations; a method uses those it has. A name
        such as ``"Isomap__n_neighbors"`` is the parameter of that method alone.
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
    data = open_data(X, metric, scale, missing)
    d = check_integer("n_components", n_components)
    if not isinstance(parameters, Mapping | None):
        raise TypeError(refusal("parameters", parameters, "a dict or None"))
    given = methods if methods is not None else USUAL[data.kind]
    planned = list(_plan(given, d, dict(parameters or {})))
    if not planned:
        raise ValueError("there is nothing to compare: name at least one method")
    judge = make_judge(data, truth, labels, n_neighbors, max_rows)
    # Fits inside tell nobody of their stages: only whole trials count here.
    quiet = [copy_context() for _ in planned]
    jobs = (
        joblib.delayed(context.run)(_try, title, estimator, data, judge)
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
        return Comparison(_rank(done), _dimension(data), d, data.scaling)


def _dimension(data: Data) -> DimensionChoice | None:
    """Let the rules vote, unless the distinct rows are too few for them."""
    with monitoring(lambda progress: None):
        try:
            return vote_on_dimension(data)
        except ValueError:
            return None


def _plan(given: Any, d: int, parameters: dict[str, Sequence[Any]]) -> Iterable[tuple[str, Any]]:
    """Titles and estimators of all combinations."""
    if isinstance(given, str):
        raise TypeError(f"methods must be a list: [{given!r}] instead of {given!r}")
    items = given.items() if isinstance(given, Mapping) else ((None, method) for method in given)
    made_of = _titled([(title, _estimator(method, d)) for title, method in items])
    for parameter, values in parameters.items():
        if not any(_own_name(parameter, estimator) for _, estimator in made_of):
            known = sorted({name for _, estimator in made_of for name in estimator.get_params()})
            meant = suggest_name(parameter, known)
            raise ValueError(
                f"none of the methods has a parameter {parameter!r}: "
                + (f"use {meant!r}" if meant else f"there are {', '.join(known)}")
            )
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise TypeError(f"the values of {parameter!r} to try must be a list, not {values!r}")
    for title, estimator in made_of:
        # What is meant for one method overrides what is meant for all.
        keys = sorted(parameters, key=lambda key: key not in estimator.get_params())
        own = {_own_name(key, estimator): parameters[key] for key in keys}
        own.pop("", None)
        for values in product(*own.values()):
            chosen = dict(zip(own, values, strict=True))
            shown = ", ".join(f"{key}={value}" for key, value in chosen.items())
            yield title + (f" {shown}" if shown else ""), clone(estimator).set_params(**chosen)


def _titled(estimators: Sequence[tuple[Any, Any]]) -> list[tuple[str, Any]]:
    """Estimators with titles: that given, or the class with the parameters by which two differ.

    Examples
    --------
    >>> from unbend import PCA
    >>> [title for title, _ in _titled([(None, PCA()), (None, PCA(3)), ("mine", PCA(3))])]
    ['PCA n_components=2', 'PCA n_components=3', 'mine']
    >>> [title for title, _ in _titled([(None, PCA()), (None, PCA())])]
    ['PCA', 'PCA (2)']
    """
    kinds = [type(estimator) for _, estimator in estimators]
    values = [
        {key: repr(value) for key, value in estimator.get_params(deep=False).items()}
        for _, estimator in estimators
    ]
    titles: list[str] = []
    for (given, _), kind, own in zip(estimators, kinds, values, strict=True):
        title, alike = kind.__name__, [v for k, v in zip(kinds, values, strict=True) if k is kind]
        package = kind.__module__.partition(".")[0]
        if package != "unbend" and any(k.__name__ == title and k is not kind for k in kinds):
            title = f"{package}.{title}"
        shown = [
            f"{key}={own[key]}"
            for key in own
            if len(own[key]) <= SHORT and any(other.get(key) != own[key] for other in alike)
        ]
        title = f"{title} {', '.join(shown)}" if shown else title
        title = title if given is None else str(given)
        before = sum(title == other.partition(" (")[0] for other in titles)
        titles.append(f"{title} ({before + 1})" if before else title)
    return [(title, estimator) for title, (_, estimator) in zip(titles, estimators, strict=True)]


def _own_name(parameter: str, estimator: Any) -> str:
    """Return a parameter as the estimator calls it: without the method's name, or "" if not its.

    Examples
    --------
    >>> from unbend import PCA
    >>> [_own_name(name, PCA()) for name in ("n_components", "PCA__n_components", "LLE__reg")]
    ['n_components', 'n_components', '']
    """
    known = estimator.get_params()
    if parameter in known:
        return parameter
    method, _, name = parameter.partition("__")
    return name if method == type(estimator).__name__ and name in known else ""


def _estimator(method: Any, d: int) -> Any:
    if isinstance(method, str):
        return make_method(method, n_components=d)
    if isinstance(method, type) and hasattr(method, "get_params"):
        return method(n_components=d)
    return check_estimator("method", method)


def _try(title: str, estimator: Any, data: Data, judge: Callable[..., Any]) -> Trial:
    """Fit and measure; what fails says so, and the others go on."""
    start = time.perf_counter()
    with monitoring(lambda progress: None):
        # Libraries other than ours may raise anything.
        ours = entry_of(estimator) is not None
        kinds = (ValueError, TypeError, ArithmeticError, MemoryError) if ours else (Exception,)
        try:
            # Theirs may write into the rows that judge all of them.
            rows = data.rows if ours else data.rows.copy()
            found = _embed(set_metric(estimator, data), rows, ours=ours)
            seconds = time.perf_counter() - start
            measures = judge(found)
        except kinds as error:
            return Trial(title, estimator, {}, time.perf_counter() - start, failure=str(error))
    report = getattr(estimator, "report_", None)
    said = () if report is None else tuple(report.warnings)
    return Trial(title, estimator, measures, seconds, found, warnings=said)


def _embed(estimator: Any, points: FloatArray, *, ours: bool) -> FloatArray:
    """Fit an estimator, once, and return its coordinates; openTSNE's `fit` returns them itself."""
    if not ours and hasattr(estimator, "fit_transform"):
        return _coordinates(estimator.fit_transform(points))
    if not hasattr(estimator, "fit"):
        raise TypeError(f"{type(estimator).__name__} has neither fit nor fit_transform")
    result = estimator.fit(points)
    if hasattr(estimator, "embedding_"):
        return _coordinates(estimator.embedding_)
    if isinstance(result, np.ndarray):
        return _coordinates(result)
    raise TypeError(
        f"{type(estimator).__name__} has no coordinates: neither fit_transform nor embedding_"
    )


def _coordinates(found: Any) -> FloatArray:
    """Coordinates without what other libraries keep with them."""
    return np.array(found.toarray() if hasattr(found, "toarray") else found, dtype=np.float64)


def _rank(trials: list[Trial]) -> list[Trial]:
    """Best first, each with its mean rank and the reason for it; degenerate ones, failures last."""
    good = [trial for trial in trials if not trial.failure]
    ranks, firsts, total = np.zeros(len(good)), np.zeros(len(good)), 0.0
    for name, weight in WEIGHTS.items():
        if good and name in good[0].measures:
            values = np.array([trial.measures[name] for trial in good])
            # Differences in the fourth digit are chance: they share a rank.
            values = np.round(-values if BETTER[name] else values, 3)
            places = np.array([1 + np.sum(values < value) for value in values])
            ranks += weight * places
            firsts += weight * (places == 1)
            total += weight
    why = reasons([trial.measures for trial in good])
    # Of equal mean ranks the one that is best by more measures comes first.
    keys = [
        (degeneracy(trial.measures), float(rank) / total, -float(first))
        for trial, rank, first in zip(good, ranks, firsts, strict=True)
    ]
    ranked = [
        replace(good[place], mean_rank=keys[place][1], reason=why[place])
        for place in sorted(range(len(good)), key=keys.__getitem__)
    ]
    return ranked + [trial for trial in trials if trial.failure]
