"""From a fitted estimator to a JSON document and a list of arrays."""

import math
from types import MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from unbend.extension import Linear, LinearInverse, ProjectionInverse, SparseLinear
from unbend.neighbors import NeighborIndex, Space
from unbend.storage.archive import is_storable
from unbend.storage.classes import fields, function_name, is_estimator, is_value, value_name

# Magnitudes between which single precision keeps its digits.
SINGLE = (1e-30, 1e38)


class Encoder:
    """Collects objects and arrays, each once, in an order in which they can be reconstructed."""

    def __init__(self, training: bool, single: bool) -> None:
        self.objects: list[dict[str, Any]] = []
        self.arrays: list[NDArray[Any]] = []
        self._training = training
        self._single = single
        # Numbers by identity; listed objects are kept alive, so that no identity is reused.
        self._numbers: dict[int, int] = {}
        self._held: list[object] = []

    def estimator(self, estimator: Any) -> dict[str, Any]:
        """Class, parameters and fitted state."""
        name = type(estimator).__name__
        if hasattr(estimator, "_compute_deferred"):
            estimator._compute_deferred()
        parameters = estimator.get_params(deep=False)
        for parameter, value in parameters.items():
            if callable(value) and not is_value(value) and function_name(value) is None:
                raise TypeError(
                    f"{name} cannot be saved: its {parameter} is a function, and a file holds no "
                    f"code; use a named {parameter}, or keep the model with joblib"
                )
            if isinstance(value, NeighborIndex) and not is_value(value):
                raise TypeError(
                    f"{name} cannot be saved: its {parameter} is a {type(value).__name__}, which "
                    f"is not an index of unbend, and a file holds no code; fit with "
                    f"{parameter}='approximate', or keep the model with joblib"
                )
        state = {
            key: value
            for key, value in vars(estimator).items()
            if key not in parameters and key not in ("about_", "_left_out")
        }
        left_out = [] if self._training else sorted(_of_training(estimator, state))
        left_out += sorted(vars(estimator).get("_left_out", ()))
        if self._single:
            state["_precision"] = "float32"
        return {
            "class": name,
            "parameters": {key: self.value(parameters[key], key) for key in parameters},
            "state": {key: self.value(state[key], key) for key in state if key not in left_out},
            "left_out": left_out,
        }

    def value(self, value: Any, where: str) -> Any:
        """JSON for any value; `where` names it in errors."""
        if isinstance(value, np.generic) and is_storable(value.dtype):
            return {"scalar": [value.dtype.str, self.value(value.item(), where)]}
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, list | tuple):
            items = [self.value(item, where) for item in value]
            return items if isinstance(value, list) else {"tuple": items}
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return {"dict": {key: self.value(item, where) for key, item in value.items()}}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if issparse(value):
            return self._sparse(value, where)
        return self._object(value, where)

    def _object(self, value: Any, where: str) -> Any:
        if isinstance(value, np.random.Generator):
            return {"generator": self.value(value.bit_generator.state, where)}
        if isinstance(value, np.random.RandomState):
            return {"random_state": self.value(value.get_state(legacy=False), where)}
        if function_name(value) is not None:
            return {"function": function_name(value)}
        if isinstance(value, MethodType) and isinstance(value.__self__, Space):
            return {value.__name__: self.value(value.__self__, where)}
        if not (is_value(value) or is_estimator(value)):
            raise TypeError(
                f"the model cannot be saved: its {where} holds a {type(value).__name__}, and a "
                "file takes numbers, words, arrays and the library's own values only"
            )
        if id(value) not in self._numbers:
            entry = self.estimator(value) if is_estimator(value) else self._fields(value)
            self.objects.append(entry)
            self._register(value, len(self.objects) - 1)
        return {"object": self._numbers[id(value)]}

    def _fields(self, value: Any) -> dict[str, Any]:
        name = value_name(value)
        given = {field: self.value(item, field) for field, item in fields(value).items()}
        return {"class": name, "fields": given}

    def _array(self, array: NDArray[Any], where: str) -> Any:
        if array.dtype == object and array.ndim == 1 and all(isinstance(s, str) for s in array):
            return {"strings": [str(word) for word in array]}
        if not is_storable(array.dtype):
            raise TypeError(
                f"the model cannot be saved: its {where} is an array of {array.dtype}, and a file "
                "takes arrays of numbers only"
            )
        single = self._single and array.dtype == np.float64
        if id(array) not in self._numbers:
            self.arrays.append(_round_to_single(array, where) if single else array)
            self._register(array, len(self.arrays) - 1)
        return {"single" if single else "array": self._numbers[id(array)]}

    def _sparse(self, matrix: Any, where: str) -> Any:
        rows = csr_array(matrix)
        parts = (self._array(part, where) for part in (rows.data, rows.indices, rows.indptr))
        return {"csr": [*parts, list(map(int, rows.shape))]}

    def _register(self, value: object, number: int) -> None:
        self._numbers[id(value)] = number
        self._held.append(value)


def _round_to_single(array: NDArray[Any], where: str) -> NDArray[Any]:
    finite = np.abs(array[np.isfinite(array)])
    largest = float(finite.max(initial=0.0))
    if largest and not SINGLE[0] < largest < SINGLE[1]:
        raise ValueError(
            f"the numbers of {where} are of size {largest:.1e} and leave single precision: save "
            "the model with precision=None, or rescale the data"
        )
    return array.astype(np.float32)


def _of_training(estimator: Any, state: dict[str, Any]) -> set[str]:
    """Attributes that hold fitted rows, or are of use with them only."""
    free = isinstance(state.get("_extension"), Linear | SparseLinear)
    kept = {"_sklearn_output_config", "_precision"} | ({"_extension"} if free else set())
    if isinstance(state.get("_preimage"), LinearInverse | ProjectionInverse | None):
        kept.add("_preimage")
    private = {name for name in state if name.startswith("_") and estimator.private_is_training}
    return (private - kept) | (set(estimator.of_training) & set(state))
