"""Suggestion of a method from measured properties of the data."""

import warnings
from dataclasses import dataclass
from typing import Any, get_args

from sklearn.pipeline import make_pipeline

from unbend.docstrings import complete_docstring
from unbend.graphs.short_circuits import describe_short_circuits
from unbend.neighbors import MetricName
from unbend.prepare import Prepare
from unbend.progress import advance
from unbend.report import html_table
from unbend.selection.case import Case, Purpose
from unbend.selection.findings import NEIGHBORS, Findings, measure
from unbend.selection.format import describe_remedy
from unbend.selection.inputs import PARAMETERS, check_connected, open_data
from unbend.selection.rules import decide, describe_clusters
from unbend.validation.arrays import check_distinct
from unbend.validation.scalars import check_choice, check_integer

# Different rows that spectra and neighbourhoods of a few dimensions need.
DIFFERENT = 10


@dataclass(frozen=True, eq=False)
class Suggestion:
    """A suggested method, with the reasons.

    Attributes
    ----------
    estimator : estimator
        The method with its parameters, not fitted.
    reasons : list of str
        Findings and conclusions, as sentences. The first names the intrinsic dimension and the
        number of coordinates that `estimator` has.
    alternatives : list of estimator
        What else to try, best first.
    findings : Findings
        What was measured.
    preparation : Prepare or None
        The step that turns X into the features that were measured; None if X is used as it is.

    Examples
    --------
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(300, random_state=0)
    >>> found = unbend.suggest(roll.points, for_="chart")
    >>> hasattr(found.estimator, "fit"), len(found.reasons) > 0
    (True, True)
    """

    estimator: Any
    reasons: list[str]
    alternatives: list[Any]
    findings: Findings
    preparation: Prepare | None = None

    @property
    def pipeline(self) -> Any:
        """The estimator for X itself: behind the preparation, if there is one."""
        if self.preparation is None:
            return self.estimator
        return make_pipeline(self.preparation, self.estimator)

    @property
    def title(self) -> str:
        """The method, and the preparation before it, as code."""
        before = "" if self.preparation is None else f" after {_code(self.preparation)}"
        return f"{_code(self.estimator)}{before}"

    def __str__(self) -> str:
        lines = [self.title, *(f"  {reason}" for reason in self.reasons)]
        return "\n".join([*lines, *(f"  {line}" for line in self._also())])

    def _also(self) -> list[str]:
        others = ", ".join(map(_code, self.alternatives))
        return [f"also: {others}"] if others else []

    def _repr_html_(self) -> str:
        return html_table(self.title, sentences=[*self.reasons, *self._also()])


def _code(estimator: Any) -> str:
    """Return an estimator as code on one line."""
    return " ".join(str(estimator).split())


@complete_docstring(PARAMETERS)
def suggest(
    X: Any,
    *,
    for_: Purpose = "picture",
    n_components: int | None = None,
    metric: MetricName | None = None,
    scale: str = "auto",
    missing: str = "error",
    dimension: int | None = None,
    n_rows: int | None = None,
    max_rows: int = 1500,
    random_state: int = 0,
) -> Suggestion:
    """Suggest a method for the data and a purpose, from measurements.

    It measures the intrinsic dimension, the variance outside a plane, connectivity and clusters,
    noise, and whether geodesic distances are Euclidean, which they are not if there is a hole or
    the surface is closed. The conclusions follow from the theory of the methods: Isomap needs a
    convex chart, local methods tolerate holes but no noise, and diffusion maps separate clusters
    and represent closed surfaces.

    The purpose decides the number of coordinates:

    - ``"picture"``, the default: two, whatever the dimension; the reasons say what that loses.
      Where the data have more dimensions, a neighbour embedding preserves neighbourhoods best.
    - ``"chart"``: coordinates of the surface, as many as its intrinsic dimension; one more where
      it closes up.
    - ``"features"``: as many as a later model needs: the upper end where the dimension is a range,
      or enough for 95 % of the variance where it is not determined. All methods suggested have a
      `transform` of single rows.
    - ``"clusters"``: spectral clustering with the number of clusters found; where none are
      found, or `n_components` is given, an embedding in which clusters would separate.

    Thresholds are calibrated on surfaces of one to four dimensions: in more, take the result as a
    first guess and check it with `compare`.

    Parameters
    ----------
    for_ : {"picture", "features", "chart", "clusters"}
        What the embedding is for.
    n_components : int, optional
        Number of coordinates, where the purpose should not decide it.
    dimension : int, optional
        Intrinsic dimension, where it is known.
    n_rows : int, optional
        Number of rows of all data, where X is a sample of them.
    max_rows : int
        Above this number of rows, a random sample of that many is measured.
    random_state : int
        Seed of the sampling.

    Returns
    -------
    Suggestion
        `estimator` is ready to be fitted, and `pipeline` to X itself; printable.

    Examples
    --------
    >>> import unbend
    >>> print(type(suggest(unbend.datasets.square(800, random_state=0).points).estimator).__name__)
    PCA
    >>> holed = suggest(unbend.datasets.swiss_hole(1500, random_state=0).points)
    >>> type(holed.estimator).__name__
    'HessianLLE'
    >>> helix = unbend.datasets.toroidal_helix(800, random_state=0).points
    >>> suggest(helix, for_="chart").reasons[0].partition(": ")[0]
    '800 rows, 3 features, intrinsic dimension 1, closed'
    """
    check_choice("for_", for_, get_args(Purpose))
    for name, value in (
        ("n_components", n_components),
        ("dimension", dimension),
        ("n_rows", n_rows),
    ):
        if value is not None:
            check_integer(name, value)
    data = open_data(X, metric, scale, missing, min_rows=30)
    check_connected(data)
    if n_components is not None and data.kind == "points":
        columns = data.rows.shape[1]
        check_integer("n_components", n_components, 1, columns, f"with {columns} columns")
    sample = data.sample(max_rows, random_state)
    if len(sample) == 1:
        raise ValueError("All rows of X are equal. Pass at least two different points.")
    check_distinct(len(sample), DIFFERENT)
    advance("suggest", 0, 1)
    with warnings.catch_warnings():
        # The reasons include what the fits warn about.
        warnings.simplefilter("ignore")
        found = measure(data, sample, dimension, max(n_rows or 0, data.n), for_ == "chart")
    advance("suggest", 1, 1)
    case = Case(found, for_, n_components, data.metric)
    method, why, others = decide(case)
    reasons = [case.headline(), why, *_remarks(case, method, why)]
    reasons += [data.scaling] if data.scaling else []
    return Suggestion(method, reasons, others, found, data.preparation)


def _remarks(case: Case, method: Any, why: str) -> list[str]:
    """Say what too few coordinates lose, what else was found, and why there are landmarks."""
    found, m = case.found, case.coordinates
    remarks = []
    if case.lossy and case.purpose != "clusters":
        remarks.append(
            f"the best {m} linear coordinates lose {1 - case.explained:.0%} of the variance, those "
            f"of Isomap leave {found.residuals[m - 1]:.0%} of the geodesics unexplained"
        )
    if found.clustered and "clusters" not in why:
        remarks.append(f"{describe_clusters(case)}: for_='clusters' separates them")
    if found.short_circuits:
        jumps = describe_short_circuits(found.short_circuits)
        remedy = describe_remedy(method, _fewer_neighbors(case, method))
        remarks.append(f"with {NEIGHBORS} neighbours, {jumps}: {remedy}")
    if type(method).__name__.startswith("Landmark"):
        remarks.append(f"{found.n} rows: landmarks, since n × n distances are many")
    return remarks


def _fewer_neighbors(case: Case, method: Any) -> int | None:
    """Return the number of neighbours that a method takes, if they are few."""
    number = method.get_params().get("n_neighbors")
    number = case.found.n_neighbors if number == "auto" else number
    return number if number is not None and number < NEIGHBORS else None
