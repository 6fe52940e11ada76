"""ENVI cubes: a header of text, and a file of numbers beside it."""

import math
import re
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np

from unbend.arrays import FloatArray
from unbend.io.numerals import Array
from unbend.io.source import Source, open_source
from unbend.memory import reserve
from unbend.report import warn

TYPES = {1: "u1", 2: "i2", 3: "i4", 4: "f4", 5: "f8", 6: "c8", 9: "c16", 12: "u2", 13: "u4"}
TYPES |= {14: "i8", 15: "u8"}
# Order of the dimensions in the file, and the order that gives lines, samples, bands.
INTERLEAVES = {
    "bsq": (("bands", "lines", "samples"), (1, 2, 0)),
    "bil": (("lines", "bands", "samples"), (0, 2, 1)),
    "bip": (("lines", "samples", "bands"), (0, 1, 2)),
}
DATA_SUFFIXES = ("", ".img", ".dat", ".raw", ".bin", ".bsq", ".bil", ".bip", ".envi")
WAVELENGTH_SUFFIXES = (".wvl", ".WVL")
DEFAULTS = {"interleave": "bsq", "bands": "1", "byte order": "0", "header offset": "0"}
LONGEST_HEADER = 1 << 24
FIELD = re.compile(r"^[ \t]*([A-Za-z][^={}\n]{0,80}?)[ \t]*=[ \t]*(\{[^{}]*\}|[^\n{}]*)", re.M)
INTEGER, LARGEST = re.compile(r"\d{1,18}"), 10**18
Fields = Mapping[str, str]
Scale = float | FloatArray


def is_header(source: Source) -> bool:
    """Whether a file begins as ENVI headers do."""
    return source.format == "envi"


def find_files(path: Path, *, is_header: bool) -> tuple[Path, Path]:
    """Return header and data of a cube, of which one was named; both must be in one folder."""
    if not is_header:
        headers = [path.with_name(path.name + ".hdr"), path.with_suffix(".hdr")]
        for header in (*headers, *(name.with_suffix(".HDR") for name in headers)):
            if header.is_file():
                return header, path
        raise ValueError(
            f"{path} is neither FITS nor the header of an ENVI cube ({headers[1].name}): name that"
        )
    stem = path.with_suffix("") if path.suffix.lower() == ".hdr" else path
    suffixes = (*DATA_SUFFIXES, *map(str.upper, DATA_SUFFIXES[1:]))
    names = (stem.with_name(stem.name + suffix) for suffix in suffixes)
    found = [name for name in names if name.is_file() and name != path]
    if not found:
        raise FileNotFoundError(f"there is no file of numbers beside {path}: name it by data=")
    for other in found[1:]:
        # On file systems without case, one file is found under two names.
        if not other.samefile(found[0]):
            raise ValueError(
                f"{path} may be of {found[0].name} or of {other.name}: name the data by data="
            )
    return path, found[0]


def open_files(source: Source) -> tuple[Source, Source]:
    """Open header and data of a cube, of which one is open."""
    assert source.path is not None
    header, data = find_files(source.path, is_header=is_header(source))
    return (source, open_source(data)) if data != source.path else (open_source(header), source)


def read_fields(source: Source) -> Fields:
    """Parse a header; of a field that is there twice, the first counts."""
    with source.stream() as stream:
        content = stream.read(LONGEST_HEADER + 1)
    text = content.decode("utf-8", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    if not text.startswith("ENVI") or len(content) > LONGEST_HEADER:
        raise ValueError(f"{source.name} is not an ENVI header, or has more than 16 MB")
    found = reversed([*FIELD.finditer(text)])
    return DEFAULTS | {" ".join(field[1].lower().split()): field[2].strip() for field in found}


def map_data(source: Source, fields: Fields, header: str) -> Array:
    """Map the numbers into memory, as lines, samples and bands; compressed ones are unpacked."""
    if fields["interleave"].lower() not in INTERLEAVES:
        raise _wrong(fields, "interleave", header, "bsq, bil or bip")
    order, axes = INTERLEAVES[fields["interleave"].lower()]
    shape = [_integer(fields, name, header, range(1, LARGEST)) for name in order]
    kind = TYPES[_integer(fields, "data type", header, TYPES)]
    dtype = np.dtype(("<", ">")[_integer(fields, "byte order", header, (0, 1))] + kind)
    offset = _integer(fields, "header offset", header, range(LARGEST))
    end = offset + math.prod(shape) * dtype.itemsize
    if fields.get("file compression", "0") != "0":
        reserve(end, f"the numbers of {source.name}", "unpack them to a file")
        content: Array = np.frombuffer(source.read_bytes(end), np.uint8)
    else:
        content = source.map_array(np.uint8, (source.size,)) if source.size else np.empty(0, "u1")
    if end > len(content):
        raise ValueError(
            f"{source.name} has {len(content)} bytes, fewer than its header promises: fetch it "
            "again"
        )
    return content[offset:end].view(dtype).reshape(shape).transpose(axes)


def _wrong(fields: Fields, name: str, path: str, wanted: str) -> ValueError:
    return ValueError(f"{path} says {name} = {fields[name][:40]!r} and it must be {wanted}")


def _integer(fields: Fields, name: str, path: str, allowed: Collection[int]) -> int:
    if name not in fields:
        raise ValueError(f"{path} does not say {name!r}: it is cut off, or not an ENVI header")
    if INTEGER.fullmatch(fields[name]) and int(fields[name]) in allowed:
        return int(fields[name])
    if isinstance(allowed, range):
        raise _wrong(fields, name, path, f"an integer of at least {allowed.start}")
    raise _wrong(fields, name, path, f"one of {', '.join(map(str, allowed))}")


def read_number(fields: Fields, name: str, path: str) -> float | None:
    """Read a number."""
    try:
        return float(fields[name]) if name in fields else None
    except ValueError:
        raise _wrong(fields, name, path, "a number") from None


def read_list(fields: Fields, name: str) -> tuple[str, ...]:
    """Read a list of words; of none, one empty word."""
    return tuple(" ".join(word.split()) for word in fields.get(name, "").strip("{}").split(","))


def read_numbers(fields: Fields, name: str, count: int, path: str) -> FloatArray | None:
    """Read a list of finite numbers, which must be as many as there are bands."""
    if name not in fields:
        return None
    words = read_list(fields, name)
    try:
        numbers = np.array([float(word) for word in words])
    except ValueError:
        numbers = np.empty(0)
    if len(numbers) != count or not np.isfinite(numbers).all():
        raise ValueError(
            f"{path} lists {len(words)} entries under {name!r} and needs {count} finite numbers"
        )
    return numbers


def read_wavelength_file(header: Source, bands: int) -> FloatArray | None:
    """Read the wavelengths from a file ``.wvl`` beside a header, one a line, if there is one.

    Of several numbers on a line the last is taken: the first may count the bands.
    """
    if header.path is None:
        return None
    stem = header.path.with_suffix("") if header.path.suffix.lower() == ".hdr" else header.path
    names = [stem.with_name(stem.name + suffix) for suffix in WAVELENGTH_SUFFIXES]
    path = next((name for name in names if name.is_file()), None)
    if path is None:
        return None
    with open_source(path) as source, source.stream() as stream:
        lines = stream.read(LONGEST_HEADER).decode("utf-8", errors="replace").splitlines()
    words = [line.replace(",", " ").split() for line in lines if line.strip()]
    try:
        numbers = np.array([float(fields[-1]) for fields in words])
    except ValueError:
        numbers = np.empty(0)
    if len(numbers) != bands or not np.isfinite(numbers).all():
        raise ValueError(
            f"{path} has {len(words)} lines and needs {bands} wavelengths, one finite number for "
            "each band: correct or rename it"
        )
    return numbers


def read_scale(fields: Fields, bands: int, path: str) -> tuple[Scale, Scale]:
    """Factor and offset of the stored numbers: gains and offsets, or else the reflectance scale."""
    gains = read_numbers(fields, "data gain values", bands, path)
    offsets = read_numbers(fields, "data offset values", bands, path)
    divisor = read_number(fields, "reflectance scale factor", path)
    if divisor is not None and not 0 < divisor < math.inf:
        raise _wrong(fields, "reflectance scale factor", path, "a positive number")
    if gains is None and offsets is None:
        return 1 / (divisor or 1.0), 0.0
    if divisor is not None:
        warn(f"{path}: gains and offsets were applied, the reflectance scale factor was not")
    return 1.0 if gains is None else gains, 0.0 if offsets is None else offsets
