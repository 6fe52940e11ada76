"""Recognition in a subspace: is a sample of this kind, is its class known, which class is it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from unbend.arrays import FloatArray, IntArray
from unbend.eigen import fix_signs
from unbend.estimators.embedding import Model, seed_param
from unbend.estimators.inputs import check_input
from unbend.extension import Linear
from unbend.gram.principal import exact_axes, full_axes
from unbend.lazy import by_partitions
from unbend.lowrank.bounds import johnson_lindenstrauss
from unbend.lowrank.sketch import orthogonalize, random_matrix
from unbend.recognition import (
    Examples,
    acceptance_threshold,
    false_acceptance_threshold,
    hold_out,
    place_examples,
)
from unbend.report import note, recording, stage
from unbend.validation.parameters import (
    FLAG,
    FUNCTION,
    MAPPING,
    NOTHING,
    Choice,
    Integer,
    Matching,
    Real,
    check_parameters,
    declare,
    first_param,
    param,
)
from unbend.validation.random_state import generator

KNOWN, NEW, OTHER = "known", "new", "not of this kind"
# Share of the variance, and distortion of distances, by which 'auto' chooses the dimension. The
# share, the score of `Examples.search` and the shrinkage are the best of those tried on rendered
# heads and on letters (benchmarks/recognition_choice.py), not on the faces that they are judged on.
VARIANCE, DISTORTION = 0.98, 0.5
# Rounding of a distance to the subspace, in units of the longest row.
EPS = 64 * float(np.finfo(np.float64).eps)
LABEL = Matching(lambda value: isinstance(value, str | int | float | np.generic), "a label")


@final
@dataclass(frozen=True, eq=False)
class Identification:
    """What a recognizer found about each sample.

    Attributes
    ----------
    status : array (m,) of str
        ``"known"``: of a class of the training data; ``"new"``: of the same kind as the training
        data, but of none of its classes; ``"not of this kind"``.
    label : array (m,) of object
        Label of the samples that are known, None for the others.
    nearest : array (m,) of int
        Row of the nearest training example.
    subspace_distance : array (m,)
        Distance to the subspace.
    example_distance : array (m,)
        Distance to the nearest training example, in the subspace.
    within_distance : array (m,)
        Euclidean distance in the subspace to the nearest example, whatever the metric.
    score : array (m,)
        The number that was compared with `example_threshold_`.
    """

    status: np.ndarray[Any, Any]
    label: np.ndarray[Any, Any]
    nearest: IntArray
    subspace_distance: FloatArray
    example_distance: FloatArray
    within_distance: FloatArray
    score: FloatArray

    def __len__(self) -> int:
        return len(self.status)


@final
@by_partitions
@declare
class SubspaceRecognizer(ClassifierMixin, Model):
    """Recognition in a subspace, as by eigenfaces: of this kind or not, known or new, and who.

    The subspace is spanned by principal components or drawn at random. A sample far from it is not
    of the kind of the training data, nor is one that is farther from all examples than samples of
    new classes are; one that is near, but not near enough to an example, is new; all others get the
    label of the nearest example. `predict` ignores the thresholds unless `unknown_label` is given;
    `identify` applies them.

    Thresholds are learnt from held-out classes: each group of classes is left out in turn, and
    its samples play strangers to a recognizer of the others. Distances to examples are measured
    relative to the spread of the class and to the nearest example of another class, so that one
    threshold suits classes that vary little and classes that vary much. Classes, not samples, are
    independent: with few of them a threshold stays on the safe side of its rate, and a rate
    that they cannot support is warned of.

    Attributes
    ----------
    classes_ : array (n_classes,)
        The labels.
    mean_ : array (n_features,)
        Mean of the training samples.
    components_ : array (n_components, n_features)
        Axes of the subspace: orthonormal for ``"pca"``, orthogonal with squared length D/k for
        ``"random_projection"``.
    discriminant_ : array (n_components, n_classes - 1) or None
        Discriminant directions in the subspace, scaled to unit variance within classes.
    embedding_ : array (n_samples, k)
        Coordinates of the training samples: in the subspace, or along the discriminant directions.
    spread_ : array (n_classes,)
        Mean distance of an example to the nearest other one of its class, averaged with that of
        all classes.
    subspace_threshold_ : float
        Distance to the subspace up to which samples are of this kind; infinite where the subspace
        is the whole space.
    within_threshold_ : float
        Euclidean distance in the subspace to the nearest example up to which samples are of this
        kind; infinite where `subspace_threshold` is given.
    example_threshold_ : float
        Relative distance to the nearest example up to which samples are known; where
        `example_threshold` is given, the distance itself.

    References
    ----------
    Turk and Pentland, J. Cognitive Neuroscience 3 (1991); with a discriminant: Belhumeur, Hespanha
    and Kriegman, IEEE PAMI 19 (1997). Book sections 5.3.2 and 7.4.1.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> import unbend
    >>> X, y = load_digits(return_X_y=True)
    >>> zero_to_seven = y < 8
    >>> model = unbend.SubspaceRecognizer(discriminant=True, false_acceptance=0.2)
    >>> model = model.fit(X[zero_to_seven], y[zero_to_seven])
    >>> float((model.predict(X[zero_to_seven]) == y[zero_to_seven]).mean())
    1.0
    >>> found = model.identify(16 - X[:3])
    >>> found.status.tolist(), found.label.tolist()
    (['not of this kind', 'not of this kind', 'not of this kind'], [None, None, None])
    """

    n_components: Any = first_param(
        Integer(1),
        Real(0, high=1),
        Choice("auto"),
        default="auto",
        help="Dimension of the subspace, or for 'pca' the share of variance that it keeps. 'auto' "
        "keeps 98 % of the variance; for 'random_projection' it is the Johnson–Lindenstrauss bound "
        "at a distortion of 0.5, at most the number of features.",
        kw_only=False,
    )
    subspace: str = param(
        "pca",
        Choice("pca", "random_projection"),
        help="Subspace: principal components, or orthogonal random directions.",
    )
    discriminant: bool = param(
        False, FLAG, help="Whether distances are measured along discriminant directions (Fisher)."
    )
    shrinkage: Any = param(
        "auto",
        Real(0, closed=True, high=1),
        Choice("auto"),
        help="Weight of the identity in the covariance within classes, for the discriminant; "
        "'auto' estimates the one with the least expected error (Ledoit and Wolf).",
    )
    metric: Any = param(
        None,
        Choice("euclidean", "manhattan", "chebyshev", "minkowski", "angular", "cosine"),
        FUNCTION,
        NOTHING,
        help="Distance to the examples. None: Euclidean, or the chord of the angle with a "
        "discriminant.",
    )
    metric_params: dict[str, Any] | None = param(
        None, MAPPING, NOTHING, help="Parameters of the metric."
    )
    false_acceptance: float = param(
        0.05,
        Real(0, high=1),
        help="Share of samples of new classes that may be accepted as known: sets the threshold on "
        "distances to examples.",
    )
    false_rejection: float = param(
        0.01,
        Real(0, high=1),
        help="Share of samples of this kind, known or new, that may be rejected as not of this "
        "kind: sets the thresholds on distances to and in the subspace.",
    )
    subspace_threshold: float | None = param(
        None, Real(0), NOTHING, help="Distance to the subspace that is accepted; None learns it."
    )
    example_threshold: float | None = param(
        None, Real(0), NOTHING, help="Distance to an example that is accepted; None learns it."
    )
    unknown_label: Any = param(
        None,
        LABEL,
        NOTHING,
        help="Label that `predict` gives to samples that are not known; None: every sample gets "
        "the label of the nearest example.",
    )
    n_folds: int = param(
        30, Integer(2), help="Groups of classes that are held out in turn, at most."
    )
    random_state: Any = seed_param("the random directions and the groups of classes")

    def fit(self, X: Any, y: Any) -> "SubspaceRecognizer":
        """Fit to the rows of X and their labels y.

        Parameters
        ----------
        X : array (n_samples, n_features)
            Rows.
        y : array (n_samples,)
            Labels.
        """
        check_parameters(self)
        with recording(type(self).__name__) as report:
            rows = np.asarray(check_input(self, X, reset=True), dtype=np.float64)
            classes, codes = self._check_labels(y, len(rows))
            rng = generator(self.random_state)
            with stage("subspace"):
                examples = self._fit_examples(rows, codes, rng)
                note(rows=len(rows), classes=len(classes), components=len(examples.projection.axes))
            with stage("thresholds"):
                thresholds = self._thresholds(rows, codes, examples, rng)
                note(subspace=thresholds[0], within=thresholds[1], example=thresholds[2])
        self._forget_file()
        self.report_ = report
        self.classes_ = classes
        self.mean_ = examples.projection.mean
        self.components_ = examples.projection.axes
        self.discriminant_ = examples.turn
        self.embedding_ = examples.space.points
        self.spread_ = examples.spread
        self.subspace_threshold_, self.within_threshold_, self.example_threshold_ = thresholds
        self._examples = examples
        return self

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Label new samples by the nearest example.

        Parameters
        ----------
        X : array (m, n_features)
            New samples.

        Returns
        -------
        array (m,)
            Labels; `unknown_label`, where it is given, for samples that are new or not of this
            kind.
        """
        check_is_fitted(self)
        rows = self._new_samples(X)
        if self.unknown_label is None:
            return np.asarray(self.classes_[self._examples.codes[self._examples.search(rows)[0]]])
        found = self._identify(rows)
        labels = self.classes_[self._examples.codes[found.nearest]]
        both = np.array([labels[0], self.unknown_label])
        # Numbers beside a word stay numbers.
        labels = labels.astype(both.dtype if both.dtype.kind == labels.dtype.kind else object)
        labels[found.status != KNOWN] = self.unknown_label
        return np.asarray(labels)

    def identify(self, X: Any) -> Identification:
        """Find whether new samples are of this kind, whether their class is known, and which it is.

        Parameters
        ----------
        X : array (m, n_features)
            New samples.

        Returns
        -------
        Identification
            Status, label, nearest example and distances of each sample.
        """
        check_is_fitted(self)
        return self._identify(self._new_samples(X))

    def score_samples(self, X: Any) -> FloatArray:
        """Return minus the distance to the subspace: the higher, the more typical.

        Parameters
        ----------
        X : array (m, n_features)
            New samples.

        Returns
        -------
        array (m,)
        """
        check_is_fitted(self)
        return -self._examples.subspace_distance(self._new_samples(X))

    def _identify(self, rows: FloatArray) -> Identification:
        examples = self._examples
        residual, within = examples.subspace_distance(rows), examples.within_distance(rows)
        nearest, distance, relative = examples.search(rows)
        score = relative if self.example_threshold is None else distance
        status = np.where(score <= self.example_threshold_, KNOWN, NEW)
        alike = (residual <= self.subspace_threshold_) & (within <= self.within_threshold_)
        status = np.where(alike, status, OTHER)
        label = self.classes_[examples.codes[nearest]].astype(object)
        label[status != KNOWN] = None
        return Identification(status, label, nearest, residual, distance, within, score)

    def _new_samples(self, X: Any) -> FloatArray:
        rows = np.asarray(check_input(self, X, reset=False), dtype=np.float64)
        return np.asarray(self._as_stored(rows))

    def _check_labels(self, y: Any, n: int) -> tuple[np.ndarray[Any, Any], IntArray]:
        if y is None:
            raise ValueError(
                "SubspaceRecognizer requires y to be passed, but the target y is None: pass labels"
            )
        labels = column_or_1d(y, warn=True)
        if len(labels) != n:
            raise ValueError(f"X has {n} rows and y has {len(labels)} labels: pass one a row")
        check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
        if self.unknown_label is not None and self.unknown_label in classes.tolist():
            raise ValueError(
                f"unknown_label={self.unknown_label!r} is a label of the training data: choose "
                "another one"
            )
        if self.discriminant and not 2 <= len(classes) < n:
            raise ValueError(
                f"discriminant=True and y has {len(classes)} classes of {n} samples: it needs two "
                "classes, and two samples in one of them"
            )
        # Files store words as objects.
        return classes.astype(object) if classes.dtype.kind == "U" else classes, codes

    def _fit_examples(
        self, rows: FloatArray, codes: IntArray, rng: np.random.Generator
    ) -> Examples:
        mean = rows.mean(axis=0)
        if self.subspace == "random_projection":
            axes = self._random_axes(rows.shape, rng)
        else:
            axes = self._principal_axes(rows - mean, rng)
        return self._place(Linear(mean, axes), rows, codes)

    def _place(self, projection: Linear, rows: FloatArray, codes: IntArray) -> Examples:
        return place_examples(
            projection,
            rows,
            codes,
            discriminant=self.discriminant,
            shrinkage=None if self.shrinkage == "auto" else self.shrinkage,
            metric=self.metric,
            metric_params=self.metric_params,
        )

    def _random_axes(self, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        n, columns = shape
        k = self.n_components
        if k == "auto":
            k = min(columns, johnson_lindenstrauss(n, DISTORTION))
        if not isinstance(k, int):
            raise ValueError(
                f"n_components={k!r} is a share of variance, which random directions do not have: "
                "give an integer, or 'auto'"
            )
        self._check_dimension(k, columns, f"X has {columns} features")
        return np.asarray(orthogonalize(random_matrix(k, columns, "gaussian", rng)) / np.sqrt(k))

    def _principal_axes(self, centered: FloatArray, rng: np.random.Generator) -> FloatArray:
        n, columns = centered.shape
        most = min(n - 1, columns)
        k = VARIANCE if self.n_components == "auto" else self.n_components
        if isinstance(k, int):
            self._check_dimension(k, most, f"{n} samples of {columns} features span {most}")
            if not centered.any():
                return np.eye(k, columns)
            return fix_signs(exact_axes(centered, k, rng).axes.T).T
        found = full_axes(centered, most)
        energy = np.cumsum(np.square(found.singular))
        if energy[-1] == 0:
            return np.eye(1, columns)
        count = int(np.searchsorted(energy, (k - 1e-12) * energy[-1])) + 1
        return fix_signs(found.axes[:count].T).T

    @staticmethod
    def _check_dimension(k: int, most: int, why: str) -> None:
        if k > most:
            raise ValueError(f"n_components={k} and {why}: it must be at most {most}")

    def _thresholds(
        self, rows: FloatArray, codes: IntArray, examples: Examples, rng: np.random.Generator
    ) -> tuple[float, float, float]:
        """Return the thresholds, as given or as learnt from held-out classes."""
        subspace, example, within = self.subspace_threshold, self.example_threshold, np.inf
        if subspace is None or example is None:
            self._check_held_out(int(codes.max()) + 1)
            own = rotate_to_few_columns(rows) if self.subspace == "pca" else rows
            found = hold_out(own, codes, self.n_folds, self._fit_like(examples), rng)
            if subspace is None:
                # Rows that lie in the subspace are at a distance of rounding.
                rounding = EPS * float(np.linalg.norm(rows, axis=1).max())
                subspace = acceptance_threshold(found.residuals, self.false_rejection, found.groups)
                within = acceptance_threshold(found.within, self.false_rejection, found.groups)
                subspace, within = max(subspace, rounding), max(within, rounding)
            if example is None and codes.max() > 0:
                example = false_acceptance_threshold(
                    found.scores, self.false_acceptance, found.groups
                )
            elif example is None:
                example = acceptance_threshold(found.scores, self.false_rejection, found.groups)
        if len(examples.projection.axes) == rows.shape[1]:
            subspace = np.inf
        return float(subspace), within, float(example)

    def _check_held_out(self, classes: int) -> None:
        left = classes - -(-classes // min(self.n_folds, classes))
        if not self.discriminant or left > 1:
            return
        remedy = "give example_threshold and subspace_threshold"
        if classes > 2:
            remedy += f", or n_folds={classes}"
        raise ValueError(
            f"discriminant=True and y has {classes} classes, of which one would be left when "
            f"others are held out: {remedy}"
        )

    def _fit_like(self, examples: Examples) -> Callable[[FloatArray, IntArray], Examples]:
        """Return a fit to some of the classes; random directions stay as they are."""

        def fit(rows: FloatArray, codes: IntArray) -> Examples:
            mean, axes = rows.mean(axis=0), examples.projection.axes
            if self.subspace == "pca":
                k = min(len(axes), len(rows) - 1)
                axes = full_axes(rows - mean, k).axes if k else np.zeros((1, rows.shape[1]))
            return self._place(Linear(mean, axes), rows, codes)

        return fit


def rotate_to_few_columns(rows: FloatArray) -> FloatArray:
    """Coordinates of centered rows in their own span, which has all distances between them."""
    centered = np.asarray(rows - rows.mean(axis=0))
    if centered.shape[1] <= centered.shape[0]:
        return centered
    return np.asarray(np.linalg.qr(centered.T, mode="r")).T
