"""HDF5 files, and MAT files of version 7.3, which are such; read by h5py.

A file from elsewhere can name other files, or filters that are programs: neither is followed.
"""

import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from unbend.cached import cached_property
from unbend.io.arrays import read_arrays
from unbend.io.numerals import Array
from unbend.io.source import Source, require
from unbend.io.table import Frame, Roles, Table
from unbend.memory import NotEnoughMemory, available_memory, reserve

# What h5py raises for invalid files.
DAMAGE = (
    OSError,
    RuntimeError,
    KeyError,
    ValueError,
    TypeError,
    AttributeError,
    OverflowError,
    UnicodeError,
    IndexError,
    SystemError,
)
# Filters that are part of the library; any other would be a program loaded from a folder.
OWN_FILTERS = {1, 2, 3, 4, 5, 6, 32000}
# A file of groups within groups ends somewhere.
MOST_OBJECTS = 10_000
# Texts read at once, where the file is small.
MOST_TEXTS = 1 << 16


@dataclass(eq=False)
class Hdf5Reader:
    """Reads the arrays of an HDF5 file."""

    source: Source
    array: str | None
    tabular = False

    @property
    def where(self) -> str:
        """Name for messages."""
        return self.source.name

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        with open_arrays(self.source) as arrays:
            return read_arrays(arrays, self.array, self.where).names

    def tables(self, roles: Roles, rows: int | None) -> Iterator[Table]:
        """Yield tables of at most `rows` rows, or one table of all."""
        with open_arrays(self.source) as arrays:
            yield from read_arrays(arrays, self.array, self.where).tables(roles, rows)

    def frames(self, roles: Roles, rows: int | None) -> Iterator[Frame]:
        """Yield the same rows with columns of any kind."""
        with open_arrays(self.source) as arrays:
            yield from read_arrays(arrays, self.array, self.where).frames(roles, rows)


@dataclass(frozen=True)
class Dataset:
    """An array in an open file; what is asked for is read, if it fits in memory."""

    # A dataset of h5py, or its view as text.
    held: Any
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    where: str
    transposed: bool
    # No text in the file is longer.
    longest: int

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, part: slice) -> Array:
        count = len(range(*part.indices(len(self)))) if self.shape else 1
        size = count * prod(self.shape[1:]) * max(self.dtype.itemsize, 1)
        reserve(size, f"the entries of {self.where}", "read it in batches")
        with refuse_damage(self.where):
            rows = slice(*part.indices(len(self))) if self.shape else part
            return self._texts(rows) if self.dtype.hasobject else self._read(rows, slice(None))

    def _read(self, rows: slice, columns: slice) -> Array:
        """Read some rows of some columns."""
        if self.ndim < 2:
            return np.asarray(self.held[rows])
        if self.transposed:
            return np.asarray(self.held[..., columns, rows]).T
        return np.asarray(self.held[rows, columns])

    def _texts(self, rows: slice) -> Array:
        """Read text some entries at a time: any number of them may be one long text of the file."""
        free = available_memory()
        most = math.inf if free is None else free // 2
        width = self.shape[1] if self.ndim > 1 else 1
        beside = prod(self.shape[2:]) * max(len(self.dtype.names or ()), 1)
        at_once = int(np.clip(most // (self.longest * beside), 1, MOST_TEXTS))
        across = min(at_once, width)
        down = max(at_once // across, 1)
        letters, bands = 0, []
        for first in range(rows.start, rows.stop, down):
            band = slice(first, min(first + down, rows.stop))
            parts = []
            for start in range(0, width, across):
                parts.append(self._read(band, slice(start, min(start + across, width))))
                letters += _letters(parts[-1])
                if letters > most:
                    raise NotEnoughMemory(
                        f"the texts of {self.where} are longer than memory can hold: read it in "
                        "batches"
                    )
            bands.append(parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1))
        return np.concatenate(bands)


def _letters(entries: Array) -> int:
    """Letters or bytes of all texts, those in the fields of records too."""
    if entries.dtype.names is not None:
        return sum(_letters(entries[name]) for name in entries.dtype.names)
    return sum(map(len, entries.ravel().tolist())) if entries.dtype == object else 0


@contextmanager
def refuse_damage(where: str) -> Iterator[None]:
    """Raise one sentence where h5py cannot read a file."""
    try:
        yield
    except DAMAGE as error:
        raise ValueError(
            f"{where} is a damaged or cut off HDF5 file: fetch or write it again"
        ) from error


@contextmanager
def open_arrays(source: Source) -> Iterator[dict[str, Dataset]]:
    """Open the arrays of numbers or text in a file, by their paths."""
    h5py = require("h5py", "reading HDF5")
    # MATLAB stores matrices by columns, so that they come out transposed.
    transposed = source.format == "mat 7.3"
    packed = io.BytesIO(source.read_bytes()) if source.packed else None
    with source.stream() as stream:
        with refuse_damage(source.name):
            file = h5py.File(packed or stream, "r")
        try:
            yield _arrays(h5py, file, source.name, transposed)
        finally:
            with refuse_damage(source.name):
                file.close()


def _arrays(h5py: Any, file: Any, where: str, transposed: bool) -> dict[str, Dataset]:
    found: dict[str, Dataset] = {}
    groups, count = [("", file)], 0
    addresses = set()
    while groups:
        path, group = groups.pop()
        with refuse_damage(where):
            items = list(group) if isinstance(group, h5py.Group) else []
        for name in items:
            count += 1
            if count > MOST_OBJECTS:
                raise ValueError(f"{where} holds more than {MOST_OBJECTS} arrays and groups")
            with refuse_damage(where):
                # Links can lead to other files, or back.
                if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                    continue
                item = group[name]
                address = h5py.h5o.get_info(item.id).addr
            if address in addresses:
                continue
            addresses.add(address)
            if isinstance(item, h5py.Group):
                groups.append((f"{path}{name}/", item))
            elif isinstance(item, h5py.Dataset):
                dataset = _dataset(h5py, item, f"{path}{name}", where, transposed)
                if dataset is not None:
                    found[f"{path}{name}"] = dataset
    return found


def _dataset(h5py: Any, item: Any, name: str, where: str, transposed: bool) -> Dataset | None:
    """Take a dataset of numbers or text; refuse external data and filters that are programs."""
    with refuse_damage(where):
        elsewhere = bool(item.external) or item.is_virtual
        plan = item.id.get_create_plist()
        filters = {plan.get_filter(place)[0] for place in range(plan.get_nfilters())}
        text = h5py.check_string_dtype(item.dtype) is not None
        shape = tuple(item.shape or ())
        piece = prod(item.chunks or ()) * max(item.dtype.itemsize, 1)
        kept = bool(shape) and (text or item.dtype.kind in "biufcV")
    if elsewhere:
        raise ValueError(
            f"array {name[:60]!r} of {where} is stored in another file, which is not followed: "
            "copy it into one"
        )
    if not filters <= OWN_FILTERS:
        raise ValueError(
            f"array {name[:60]!r} of {where} is packed by a filter that is not HDF5's own: write "
            "it again with gzip"
        )
    if not kept or 0 in shape:
        return None
    # A chunk is unpacked as a whole, however little of it is within the array.
    reserve(piece, f"a piece of array {name[:60]!r} of {where}", "write it in smaller chunks")
    turned = shape[::-1] if transposed else shape
    dtype = np.dtype(object) if text else item.dtype
    longest = max(item.file.id.get_filesize(), 1)
    return Dataset(item.asstr() if text else item, turned, dtype, where, transposed, longest)
