"""From a JSON document and its arrays back to a fitted estimator; nothing in them is executed."""

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unbend.neighbors import PointSpace, Space
from unbend.storage.archive import DamagedFile
from unbend.storage.classes import estimator_class, function, make_value
from unbend.storage.fitted import check_fitted
from unbend.storage.shapes import check_metric, check_value

BIT_GENERATORS: dict[str, Callable[..., Any]] = {
    kind.__name__: kind
    for kind in (
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.MT19937,
        np.random.Philox,
        np.random.SFC64,
    )
}
# Bytes of a random generator.
GENERATOR = 5000
FLOATS = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}


def check_type(value: Any, kind: type, what: str) -> Any:
    """Return a value of a document if it has the right type."""
    number = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if not (number if kind is int else isinstance(value, kind)):
        raise DamagedFile(f"its {what} is not what it should be")
    return value


class Decoder:
    """Makes the objects of a document in their order: each refers to those before it only.

    Every reference to an array takes time, and some memory, for checks: `budget` is how many bytes
    they may come to, so that few bytes cannot cost much by referring to many again and again.
    """

    def __init__(self, array: Callable[[int], NDArray[Any]], budget: float = inf) -> None:
        self._read = array
        self._budget = budget
        self._arrays: dict[tuple[int, bool], NDArray[Any]] = {}
        self._objects: list[Any] = []
        self._metrics: set[tuple[int, int]] = set()
        self._tags: dict[str, Callable[[Any], Any]] = {
            "array": self._array,
            "csr": self._csr,
            "dict": lambda node: self._mapping(node, "dict"),
            "distances_of": self._distances_of,
            "float": self._float,
            "function": lambda node: function(check_type(node, str, "function")),
            "generator": lambda node: np.random.Generator(self._bits(node)),
            "object": self._object,
            "random_state": self._random_state,
            "scalar": self._scalar,
            "single": lambda node: self._array(node, widened=True),
            "strings": self._strings,
            "tuple": lambda node: tuple(self._list(node)),
        }

    def objects(self, entries: Any) -> None:
        """Make all objects."""
        for entry in check_type(entries, list, "list of objects"):
            name = check_type(check_type(entry, dict, "object").get("class"), str, "class")
            if estimator_class(name) is not None:
                self._objects.append(self.estimator(entry))
            else:
                value = make_value(name, self._mapping(entry.get("fields"), "fields"))
                check_value(value)
                if isinstance(value, PointSpace):
                    self._check_metric(value)
                self._objects.append(value)

    def _check_metric(self, space: PointSpace) -> None:
        """Check the constants of a metric by a row; components share one, which is checked once."""
        key = (id(space.metric), space.points.shape[1])
        if key not in self._metrics:
            check_metric(space)
            self._metrics.add(key)

    def estimator(self, entry: dict[str, Any]) -> Any:
        """Make a fitted estimator."""
        name = check_type(entry.get("class"), str, "class")
        method = estimator_class(name)
        if method is None:
            raise DamagedFile(f"it is a {name!r}, which this version of unbend does not know")
        parameters = self._mapping(entry.get("parameters"), "parameters")
        unknown = set(parameters) - set(method._get_param_names())
        if unknown:
            raise DamagedFile(f"{name} has no parameter {min(unknown)!r} in this version of unbend")
        estimator = method(**parameters)
        state = self._mapping(entry.get("state"), "state")
        left_out = self._strings(entry.get("left_out"))
        for attribute in (*state, *left_out):
            # Nothing of the class may be hidden by what the file calls an attribute.
            if attribute in parameters or hasattr(method, attribute):
                raise DamagedFile(f"it sets a part of {name} that is not fitted")
        vars(estimator).update(state)
        if len(left_out):
            estimator._left_out = tuple(left_out)
        check_fitted(estimator)
        return estimator

    def value(self, node: Any) -> Any:
        """Make any value."""
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if isinstance(node, list):
            return self._list(node)
        if isinstance(node, dict) and len(node) == 1:
            tag, inner = next(iter(node.items()))
            if tag in self._tags:
                return self._tags[tag](inner)
        raise DamagedFile("it holds a value of a kind that this version of unbend does not know")

    def _list(self, node: Any) -> list[Any]:
        return [self.value(item) for item in check_type(node, list, "list")]

    def _mapping(self, node: Any, what: str) -> dict[str, Any]:
        return {key: self.value(item) for key, item in check_type(node, dict, what).items()}

    def _array(self, node: Any, widened: bool = False) -> NDArray[Any]:
        number = check_type(node, int, "array")
        if (number, widened) not in self._arrays:
            array = self._read(number)
            if widened and array.dtype != np.float32:
                raise DamagedFile("an array that should be in single precision is not")
            self._arrays[number, widened] = array.astype(np.float64) if widened else array
        found = self._arrays[number, widened]
        self._charge(found.nbytes)
        return found

    def _charge(self, size: int) -> None:
        self._budget -= size
        if self._budget < 0:
            raise DamagedFile("it refers to its arrays more often than a model does")

    def _csr(self, node: Any) -> csr_array:
        values = self._list(node)
        try:
            *parts, shape = values
            rows = csr_array(tuple(parts), shape=tuple(shape))
            rows.check_format(full_check=True)
        except (TypeError, ValueError, IndexError, OverflowError) as error:
            raise DamagedFile("a sparse matrix is inconsistent") from error
        return rows

    def _distances_of(self, node: Any) -> Any:
        return check_type(self.value(node), Space, "distances_of").distances_of

    def _float(self, node: Any) -> float:
        if check_type(node, str, "number") not in FLOATS:
            raise DamagedFile("it holds an invalid number")
        return FLOATS[node]

    def _object(self, node: Any) -> Any:
        if check_type(node, int, "object") >= len(self._objects):
            raise DamagedFile("an object refers to one that does not come before it")
        return self._objects[node]

    def _scalar(self, node: Any) -> Any:
        try:
            kind, value = self._list(node)
            return np.array(value, dtype=BY_NAME[kind])[()]
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise DamagedFile("it holds an invalid number") from error

    def _strings(self, node: Any) -> NDArray[Any]:
        words = [check_type(word, str, "name") for word in check_type(node, list, "list of names")]
        return np.array(words, dtype=object)

    def _bits(self, node: Any) -> Any:
        self._charge(GENERATOR)
        state = check_type(self.value(node), dict, "random state")
        try:
            bits = BIT_GENERATORS[state["bit_generator"]](0)
            bits.state = state
        except (TypeError, ValueError, LookupError, OverflowError) as error:
            raise DamagedFile("it holds an invalid random state") from error
        return bits

    def _random_state(self, node: Any) -> np.random.RandomState:
        generator = np.random.RandomState(self._bits(node))
        try:
            generator.set_state(self.value(node))
        except (TypeError, ValueError, LookupError, OverflowError) as error:
            raise DamagedFile("it holds an invalid random state") from error
        return generator


BY_NAME = {
    np.dtype(kind).str: np.dtype(kind)
    for kind in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float16", "float32", "float64",
    )
}  # fmt: skip
