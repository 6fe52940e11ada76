"""A zip of one JSON document and one ``.npy`` for each array, nothing compressed.

Since members are stored as they are, a file never needs more memory than it is long.
"""

import json
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn

from numpy.typing import NDArray

from unbend.files import atomic_write
from unbend.storage import npy
from unbend.storage.damage import Damaged

DOCUMENT = "model.json"
# Beyond this many bytes a member needs the wide fields of zip.
WIDE = 1 << 31
# Every member has this date, so that equal models are equal files.
DATE = (1980, 1, 1, 0, 0, 0)


def member(number: int) -> str:
    """Name of the member that holds array `number`."""
    return f"arrays/{number}.npy"


def write(path: Path, document: dict[str, Any], arrays: list[NDArray[Any]]) -> None:
    """Write a file beside `path` and rename it."""
    text = json.dumps(document, allow_nan=False).encode()
    with atomic_write(path) as partial, zipfile.ZipFile(partial, "w") as archive:
        archive.writestr(_info(DOCUMENT), text)
        for number, array in enumerate(arrays):
            wide = array.nbytes > WIDE
            with archive.open(_info(member(number)), "w", force_zip64=wide) as target:
                npy.write(target, array)


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, DATE)
    info.external_attr = 0o644 << 16
    return info


class Archive:
    """An open file whose members have been checked, though not read."""

    def __init__(self, source: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(source)
        self._members = {info.filename: info for info in self._zip.infolist()}
        total = 0
        for info in self._zip.infolist():
            total += info.file_size
            packed = (
                info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size
            )
            if packed or info.flag_bits & 1:
                raise Damaged(f"its member {info.filename} is compressed or encrypted")
        if total > source.seek(0, 2):
            raise Damaged("its members overlap, or it ends early")

    def document(self) -> dict[str, Any]:
        """Read the JSON document."""
        with self._open(DOCUMENT) as source:
            text = source.read()
        try:
            document = json.loads(text.decode(), parse_constant=_refuse)
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise Damaged(f"its {DOCUMENT} is not JSON") from error
        if not isinstance(document, dict):
            raise Damaged(f"its {DOCUMENT} is not a JSON object")
        return document

    def array(self, number: int) -> NDArray[Any]:
        """Read an array."""
        with self._open(member(number)) as source:
            return npy.read(source, self._members[member(number)].file_size)

    def _open(self, name: str) -> IO[bytes]:
        if name not in self._members:
            raise Damaged(f"its member {name} is missing")
        return self._zip.open(self._members[name])


def _refuse(word: str) -> NoReturn:
    raise Damaged(f"its {DOCUMENT} holds {word}, which is not JSON")


@contextmanager
def reading(path: Path) -> Iterator[Archive]:
    """Open a file; whatever is wrong with it becomes one ValueError that names it."""
    with path.open("rb") as source:
        try:
            yield Archive(source)
        except Damaged as error:
            raise ValueError(f"{path} cannot be loaded: {error}") from error
        except (zipfile.BadZipFile, EOFError, struct.error, NotImplementedError, OSError) as error:
            raise ValueError(
                f"{path} cannot be loaded: it is no saved model, or it is damaged ({error})"
            ) from error
        except RecursionError as error:
            raise ValueError(f"{path} cannot be loaded: it is nested too deeply") from error
