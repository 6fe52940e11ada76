"""Atomic fits: a fit that fails leaves the estimator unchanged."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Fit = TypeVar("Fit", bound=Callable[..., Any])

# Marks the working copy, on which nested calls are not wrapped again.
_WORKING = "_fit_in_progress"


def atomic_fit(fit: Fit) -> Fit:
    """Run a fit on a working copy, whose state the estimator adopts in one assignment.

    After an interrupt, a cancelled callback or an error the estimator is unchanged; after a fit no
    fitted attribute of the previous one remains. The working copy has all attributes except public
    names that end in an underscore; private ones may be settings of scikit-learn.

    Examples
    --------
    >>> class Mean:
    ...     @atomic_fit
    ...     def fit(self, values):
    ...         self.count_ = len(values)
    ...         self.mean_ = sum(values) / len(values)
    ...         return self
    >>> model = Mean().fit([1.0, 3.0])
    >>> model.fit([])
    Traceback (most recent call last):
    ...
    ZeroDivisionError: division by zero
    >>> model.count_, model.mean_
    (2, 2.0)
    """

    @wraps(fit)
    def atomic(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _WORKING in self.__dict__:
            return fit(self, *args, **kwargs)
        work = object.__new__(type(self))
        for name, value in vars(self).items():
            if name.startswith("_") or not name.endswith("_"):
                work.__dict__[name] = value
        work.__dict__[_WORKING] = True
        result = fit(work, *args, **kwargs)
        del work.__dict__[_WORKING]
        self.__dict__ = work.__dict__
        return self if result is work else result

    return atomic  # type: ignore[return-value]
