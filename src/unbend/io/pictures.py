"""One file of an image, read by Pillow."""

import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unbend.io.numerals import Array
from unbend.io.optional import needed

SUFFIXES = (
    ".png",
    ".jpg",
    ".jpeg",
    ".tif",
    ".tiff",
    ".bmp",
    ".gif",
    ".webp",
    ".pgm",
    ".ppm",
    ".pbm",
    ".pnm",
)
# Others are left alone: Pillow would run another program to draw PostScript.
FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "GIF", "WEBP", "PPM")
GREY = ("1", "L", "LA", "I", "F", "I;16", "I;16B", "I;16L", "I;16N")
# What Pillow raises over files that make no sense.
DAMAGE = (
    OSError,
    ValueError,
    TypeError,
    SyntaxError,
    EOFError,
    IndexError,
    KeyError,
    AttributeError,
    OverflowError,
    MemoryError,
    RuntimeError,
    ZeroDivisionError,
    struct.error,
)


@dataclass(frozen=True)
class Kind:
    """Height, width, whether there are colours, and bits of a number."""

    height: int
    width: int
    colour: bool
    bits: int = 8

    @property
    def size(self) -> tuple[int, ...]:
        """Shape of the pixels."""
        return (self.height, self.width, 3) if self.colour else (self.height, self.width)

    @property
    def seen(self) -> str:
        """The size in words."""
        return f"{self.width} x {self.height}"


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open an image; nothing but its header is read."""
    images = needed("PIL.Image", "reading images")
    try:
        with warnings.catch_warnings():
            # Of the size we are sure before an image is unpacked; of damage we tell ourselves.
            warnings.simplefilter("ignore")
            with images.open(path, formats=FORMATS) as image:
                yield image
    except _Refused as refusal:
        raise ValueError(str(refusal)) from None
    except images.DecompressionBombError as error:
        raise ValueError(f"{path} claims to be too large for an image: it is damaged") from error
    except DAMAGE as error:
        raise ValueError(
            f"{path} is damaged, or no image in a format that is read (PNG, JPEG, TIFF, BMP, GIF, "
            "WebP and PNM are)"
        ) from error


class _Refused(Exception):
    """An image that is sound and does not fit."""


def picture_kind(path: Path) -> Kind:
    """Tell size and colours from the header."""
    with _opened(path) as image:
        return _kind(image)


def _kind(image: Any) -> Kind:
    # Cameras store how they were held: 5 to 8 are quarter turns.
    turned = image.getexif().get(274, 1) in (5, 6, 7, 8)
    width, height = image.size[::-1] if turned else image.size
    bits = 32 if image.mode in ("I", "F") else 16 if image.mode.startswith("I;16") else 8
    return Kind(height, width, image.mode not in GREY, bits)


def picture(path: Path, kind: Kind, first: Path, *, convert: bool) -> Array:
    """Read the pixels of an image that must have the size of the first, and its colours.

    With `convert`, colours are made or left out as the kind says.
    """
    operations = needed("PIL.ImageOps", "reading images")
    with _opened(path) as image:
        found = _kind(image)
        if found.bits != kind.bits or (found.bits > 8 and kind.colour):
            raise _Refused(
                f"{path} has {found.bits} bits for a pixel, and {first.name}, the first image, has "
                f"{kind.bits}: bring all to one depth, of 8 bits where colours are wanted"
            )
        if (found.height, found.width) != (kind.height, kind.width):
            raise _Refused(
                f"{path} is {found.seen} and {first.name}, the first image, is {kind.seen}: bring "
                "all to one size"
            )
        if found.colour != kind.colour and not convert:
            kinds = ("in colour", "grey") if found.colour else ("grey", "in colour")
            raise _Refused(
                f"{path} is {kinds[0]} and {first.name}, the first image, is {kinds[1]}: pass "
                "colour=True or colour=False to bring all to one"
            )
        if getattr(image, "n_frames", 1) > 1 and image.format != "MPO":
            raise _Refused(f"{path} holds several images: save each as a file of its own")
        upright = operations.exif_transpose(image)
        pixels = np.asarray(_converted(upright, kind.colour))
        if pixels.shape != kind.size or not np.isfinite(pixels).all():
            raise _Refused(f"{path} holds pixels that are not finite, or not as many as it says")
        return pixels


def _converted(image: Any, colour: bool) -> Any:
    if colour:
        return image.convert("RGB")
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        return image
    return image.convert("L")
