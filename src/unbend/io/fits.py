"""FITS cubes: plain images of numbers, read without further packages.

Written after the FITS standard, version 4.0: blocks of 2880 bytes, cards of 80 characters, numbers
of the high byte first, the first axis fastest.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO

import numpy as np

from unbend.arrays import FloatArray
from unbend.io.files import File
from unbend.io.numerals import Array
from unbend.memory import check_fits

BLOCK, CARD = 2880, 80
TYPES = {8: ">u1", 16: ">i2", 32: ">i4", 64: ">i8", -32: ">f4", -64: ">f8"}
# Headers end after so many blocks, and files after so many parts, unless they mean harm.
MOST_BLOCKS, MOST_PARTS = 2000, 1000
WHOLE, MOST_AXES = re.compile(r"[+-]?\d{1,18}"), 99

Cards = Mapping[str, str]


@dataclass(frozen=True)
class Image:
    """One image of a file: its cards, and where its numbers lie."""

    cards: Cards
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    start: int

    @property
    def cube(self) -> tuple[int, int, int] | None:
        """Bands, lines and samples, where no more than three axes are longer than one."""
        long = self.shape
        while len(long) > 3 and long[0] == 1:
            long = long[1:]
        if len(long) == 2:
            long = (1, *long)
        return (long[0], long[1], long[2]) if len(long) == 3 and min(long) > 0 else None


def find_image(file: File, part: int | None) -> Image:
    """Find the first image of two or three axes, or the part that is asked for, the first 0."""
    with file.unpacking() as stream:
        start, number = 0, 0
        while number < MOST_PARTS and (cards := _header(stream, file.name, number)) is not None:
            blocks = cards["blocks"]
            start += int(blocks) * BLOCK
            image, length = _image(cards, start, file.name)
            usable = image is not None and image.cube is not None and "ZIMAGE" not in cards
            if usable and part in (None, number):
                assert image is not None
                return image
            if part == number or cards.get("ZIMAGE") == "T":
                raise ValueError(_not_plain(file.name, number, cards))
            length = -(-length // BLOCK) * BLOCK
            start += length
            if file.packed:
                # To pass over what is packed takes the time of unpacking it.
                check_fits(
                    start, f"{file.name} and what is before its image", "unpack it to a file"
                )
            _skip(stream, length)
            number += 1
    which = "no image" if part is None else f"no part {part}, which would be an image"
    raise ValueError(f"{file.name} holds {which} of two or three axes")


def _not_plain(name: str, number: int, cards: Cards) -> str:
    if cards.get("ZIMAGE") == "T":
        return f"part {number} of {name} is a packed image: unpack it with funpack"
    return f"part {number} of {name} is not an image of two or three axes"


def _skip(stream: IO[bytes], length: int) -> None:
    while length > 0 and (some := stream.read(min(length, 1 << 20))):
        length -= len(some)


def _header(stream: IO[bytes], name: str, number: int) -> dict[str, str] | None:
    """Read the cards of a part, or nothing at the end of the file."""
    cards: dict[str, str] = {}
    for blocks in range(1, MOST_BLOCKS + 1):
        block = stream.read(BLOCK)
        if blocks == 1 and not _begins(block, number):
            # What follows the last part is not ours to read.
            if number:
                return None
            raise ValueError(f"{name} does not begin as a FITS file does")
        if len(block) < BLOCK:
            break
        for place in range(0, BLOCK, CARD):
            card = block[place : place + CARD].decode("latin-1")
            keyword = card[:8].rstrip()
            if keyword == "END":
                return {**cards, "blocks": str(blocks)}
            if card[8:10] == "= ":
                cards.setdefault(keyword, _value(card[10:]))
    raise ValueError(f"{name} is cut off within a header, or a header does not end")


def _begins(block: bytes, number: int) -> bool:
    return block.startswith(b"XTENSION=" if number else b"SIMPLE  =")


def _value(text: str) -> str:
    """Value of a card without its comment."""
    text = text.strip()
    if text.startswith("'"):
        quoted = re.match(r"'((?:[^']|'')*)'", text)
        return quoted[1].replace("''", "'").rstrip() if quoted else ""
    return text.partition("/")[0].strip()


def _whole(cards: Cards, keyword: str, name: str, default: int | None = None) -> int:
    text = cards.get(keyword)
    if text is None and default is not None:
        return default
    if text is None or WHOLE.fullmatch(text) is None:
        raise ValueError(
            f"{name} says {keyword} = {str(text)[:40]!r} where a whole number is needed: it is "
            "damaged"
        )
    return int(text)


def _image(cards: Cards, start: int, name: str) -> tuple[Image | None, int]:
    """Read what the cards say of the numbers: an image, if they are one, and their length."""
    bits, count = _whole(cards, "BITPIX", name), _whole(cards, "NAXIS", name)
    if bits not in TYPES or not 0 <= count <= MOST_AXES:
        raise ValueError(f"{name} says BITPIX = {bits}, NAXIS = {count}, which cannot be")
    axes = [_whole(cards, f"NAXIS{place + 1}", name) for place in range(count)]
    beside, groups = _whole(cards, "PCOUNT", name, 0), _whole(cards, "GCOUNT", name, 1)
    if min([beside, groups, *axes]) < 0:
        raise ValueError(f"{name} says that an axis has a negative length: it is damaged")
    length = abs(bits) // 8 * groups * (beside + math.prod(axes)) if axes else 0
    kind = cards.get("XTENSION", "IMAGE")
    if kind != "IMAGE" or not axes or 0 in axes or beside or groups != 1:
        return None, length
    return Image(cards, tuple(axes[::-1]), np.dtype(TYPES[bits]), start), length


def map_image(file: File, image: Image) -> Array:
    """Map the numbers into memory as bands, lines and samples; packed ones are unpacked."""
    assert image.cube is not None
    needed = math.prod(image.cube) * image.dtype.itemsize
    if file.path is not None and not file.packed:
        if image.start + needed <= file.path.stat().st_size:
            return np.memmap(file.path, image.dtype, "r", image.start, image.cube)
    else:
        content = file.bytes(image.start + needed)
        if image.start + needed <= len(content):
            flat = np.frombuffer(content, image.dtype, math.prod(image.cube), image.start)
            return flat.reshape(image.cube)
    raise ValueError(f"{file.name} is cut off: it has fewer numbers than its header promises")


def scale_of(cards: Cards, name: str) -> tuple[float, float, int | None]:
    """Return factor and offset of the stored numbers, and the number that stands for none."""
    blank = _whole(cards, "BLANK", name) if "BLANK" in cards else None
    for keyword in ("BSCALE", "BZERO"):
        if keyword in cards and math.isnan(_number(cards, keyword, math.nan)):
            raise ValueError(
                f"{name} says {keyword} = {cards[keyword][:40]!r} where a number is needed: it is "
                "damaged"
            )
    return _number(cards, "BSCALE", 1.0), _number(cards, "BZERO", 0.0), blank


def _number(cards: Cards, keyword: str, default: float) -> float:
    try:
        # Fortran writes exponents with a D.
        number = float(cards[keyword].upper().replace("D", "E"))
    except (KeyError, ValueError):
        return default
    return number if math.isfinite(number) else default


def wavelengths_of(cards: Cards, bands: int) -> tuple[FloatArray | None, str | None]:
    """Return wavelengths of the bands where the third axis is said to be even, and their unit."""
    step = _number(cards, "CDELT3", _number(cards, "CD3_3", 0.0))
    if "CRVAL3" not in cards or step == 0:
        return None, None
    first = _number(cards, "CRVAL3", 0.0)
    reference = _number(cards, "CRPIX3", 1.0)
    return first + step * (np.arange(1, bands + 1) - reference), cards.get("CUNIT3") or None
