"""The functions of `unbend.dimension` as scikit-learn estimators, made from their signatures.

>>> from unbend.datasets import swiss_roll
>>> model = UStatistic().fit(swiss_roll(1000, random_state=0).points)
>>> model.dimension_
2.0
"""

import inspect
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from unbend import dimension as functions
from unbend.arrays import FloatArray
from unbend.atomic import atomic_fit
from unbend.dimension.value import Dimension
from unbend.validation.scalars import explain_arguments


class DimensionEstimator(BaseEstimator):
    """An estimator of the intrinsic dimension.

    Attributes
    ----------
    dimension_, uncertainty_, local_, curve_
        As in `unbend.dimension.Dimension`.
    result_ : Dimension
        All of it.
    """

    _function: ClassVar[Callable[..., Dimension]]

    @atomic_fit
    def fit(self, X: Any, y: Any = None) -> "DimensionEstimator":
        """Estimate the dimension of X."""
        self.result_ = type(self)._function(X, **self.get_params(deep=False))
        # The function has checked X; the names and number of its columns are left.
        table = X if hasattr(X, "shape") else np.asarray(X)
        validate_data(self, table, skip_check_array=True)
        self.dimension_ = self.result_.dimension
        self.uncertainty_ = self.result_.uncertainty
        self.curve_ = self.result_.curve
        return self

    @property
    def local_(self) -> FloatArray | None:
        """The estimate at each row, or None."""
        return self.result_.local


def _estimator(name: str, function: Callable[..., Dimension]) -> type[DimensionEstimator]:
    """Make the class whose parameters are the keywords of a function."""
    keywords = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]

    first, *rest = keywords
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.Signature([itself, first.replace(kind=itself.kind), *rest])

    def __init__(self: DimensionEstimator, *given: Any, **named: Any) -> None:
        unknown = set(named) - {parameter.name for parameter in keywords}
        if unknown:
            raise TypeError(f"{name} has no parameter {min(unknown)!r}")
        bound = signature.bind(self, *given, **named)
        bound.apply_defaults()
        for parameter in keywords:
            setattr(self, parameter.name, bound.arguments[parameter.name])

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    summary = (function.__doc__ or "").splitlines()[0]
    text = f"{summary}\n\n`unbend.dimension.{function.__name__}` explains it and its parameters."
    members = {
        "__init__": explain_arguments(__init__),
        "__doc__": text,
        "__module__": __name__,
        "_function": staticmethod(function),
    }
    return type(name, (DimensionEstimator,), members)


Capacity = _estimator("Capacity", functions.capacity)
Correlation = _estimator("Correlation", functions.correlation)
EntropicGraph = _estimator("EntropicGraph", functions.entropic_graph)
LinearDimension = _estimator("LinearDimension", functions.pca)
LocalPCA = _estimator("LocalPCA", functions.local_pca)
MaximumLikelihood = _estimator("MaximumLikelihood", functions.mle)
MultiscaleSVD = _estimator("MultiscaleSVD", functions.multiscale_svd)
TwoNN = _estimator("TwoNN", functions.two_nn)
UStatistic = _estimator("UStatistic", functions.u_statistic)

ESTIMATORS = (
    Capacity,
    Correlation,
    EntropicGraph,
    LinearDimension,
    LocalPCA,
    MaximumLikelihood,
    MultiscaleSVD,
    TwoNN,
    UStatistic,
)
