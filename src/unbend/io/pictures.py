"""One file of an image, read by Pillow."""

import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from unbend.io.numerals import Array
from unbend.io.optional import needed
from unbend.memory import NotEnoughMemory, reserve

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
    color: bool
    bits: int = 8

    @property
    def size(self) -> tuple[int, ...]:
        """Shape of the pixels."""
        return (self.height, self.width, 3) if self.color else (self.height, self.width)

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
    except NotEnoughMemory:
        raise
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


@dataclass(frozen=True)
class Picture:
    """The pixels of a file, and whether it had 16 bits for each colour, of which Pillow reads 8."""

    pixels: Array
    cut: bool


def picture(path: Path, kind: Kind, first: Path, *, convert: bool, resample: bool) -> Picture:
    """Read the pixels of an image that must have the depth of the first, its colours and its size.

    With `convert`, colours are made or left out as the kind says; with `resample`, any size does.
    """
    operations = needed("PIL.ImageOps", "reading images")
    with _opened(path) as image:
        # Before Pillow unpacks a PNG file to look for how the camera was held.
        cut = _is_cut(image)
        found = _kind(image)
        _check_kind(found, kind, path, first, convert=convert, resample=resample)
        if getattr(image, "n_frames", 1) > 1 and image.format != "MPO":
            raise _Refused(f"{path} holds several images: save each as a file of its own")
        own = replace(found, color=kind.color)
        reserve(4 * prod(own.size), f"the pixels of {path}", "save a smaller image")
        pixels = np.asarray(_converted(operations.exif_transpose(image), kind.color))
        if pixels.shape != own.size or not np.isfinite(pixels).all():
            raise _Refused(f"{path} holds pixels that are not finite, or not as many as it says")
        return Picture(pixels, cut)


def _check_kind(
    found: Kind, kind: Kind, path: Path, first: Path, *, convert: bool, resample: bool
) -> None:
    if found.bits != kind.bits or (found.bits > 8 and kind.color):
        raise _Refused(
            f"{path} has {found.bits} bits for a pixel, and {first.name}, the first image, has "
            f"{kind.bits}: bring all to one depth, of 8 bits where colours are wanted"
        )
    if (found.height, found.width) != (kind.height, kind.width) and not resample:
        raise _Refused(
            f"{path} is {found.seen} and {first.name}, the first image, is {kind.seen}: bring "
            "all to one by size="
        )
    if found.color != kind.color and not convert:
        kinds = ("in colour", "grey") if found.color else ("grey", "in colour")
        raise _Refused(
            f"{path} is {kinds[0]} and {first.name}, the first image, is {kinds[1]}: pass "
            "color=True or color=False to bring all to one"
        )


def _is_cut(image: Any) -> bool:
    """Whether the file has 16 bits for each colour, and Pillow gives the higher 8."""
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        return False
    # What Pillow is going to unpack: of PNG and TIFF its kind, of PNM the largest value.
    told = [tile[3] for tile in image.tile]
    words = [word for some in told for word in (some if isinstance(some, tuple) else (some,))]
    deep = any(isinstance(word, str) and ";16" in word for word in words)
    return deep or (image.format == "PPM" and any(type(w) is int and w > 255 for w in words))


def pixels_of(read: Picture, kind: Kind) -> Array:
    """Pixels in the size of a kind."""
    if read.pixels.shape[:2] == (kind.height, kind.width):
        return read.pixels
    return resampled(read.pixels, (kind.height, kind.width))


def resampled(pixels: Array, size: tuple[int, int]) -> Array:
    """Bring an image to a height and width by the bilinear filter, in single precision.

    Pillow widens the filter to the pixels that become one, so that none is left out.
    """
    images = needed("PIL.Image", "changing the size of images")
    if pixels.ndim == 3:
        return np.stack([resampled(band, size) for band in np.moveaxis(pixels, 2, 0)], axis=2)
    if pixels.ndim != 2 or not pixels.size or pixels.dtype.kind not in "biuf":
        raise ValueError(
            f"an image has the shape {pixels.shape} and the type {pixels.dtype}: images are "
            "numbers, (height, width) or (height, width, 3)"
        )
    image = images.fromarray(np.ascontiguousarray(pixels, dtype=np.float32))
    return np.asarray(image.resize(size[::-1], images.Resampling.BILINEAR))


def _converted(image: Any, color: bool) -> Any:
    if color:
        return image.convert("RGB")
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        return image
    return image.convert("L")
