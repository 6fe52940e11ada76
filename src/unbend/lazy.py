"""Imports on first use, and Dask collections, which are recognised without importing Dask."""

import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any, TypeVar

Class = TypeVar("Class")
Method = TypeVar("Method", bound=Callable[..., Any])

# Methods whose result for a row depends on no other row of X.
ROW_WISE = (
    "transform",
    "inverse_transform",
    "predict",
    "outlyingness",
    "subspace_distances",
    "score_samples",
)


def is_dask(X: object) -> bool:
    """Whether X is a lazy collection of Dask; Dask is not imported for this."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def scale() -> Any:
    """Import `unbend.scale`, which needs Dask: only for collections of Dask."""
    return import_module("unbend.scale")


def describe_size(X: Any) -> str:
    """Describe a collection by its shape and size, as far as these are known."""
    for kind in ("Delayed", "Series"):  # A Delayed has attributes of any name.
        if type(X).__name__.startswith(kind):
            return f"a Dask {kind}"
    if hasattr(X, "npartitions") and hasattr(X, "columns"):
        return f"a Dask data frame of {X.npartitions} partitions with {len(X.columns)} columns"
    if not hasattr(X, "nbytes") or X.nbytes != X.nbytes:
        return "a lazy Dask object of unknown size"
    rows = " x ".join(str(length) for length in X.shape)
    size = X.nbytes
    amount = f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"
    return f"a Dask array of {rows} numbers ({amount})"


def refuse_dask(X: Any, name: str = "X", instead: str = "the estimators of unbend.scale") -> None:
    """Refuse a lazy collection where all rows are needed: it is never gathered silently."""
    if is_dask(X):
        raise TypeError(
            f"{name} is {describe_size(X)}, and all of it would be gathered in this process. Use "
            f"{instead}, or pass {name}.compute() if it fits in memory."
        )


def by_partitions(cls: type[Class]) -> type[Class]:
    """Let the row-wise methods of a class take Dask collections and return lazy ones.

    Applied after scikit-learn has wrapped `transform`: its containers would gather the result.
    """
    for name in ROW_WISE:
        if name in vars(cls):
            setattr(cls, name, _row_wise(vars(cls)[name]))
    return cls


def _row_wise(method: Method) -> Method:
    @wraps(method)
    def either(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if is_dask(X):
            return scale().map_rows(self, method.__name__, X, *args, **kwargs)
        return method(self, X, *args, **kwargs)

    return either  # type: ignore[return-value]


def routed_fit(fit: Method) -> Method:
    """Hand a Dask collection to `_fit_dask` of the estimator, which refuses it by default."""

    @wraps(fit)
    def either(self: Any, *args: Any, **kwargs: Any) -> Any:
        rows = args[0] if args else kwargs.get("X")
        return self._fit_dask(rows) if is_dask(rows) else fit(self, *args, **kwargs)

    return either  # type: ignore[return-value]


def lazy_names(package: str, modules: dict[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """Return a `__getattr__` for a package that imports names from its modules on first use.

    No name may be that of a module: importing the module would replace it.
    """
    homes = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return find
