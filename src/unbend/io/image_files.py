"""Files of images, read by Pillow, and the range of their pixels."""

import struct
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from unbend.io.numerals import Array
from unbend.io.source import require
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
# What Pillow raises for invalid files.
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
class ImageKind:
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
    def text(self) -> str:
        """The size in words."""
        return f"{self.width} x {self.height}"


@contextmanager
def _open_image(path: Path) -> Iterator[Any]:
    """Open an image; nothing but its header is read."""
    images = require("PIL.Image", "reading images")
    try:
        with warnings.catch_warnings():
            # Sizes are checked before an image is unpacked, and damage is reported below.
            warnings.simplefilter("ignore")
            with images.open(path, formats=FORMATS) as image:
                yield image
    except NotEnoughMemory:
        raise
    except _Refusal as refusal:
        raise ValueError(str(refusal)) from None
    except images.DecompressionBombError as error:
        raise ValueError(f"{path} claims to be too large for an image: it is damaged") from error
    except DAMAGE as error:
        raise ValueError(
            f"{path} is damaged, or no image in a format that is read (PNG, JPEG, TIFF, BMP, GIF, "
            "WebP and PNM are)"
        ) from error


class _Refusal(Exception):
    """A valid image that does not fit the others."""


def _kind(image: Any) -> ImageKind:
    # EXIF orientations 5 to 8 are quarter turns.
    turned = image.getexif().get(274, 1) in (5, 6, 7, 8)
    width, height = image.size[::-1] if turned else image.size
    bits = 32 if image.mode in ("I", "F") else 16 if image.mode.startswith("I;16") else 8
    return ImageKind(height, width, image.mode not in GREY, bits)


@dataclass(frozen=True)
class ImageFile:
    """The pixels of a file, and whether it had 16 bits for each colour, of which Pillow reads 8."""

    path: Path
    kind: ImageKind
    pixels: Array
    cut: bool


def read_image(
    path: Path, color: bool | None = None, first: ImageFile | None = None, *, resize: bool = False
) -> ImageFile:
    """Read an image, in colour or grey where `color` is given.

    It must have the depth of the first image, its colours where `color` is None, and its size
    unless it will be resized.
    """
    operations = require("PIL.ImageOps", "reading images")
    with _open_image(path) as image:
        # Before Pillow unpacks a PNG file to read its orientation.
        cut, own = _is_cut(image), _kind(image)
        kind = own if color is None else replace(own, color=color)
        _check_kind(kind, path, first or ImageFile(path, kind, np.empty(0), cut), resize)
        if getattr(image, "n_frames", 1) > 1 and image.format != "MPO":
            raise _Refusal(f"{path} holds several images: save each as a file of its own")
        reserve(4 * prod(kind.size), f"the pixels of {path}", "save a smaller image")
        pixels = np.asarray(_convert(operations.exif_transpose(image), kind.color))
        if pixels.shape != kind.size or not np.isfinite(pixels).all():
            raise _Refusal(f"{path} holds pixels that are not finite, or not as many as it says")
        return ImageFile(path, kind, pixels, cut)


def _check_kind(own: ImageKind, path: Path, like: ImageFile, resize: bool) -> None:
    name, first = like.path.name, like.kind
    if own.bits != first.bits or (own.bits > 8 and first.color):
        raise _Refusal(
            f"{path} has {own.bits} bits for a pixel, and {name}, the first image, has "
            f"{first.bits}: bring all to one depth, of 8 bits where colours are wanted"
        )
    if (own.height, own.width) != (first.height, first.width) and not resize:
        raise _Refusal(
            f"{path} is {own.text} and {name}, the first image, is {first.text}: bring all to one "
            "by size="
        )
    if own.color != first.color:
        kinds = ("in colour", "grey") if own.color else ("grey", "in colour")
        raise _Refusal(
            f"{path} is {kinds[0]} and {name}, the first image, is {kinds[1]}: pass color=True or "
            "color=False to bring all to one"
        )


def _is_cut(image: Any) -> bool:
    """Whether the file has 16 bits for each colour, and Pillow gives the higher 8."""
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        return False
    # What Pillow is going to unpack: of PNG and TIFF its kind, of PNM the largest value.
    layouts = [tile[3] for tile in image.tile]
    words = [word for some in layouts for word in (some if isinstance(some, tuple) else (some,))]
    deep = any(isinstance(word, str) and ";16" in word for word in words)
    return deep or (image.format == "PPM" and any(type(w) is int and w > 255 for w in words))


def resample(pixels: Array, size: tuple[int, int]) -> Array:
    """Resize an image by the bilinear filter, in single precision.

    Pillow widens the filter to the pixels that become one, so that none is left out.
    """
    images = require("PIL.Image", "changing the size of images")
    if pixels.ndim == 3:
        return np.stack([resample(band, size) for band in np.moveaxis(pixels, 2, 0)], axis=2)
    if pixels.ndim != 2 or not pixels.size or pixels.dtype.kind not in "biuf":
        raise ValueError(
            f"an image has the shape {pixels.shape} and the type {pixels.dtype}: images are "
            "numbers, (height, width) or (height, width, 3)"
        )
    image = images.fromarray(np.ascontiguousarray(pixels, dtype=np.float32))
    return np.asarray(image.resize(size[::-1], images.Resampling.BILINEAR))


def _convert(image: Any, color: bool) -> Any:
    if color:
        return image.convert("RGB")
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        return image
    return image.convert("L")


@dataclass
class PixelRange:
    """Values of the pixels of many images, counted image by image.

    Examples
    --------
    >>> pixels = PixelRange()
    >>> pixels.add(np.array([[255, 255], [255, 0]]), color=False)
    >>> pixels.is_mostly_white, pixels.least, pixels.most
    (True, 0.0, 255.0)
    """

    least: float = np.inf
    most: float = -np.inf
    # Whether there was a third value, or a colour.
    other: bool = False
    counts: Counter[float] = field(default_factory=Counter)

    def add(self, pixels: Array, color: bool) -> None:
        """Count the pixels of some images; with colours, three after each other are one pixel."""
        ends = {float(pixels.min()), float(pixels.max())}
        self.least, self.most = min(self.least, *ends), max(self.most, *ends)
        if self.other:
            return
        found = {end: int(np.count_nonzero(pixels == end)) for end in ends}
        self.counts.update(found)
        dots = pixels.reshape(-1, 3 if color else 1)
        self.other = (
            sum(found.values()) < pixels.size
            or len(self.counts) > 2
            or bool((dots != dots[:, :1]).any())
        )

    @property
    def is_mostly_white(self) -> bool:
        """Whether all images together have two values, and more of the larger; neither a colour."""
        if self.other or len(self.counts) < 2:
            return False
        return self.counts[self.most] > self.counts[self.least]
