"""FITS cubes: plain images, whose headers astropy parses.

Headers are bounded, and the sizes they claim checked, before data are mapped or unpacked:
`astropy.io.fits.open` would search all of a file, and hold it, for the end of a header.
"""

import math
import operator
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.io.numerals import Array
from unbend.io.source import Source, require
from unbend.memory import check_fits

BLOCK = 2880
END = re.compile(rb"(?s)(?:.{80})*?END {77}")
TYPES = {8: ">u1", 16: ">i2", 32: ">i4", 64: ">i8", -32: ">f4", -64: ">f8"}
# No honest file has a longer header, more parts or more bytes in a part.
MOST_BLOCKS, MOST_PARTS, MOST_BYTES = 2000, 1000, 1 << 62


@dataclass(frozen=True)
class Image:
    """One image of a file, as its header describes it."""

    # Bands, lines and samples.
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    start: int
    factor: float
    offset: float
    # The stored number for a missing value.
    blank: int | None
    wavelengths: FloatArray | None
    unit: str | None


class _DamagedFile(Exception):
    """An invalid header."""


def find_image(source: Source, part: int | None) -> Image:
    """Find the first image of two or three axes, or the part that is asked for, the first 0."""
    fits = require("astropy.io.fits", "reading FITS")
    # What astropy raises for invalid headers.
    damage = (_DamagedFile, KeyError, TypeError, OverflowError, AttributeError, fits.VerifyError)
    try:
        with source.stream() as stream, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for number, header, start in _headers(fits, source, stream):
                image = _image(header, start) if part in (None, number) else None
                if image is not None:
                    return image
                if header.get("ZIMAGE") is True:
                    raise ValueError(
                        f"part {number} of {source.name} is a packed image: unpack it with funpack"
                    )
                if part == number:
                    raise ValueError(
                        f"part {number} of {source.name} is not an image of two or three axes"
                    )
    except damage as error:
        reason = error if isinstance(error, _DamagedFile) else "a header is invalid"
        raise ValueError(
            f"{source.name} is a damaged or cut off FITS file, {reason}: fetch or write it again"
        ) from error
    which = "no image" if part is None else f"no part {part}, which would be an image"
    raise ValueError(f"{source.name} holds {which} of two or three axes")


def _headers(fits: Any, source: Source, stream: IO[bytes]) -> Iterator[tuple[int, Any, int]]:
    """Give number, header and start of the data of each part."""
    start = 0
    for number in range(MOST_PARTS):
        blocks = _header_blocks(stream, number)
        if not blocks:
            return
        header = fits.Header.fromstring(blocks.decode("latin-1"))
        start += len(blocks)
        if not 0 <= header.data_size < MOST_BYTES:
            raise _DamagedFile("a header claims an impossible size")
        yield number, header, start
        length = header.data_size_padded
        start += length
        if source.packed:
            # To skip compressed data takes the time of unpacking them.
            check_fits(start, f"{source.name} and what is before its image", "unpack it to a file")
        while length > 0 and (skipped := stream.read(min(length, 1 << 20))):
            length -= len(skipped)


def _header_blocks(stream: IO[bytes], number: int) -> bytes:
    """Read a header to its end; nothing where no further part begins."""
    blocks: list[bytes] = []
    while len(blocks) < MOST_BLOCKS and len(block := stream.read(BLOCK)) == BLOCK:
        if number and not blocks and not block.startswith(b"XTENSION="):
            return b""
        blocks.append(block)
        if END.match(block):
            return b"".join(blocks)
    if number and not blocks:
        return b""
    raise _DamagedFile("a header does not end")


def _image(header: Any, start: int) -> Image | None:
    """Read what a header says of its image, if it has a plain one of two or three axes."""
    shape = [operator.index(header[f"NAXIS{place}"]) for place in range(header["NAXIS"], 0, -1)]
    dtype = np.dtype(TYPES[header["BITPIX"]])
    if min(shape, default=0) < 0:
        raise _DamagedFile("an axis has a negative length")
    while len(shape) > 3 and shape[0] == 1:
        del shape[0]
    shape = [1, *shape] if len(shape) == 2 else shape
    plain = header.get("XTENSION", "IMAGE") == "IMAGE" and "ZIMAGE" not in header
    plain = plain and header.get("PCOUNT", 0) == 0 and header.get("GCOUNT", 1) == 1
    if not plain or len(shape) != 3 or 0 in shape:
        return None
    factor, offset = _number(header, "BSCALE", 1.0), _number(header, "BZERO", 0.0)
    if not (math.isfinite(factor) and math.isfinite(offset)):
        raise _DamagedFile("BSCALE or BZERO is not a finite number")
    blank = operator.index(header["BLANK"]) if "BLANK" in header else None
    wavelengths = _wavelengths(header, shape[0])
    unit = None if wavelengths is None else str(header.get("CUNIT3", "")) or None
    return Image(tuple(shape), dtype, start, factor, offset, blank, wavelengths, unit)


def _number(header: Any, keyword: str, default: float) -> float:
    value = header.get(keyword, default)
    return float(value) if isinstance(value, int | float) else math.nan


def _wavelengths(header: Any, bands: int) -> FloatArray | None:
    """Return wavelengths of the bands where the header declares an even third axis."""
    step = _number(header, "CDELT3", _number(header, "CD3_3", 0.0))
    first, reference = _number(header, "CRVAL3", math.nan), _number(header, "CRPIX3", 1.0)
    wavelengths = first + step * (np.arange(1, bands + 1) - reference)
    return wavelengths if step and np.isfinite(wavelengths).all() else None


def map_image(source: Source, image: Image) -> Array:
    """Map the data as bands, lines and samples; packed ones are unpacked."""
    end = image.start + math.prod(image.shape) * image.dtype.itemsize
    if source.on_disk:
        if end <= source.size:
            return source.map_array(image.dtype, image.shape, image.start)
    elif end <= len(content := source.read_bytes(end)):
        flat = np.frombuffer(content, image.dtype, math.prod(image.shape), image.start)
        return flat.reshape(image.shape)
    raise ValueError(f"{source.name} is cut off: it has fewer numbers than its header promises")
