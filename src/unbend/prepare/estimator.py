"""A table of numbers, categories, dates and gaps as features that distances can compare."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from unbend.arrays import FloatArray
from unbend.estimators.embedding import Model
from unbend.lazy import by_partitions, scale
from unbend.prepare.batches import measure, rescale, summarize_batches, with_all_levels
from unbend.prepare.columns import Column, Columns, assemble_columns, read_columns
from unbend.prepare.encoders import (
    CategoryEncoder,
    DateEncoder,
    Encoder,
    NumberEncoder,
    TermEncoder,
    warn_unseen,
)
from unbend.prepare.kinds import (
    UNUSED,
    Inference,
    column_values,
    infer_kind,
    override,
    remark_class_codes,
)
from unbend.prepare.problems import find_problems, refuse_fatal
from unbend.prepare.weights import weigh_encoders
from unbend.units import decide_scale
from unbend.validation.parameters import (
    MAPPING,
    NOTHING,
    Choice,
    check_parameters,
    declare,
    first_param,
    param,
)

# What needs medians or gaps of all rows at once.
BY_RANKS, BY_GAPS = ("robust", "log"), ("most_frequent", "indicator")


@dataclass(frozen=True)
class ColumnSummary:
    """What `Prepare` made of one column.

    Attributes
    ----------
    name, kind, reason : str
    missing : int
        Number of rows without a value.
    features : int
        Number of features; zero if the column is left out.

    Examples
    --------
    >>> import numpy as np
    >>> import unbend
    >>> table = {"size": ["low", "high", "low"], "price": [1.0, np.nan, 3.0]}
    >>> found = unbend.Prepare(missing="median").fit(table).columns_
    >>> [(column.name, column.kind, column.missing) for column in found]
    [('size', 'ordinal', 0), ('price', 'numeric', 1)]
    """

    name: str
    kind: str
    reason: str
    missing: int
    features: int


@final
@by_partitions
@declare
class Prepare(TransformerMixin, Model):
    """Turn a table with columns of any kind into features of equal weight per column.

    Every column is numeric, ordinal, a category, a date, boolean, free text, an id or constant,
    by its values; the last three are left out, but texts are used if `kinds` calls them
    ``"terms"``. Missing values are imputed, numbers scaled, categories one-hot encoded with a
    balanced weight, dates split into elapsed time and phases, and terms weighted by tf-idf.
    However many features a column has, it weighs as much as any other.

    Attributes
    ----------
    columns_ : tuple of ColumnSummary
        Kind of each column, the reason, and the number of its features.
    scale_ : str
        The scaling applied.
    scale_reason_ : str
        Why, in one line.
    problems_ : tuple of Problem
        Missing values, ids, constant and duplicate columns: everything found in one pass.
    kept_rows_ : array (m,)
        Rows of X that were used; all unless ``missing="drop"``.

    Examples
    --------
    >>> import unbend
    >>> table = {
    ...     "income": [1200.0, 3400.0, 2500.0, 1800.0],
    ...     "age": [23, 45, 37, 50],
    ...     "city": ["Bonn", "Kiel", "Bonn", "Mainz"],
    ... }
    >>> prepare = unbend.Prepare().fit(table)
    >>> [(column.name, column.kind, column.features) for column in prepare.columns_]
    [('income', 'numeric', 1), ('age', 'numeric', 1), ('city', 'category', 3)]
    >>> variances = prepare.transform(table).var(axis=0)  # one for every column of the table
    >>> variances[:2].round(6).tolist(), round(float(variances[2:].sum()), 6)
    ([1.0, 1.0], 1.0)
    """

    of_training = ("kept_rows_",)
    private_is_training = False

    scale: str = first_param(
        Choice("auto", "none", "standard", "robust", "range", "log", "gower"),
        default="auto",
        help="Scaling of numeric columns: 'standard' (zero mean, unit variance), 'robust' (median "
        "and interquartile range), 'range' (from 0 to 1), 'log' (signed logarithm, then standard: "
        "for heavy tails), 'gower' (city-block distance of the features is Gower's distance), "
        "'none', or 'auto': standard if units differ, otherwise none.",
        kw_only=False,
    )
    missing: str = param(
        "error",
        Choice("error", "drop", "mean", "median", "most_frequent", "indicator"),
        help="Missing values: refuse them, drop their rows, impute the column's mean, median or "
        "most frequent value, or impute the median and add an indicator feature.",
    )
    categories: str = param(
        "onehot",
        Choice("onehot", "ordinal"),
        help="Encoding of categories: one feature per level, or one integer code.",
    )
    kinds: dict[str, str] | None = param(
        None,
        MAPPING,
        NOTHING,
        help="Kinds of columns by name, where the inferred one is wrong: 'numeric', 'ordinal', "
        "'category', 'date', 'boolean', 'terms' (free text by tf-idf of its terms), 'text', 'id' "
        "or 'constant'; the last three are left out.",
    )
    weights: dict[str, float] | None = param(
        None, MAPPING, NOTHING, help="Weights of columns by name; 1 where none is given."
    )

    def fit(self, X: Any, y: None = None) -> "Prepare":
        """Infer the kinds of the columns and measure their scales.

        Parameters
        ----------
        X : data frame, mapping of columns or array (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        check_parameters(self)
        table = read_columns(X)
        _check_features(self, X, table, reset=True)
        self._fit_columns(table)
        return self

    def _fit_dask(self, X: Any) -> "Prepare":
        """Fit to the partitions of a Dask collection, one at a time."""
        return self.fit_batches(scale().Partitions(X))

    def fit_batches(self, batches: Iterable[Any]) -> "Prepare":
        """Fit to a table larger than memory, in two readings.

        Kinds and the scaling are decided by some rows of every batch, categories, means, standard
        deviations and ranges are those of all rows. Medians would need all rows at once, so
        ``scale="robust"`` and ``"log"`` and ``missing="median"``, ``"most_frequent"`` and
        ``"indicator"`` are refused. `kept_rows_` is empty.

        Parameters
        ----------
        batches : iterable of data frames, mappings of columns or arrays
            Parts of one table, which can be iterated twice.

        Returns
        -------
        self

        Examples
        --------
        >>> import numpy as np
        >>> import unbend
        >>> parts = [{"a": [0.0, 10.0], "b": ["x", "y"]}, {"a": [20.0, 30.0], "b": ["y", "z"]}]
        >>> prepare = unbend.Prepare().fit_batches(parts)
        >>> [column.features for column in prepare.columns_]
        [1, 3]
        >>> np.concatenate([prepare.transform(part)[:, 0] for part in parts]).round(2).tolist()
        [-1.34, -0.45, 0.45, 1.34]
        """
        check_parameters(self)
        for name, refused in (("scale", BY_RANKS), ("missing", ("median", *BY_GAPS))):
            if getattr(self, name) in refused:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} needs all rows at once. Pass scale='standard' "
                    "or 'range', and missing='drop' or 'mean'."
                )
        summary = summarize_batches(batches)
        _check_features(self, None, summary.sample, reset=True)
        self._fit_columns(summary.sample)
        encoders = tuple(with_all_levels(self._encoders, summary))
        found = measure(encoders, (self._complete(read_columns(batch)) for batch in batches))
        pairs = [rescale(e, m, self.scale_) for e, m in zip(encoders, found, strict=True)]
        self._encoders: tuple[Encoder, ...] = weigh_encoders(
            [encoder for encoder, _ in pairs],
            [partial(float, v) for _, v in pairs],
            self.scale_,
            self.weights or {},
        )
        self.kept_rows_: Any = np.arange(0)
        counts = {encoder.name: len(encoder.features) for encoder in self._encoders}
        self.columns_: tuple[ColumnSummary, ...] = tuple(
            replace(c, missing=summary.missing[c.name], features=counts.get(c.name, 0))
            for c in self.columns_
        )
        return self

    def _complete(self, table: Columns) -> list[Column]:
        """Return the columns that encoders take, of the rows that are kept."""
        by_name = {column.name: column for column in table.columns}
        columns = [by_name[encoder.name] for encoder in self._encoders]
        refuse_fatal(find_problems(columns, self._known_kinds(), self.missing))
        gaps = np.any([column.missing for column in columns], axis=0)
        return _take(columns, np.flatnonzero(~gaps)) if self.missing == "drop" else columns

    def _known_kinds(self) -> dict[str, Inference]:
        """Return kinds by which the gaps of new samples are judged: a text may be missing."""
        return {
            e.name: Inference("terms" if isinstance(e, TermEncoder) else "numeric", "")
            for e in self._encoders
        }

    def _fit_columns(self, table: Columns) -> None:
        inferences = self._infer(table)
        self.problems_ = find_problems(table.columns, inferences, self.missing)
        refuse_fatal(self.problems_)
        used = [c for c in table.columns if inferences[c.name].kind not in UNUSED]
        if not used:
            raise ValueError(
                "No column of X gives features: all are ids, free text or constant. Override the "
                "kinds with kinds={column: kind}."
            )
        self.kept_rows_ = self._keep_rows(used)
        columns = _take(used, self.kept_rows_)
        scale, reason = self._choose_scale(columns, inferences)
        self.scale_: str = scale
        self.scale_reason_: str = reason
        self._fit_encoders(columns, inferences)
        self._library = table.library
        counts = {encoder.name: len(encoder.features) for encoder in self._encoders}
        self.columns_ = tuple(
            ColumnSummary(
                column.name,
                inferences[column.name].kind,
                inferences[column.name].reason,
                int(column.missing.sum()),
                counts.get(column.name, 0),
            )
            for column in table.columns
        )

    def _infer(self, table: Columns) -> dict[str, Inference]:
        kinds = self.kinds or {}
        for name, argument in ((kinds, "kinds"), (self.weights or {}, "weights")):
            unknown = [column for column in name if column not in table.names]
            if unknown:
                raise ValueError(
                    f"{argument} names {unknown[0]!r}, which is not a column of X. Its columns are "
                    f"{', '.join(table.names[:12])}."
                )
        plain = table.library == "array"
        inferences = {}
        for column in table.columns:
            if column.name in kinds:
                inferences[column.name] = override(column, kinds[column.name])
            else:
                guess = infer_kind(column)
                # Columns of an array have no names by which an id could be recognised.
                is_id = plain and column.source == "number" and guess.kind == "id"
                inferences[column.name] = Inference("numeric", "numbers") if is_id else guess
        return inferences if plain else remark_class_codes(table.columns, inferences)

    def _keep_rows(self, used: list[Column]) -> Any:
        n = len(used[0].values)
        if self.missing != "drop":
            return np.arange(n)
        kept = np.flatnonzero(~np.any([column.missing for column in used], axis=0))
        if not len(kept):
            raise ValueError(
                "Every row of X has a missing value and missing='drop' would leave none. Pass "
                "missing='median'."
            )
        return kept

    def _choose_scale(
        self, columns: list[Column], inferences: dict[str, Inference]
    ) -> tuple[str, str]:
        if self.scale != "auto":
            return self.scale, "as requested"
        # A column of 0 and 1 may be a pixel or a count like its neighbours.
        numeric = [
            c
            for c in columns
            if inferences[c.name].kind == "numeric" or inferences[c.name].levels == ("0", "1")
        ]
        others = [
            c.name
            for c in columns
            if inferences[c.name].kind in ("category", "date", "ordinal", "terms")
        ]
        matrix = np.array([_impute(column_values(c, "numeric")) for c in numeric]).T
        matrix = matrix if numeric else np.empty((len(self.kept_rows_), 0))
        decision = decide_scale(matrix, [c.name for c in numeric], others)
        return decision.scale, decision.reason

    def _fit_encoders(self, columns: list[Column], inferences: dict[str, Inference]) -> None:
        encoders = [self._encoder(column, inferences[column.name]) for column in columns]
        pairs = zip(encoders, columns, strict=True)
        # Under most scalings few variances are needed.
        variances = [partial(_total_variance, encoder, column) for encoder, column in pairs]
        self._encoders = weigh_encoders(encoders, variances, self.scale_, self.weights or {})

    def _encoder(self, column: Column, inference: Inference) -> Encoder:
        if inference.kind == "date":
            return DateEncoder.fit(column, inference, self.scale_, self.missing)
        if inference.kind == "terms":
            if self.scale_ == "gower":
                raise ValueError(
                    f"Column {column.name!r} is text, which Gower's distance does not know. Leave "
                    "it out, or choose another scale."
                )
            return TermEncoder.fit(column)
        if inference.kind == "category":
            if self.categories == "onehot":
                return CategoryEncoder.fit(column, self.missing)
            inference = override(column, "ordinal")
        return NumberEncoder.fit(column, inference, self.scale_, self.missing)

    def fit_transform(self, X: Any, y: None = None, **fit_params: Any) -> FloatArray:
        """Fit to X and return its features.

        Parameters
        ----------
        X : data frame, mapping of columns or array (n_samples, n_features)
        y : ignored
        **fit_params
            None.

        Returns
        -------
        array (n_samples, m)
        """
        return self.fit(X, y).transform(X)

    def transform(self, X: Any) -> FloatArray:
        """Encode new samples by the fitted columns.

        Parameters
        ----------
        X : data frame, mapping of columns or array (n_samples, n_features)
            Columns are matched by name, in any order; arrays by place.

        Returns
        -------
        array (n_samples, m)
            Rows with missing values are absent if ``missing="drop"``.
        """
        check_is_fitted(self)
        table = read_columns(X)
        _check_features(self, X, table, reset=False)
        by_name = {column.name: column for column in table.columns}
        columns = [by_name[encoder.name] for encoder in self._encoders]
        refuse_fatal(find_problems(columns, self._known_kinds(), self.missing))
        rows = self._keep_rows(columns)
        columns = _take(columns, rows)
        pairs = list(zip(self._encoders, columns, strict=True))
        warn_unseen(pairs)
        return np.concatenate([encoder.encode(column) for encoder, column in pairs], axis=1)

    def complete_rows(self, X: Any) -> Any:
        """Find the rows that `transform` keeps: all, unless ``missing="drop"``.

        Parameters
        ----------
        X : data frame, mapping of columns or array (n_samples, n_features)

        Returns
        -------
        array (n_samples,) of bool
        """
        check_is_fitted(self)
        table = read_columns(X)
        _check_features(self, X, table, reset=False)
        used = {encoder.name for encoder in self._encoders}
        gaps = [column.missing for column in table.columns if column.name in used]
        return ~np.any(gaps, axis=0) | (self.missing != "drop")

    def inverse_transform(self, X: Any) -> Any:
        """Return columns in their units.

        Parameters
        ----------
        X : array (n_samples, m)
            Features.

        Returns
        -------
        data frame or mapping of columns
            A frame of the library that `fit` got, where it is installed; a 2-D array if `fit` got
            an array of numbers. Columns that were left out are not among them.
        """
        check_is_fitted(self)
        features = np.asarray(check_array(X), dtype=np.float64)
        ends = np.cumsum([len(encoder.features) for encoder in self._encoders])
        if features.shape[1] != ends[-1]:
            raise ValueError(f"X has {features.shape[1]} columns and Prepare gives {ends[-1]}.")
        blocks = np.split(features, ends[:-1], axis=1)
        columns = {
            encoder.name: encoder.decode(block)
            for encoder, block in zip(self._encoders, blocks, strict=True)
        }
        return assemble_columns(columns, self._library)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the features: the column, and the level or part behind ``=`` or ``:``.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        array (m,) of str
        """
        check_is_fitted(self)
        names = [name for encoder in self._encoders for name in encoder.features]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.transformer_tags.preserves_dtype = []
        return tags


def _take(columns: list[Column], rows: Any) -> list[Column]:
    if len(rows) == len(columns[0].values):
        return columns
    return [column.take(rows) for column in columns]


def _impute(values: FloatArray) -> FloatArray:
    absent = np.isnan(values)
    return np.where(absent, np.nanmedian(values), values) if absent.any() else values


def _total_variance(encoder: Encoder, column: Column) -> float:
    return float(encoder.encode(column).var(axis=0).sum())


def _check_features(estimator: Prepare, X: Any, table: Columns, *, reset: bool) -> None:
    """Record names and number of columns, or compare them with the fitted ones."""
    if not reset and table.library != "array":
        absent = [e.name for e in estimator._encoders if e.name not in table.names]
        if absent:
            raise ValueError(
                f"X lacks columns that the fit used: {', '.join(map(repr, absent))}. Add them, or "
                "fit again without them."
            )
        return
    validate_data(
        estimator,
        X if hasattr(X, "shape") else np.empty((2, len(table.names))),
        skip_check_array=True,
        reset=reset,
    )
