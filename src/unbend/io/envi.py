"""ENVI cubes: a header of text, and a file of numbers beside it."""

import gzip
import math
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unbend.arrays import FloatArray
from unbend.io.numerals import Array
from unbend.memory import reserve
from unbend.report import warn

TYPES = {
    1: "u1",
    2: "i2",
    3: "i4",
    4: "f4",
    5: "f8",
    6: "c8",
    9: "c16",
    12: "u2",
    13: "u4",
    14: "i8",
    15: "u8",
}
# Order of the dimensions in the file, and the order that gives lines, samples, bands.
INTERLEAVES = {
    "bsq": (("bands", "lines", "samples"), (1, 2, 0)),
    "bil": (("lines", "bands", "samples"), (0, 2, 1)),
    "bip": (("lines", "samples", "bands"), (0, 1, 2)),
}
DATA_SUFFIXES = ("", ".img", ".dat", ".raw", ".bin", ".bsq", ".bil", ".bip", ".envi")
LONGEST_HEADER = 1 << 24
FIELD = re.compile(r"^[ \t]*([A-Za-z][^={}\n]{0,80}?)[ \t]*=[ \t]*(\{[^{}]*\}|[^\n{}]*)", re.M)
WHOLE = re.compile(r"\d{1,18}")


@dataclass(frozen=True)
class Header:
    """What the header says about the file of numbers."""

    shape: tuple[int, ...]
    axes: tuple[int, int, int]
    dtype: np.dtype[np.generic]
    offset: int
    packed: bool
    fields: Mapping[str, str]


def is_envi_header(path: Path) -> bool:
    """Whether a file begins as ENVI headers do."""
    with open(path, "rb") as stream:
        return stream.read(4) == b"ENVI"


def envi_files(path: Path) -> tuple[Path, Path]:
    """Header and data of a cube, of which one was named; none is looked for elsewhere."""
    if is_envi_header(path):
        stem = path.with_suffix("") if path.suffix.lower() == ".hdr" else path
        names = [stem.with_name(stem.name + suffix) for suffix in DATA_SUFFIXES]
        names += [name.with_suffix(name.suffix.upper()) for name in names if name.suffix]
        return path, _beside(path, stem, names)
    headers = [path.with_name(path.name + ".hdr"), path.with_suffix(".hdr")]
    headers += [name.with_suffix(".HDR") for name in headers]
    header = next((name for name in headers if name.is_file()), None)
    if header is None:
        raise ValueError(
            f"{path} is neither FITS nor the header of an ENVI cube, and has no header beside it "
            f"({headers[0].name} or {headers[1].name}): name the header"
        )
    return header, path


def _beside(path: Path, stem: Path, names: list[Path]) -> Path:
    """Find the one file of numbers that a header can be of."""
    found = [name for name in names if name.is_file() and name != path]
    if not found:
        raise FileNotFoundError(
            f"there is no file of numbers beside {path}: name it by data=, or put it there as "
            f"{stem.name}.img"
        )
    # Where case does not count, one file is found under two names.
    others = [name for name in found[1:] if not name.samefile(found[0])]
    if others:
        raise ValueError(
            f"{path} may be the header of {found[0].name} or of {others[0].name}: name the data by "
            "data="
        )
    return found[0]


def read_header(path: Path) -> Header:
    """Parse a header; what is missing or makes no sense is named."""
    with open(path, "rb") as stream:
        content = stream.read(LONGEST_HEADER + 1)
    if not content.startswith(b"ENVI") or len(content) > LONGEST_HEADER:
        raise ValueError(f"{path} is no ENVI header, or one of more than 16 MB")
    text = content.decode("utf-8", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    fields: dict[str, str] = {}
    for found in FIELD.finditer(text):
        fields.setdefault(" ".join(found[1].lower().split()), found[2].strip())
    number = {
        name: _whole(fields, name, path, default)
        for name, default in (
            ("samples", None),
            ("lines", None),
            ("bands", 1),
            ("data type", None),
            ("byte order", 0),
            ("header offset", 0),
            ("file compression", 0),
        )
    }
    interleave = fields.get("interleave", "bsq").lower()
    if interleave not in INTERLEAVES:
        raise ValueError(_wrong(path, "interleave", interleave, "bsq, bil or bip"))
    if number["data type"] not in TYPES:
        allowed = ", ".join(map(str, TYPES))
        raise ValueError(_wrong(path, "data type", str(number["data type"]), f"one of {allowed}"))
    if number["byte order"] > 1:
        raise ValueError(_wrong(path, "byte order", str(number["byte order"]), "0 or 1"))
    order, axes = INTERLEAVES[interleave]
    return Header(
        shape=tuple(number[name] for name in order),
        axes=axes,
        dtype=np.dtype((">" if number["byte order"] else "<") + TYPES[number["data type"]]),
        offset=number["header offset"],
        packed=bool(number["file compression"]),
        fields=fields,
    )


def _wrong(path: Path, name: str, found: str, wanted: str) -> str:
    return f"{path} says {name} = {found[:40]!r} and it must be {wanted}"


def _whole(fields: Mapping[str, str], name: str, path: Path, default: int | None) -> int:
    if name not in fields and default is not None:
        return default
    if name not in fields:
        raise ValueError(f"{path} does not say {name!r}: it is cut off, or not an ENVI header")
    found = WHOLE.fullmatch(fields[name])
    least = 1 if name in ("samples", "lines", "bands") else 0
    if found is None or int(found[0]) < least:
        raise ValueError(_wrong(path, name, fields[name], f"a whole number of at least {least}"))
    return int(found[0])


def numbers_of(fields: Mapping[str, str], name: str, count: int, path: Path) -> Array | None:
    """Read a list of numbers, which must be as many as there are bands."""
    if name not in fields:
        return None
    words = listed(fields, name) or ()
    try:
        numbers = np.array([float(word) for word in words])
    except ValueError:
        numbers = np.empty(0)
    if len(numbers) != count:
        raise ValueError(
            f"{path} lists {len(words)} entries under {name!r}, or some that are no numbers, and "
            f"there are {count} bands"
        )
    return numbers


def listed(fields: Mapping[str, str], name: str) -> tuple[str, ...] | None:
    """Read a list of words."""
    if name not in fields:
        return None
    return tuple(" ".join(word.split()) for word in fields[name].strip("{}").split(","))


def scale_of(
    fields: Mapping[str, str], bands: int, path: Path
) -> tuple[float | FloatArray, float | FloatArray]:
    """Factor and offset of the stored numbers, of each band or of all.

    Gains and offsets make radiance of them. Where there are none, the reflectance scale factor is
    what they are divided by.
    """
    gains, offsets = (
        numbers_of(fields, f"data {name} values", bands, path) for name in ("gain", "offset")
    )
    divisor = _number(fields, "reflectance scale factor", path)
    for name, numbers in (("gain", gains), ("offset", offsets)):
        if numbers is not None and not np.isfinite(numbers).all():
            raise ValueError(f"{path} lists a number that is not finite under 'data {name} values'")
    if gains is not None or offsets is not None:
        if divisor is not None:
            warn(
                f"{path} has data gains or offsets and a reflectance scale factor: the first were "
                "applied and the second was not"
            )
        return 1.0 if gains is None else gains, 0.0 if offsets is None else offsets
    if divisor is not None and not (math.isfinite(divisor) and divisor > 0):
        found = fields["reflectance scale factor"]
        raise ValueError(_wrong(path, "reflectance scale factor", found, "a positive number"))
    return 1.0 if divisor is None else 1 / divisor, 0.0


def ignored_value(fields: Mapping[str, str], path: Path) -> float | None:
    """Return the number that stands for none."""
    return _number(fields, "data ignore value", path)


def _number(fields: Mapping[str, str], name: str, path: Path) -> float | None:
    if name not in fields:
        return None
    try:
        return float(fields[name])
    except ValueError:
        raise ValueError(_wrong(path, name, fields[name], "a number")) from None


def map_data(path: Path, header: Header) -> Array:
    """Map the numbers into memory, as lines, samples and bands; packed ones are unpacked."""
    needed = math.prod(header.shape) * header.dtype.itemsize
    if header.packed:
        flat: Array = np.frombuffer(_unpacked(path, header.offset, needed), header.dtype)
        return flat.reshape(header.shape).transpose(header.axes)
    if header.offset + needed > path.stat().st_size:
        raise ValueError(
            f"{path} has {path.stat().st_size} bytes and its header promises "
            f"{header.offset + needed}: it is cut off, or the header is of another file"
        )
    mapped = np.memmap(path, header.dtype, "r", header.offset, header.shape)
    return mapped.transpose(header.axes)


def _unpacked(path: Path, offset: int, needed: int) -> bytes:
    reserve(offset + needed, f"the numbers of {path}", "unpack them to a file")
    try:
        with gzip.open(path) as stream:
            content = stream.read(offset + needed)[offset:]
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} cannot be unpacked: fetch or write it again") from error
    if len(content) < needed:
        raise ValueError(f"{path} unpacks to fewer bytes than its header promises: it is cut off")
    return content
