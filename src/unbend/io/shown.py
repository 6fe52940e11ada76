"""Images to be drawn, small: each in its own size and colours."""

from pathlib import Path
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.io.folders import files_of, is_folder
from unbend.io.images import read_images
from unbend.io.pictures import SUFFIXES, picture, picture_kind, resampled

# Pixels of the longer side that a small image shows.
LONGEST = 128


def shown_images(source: Any) -> list[FloatArray]:
    """Read the images of a folder as they are, or those of what else `read_images` takes.

    They need not have one size, nor be exchanged black for white: nothing is compared.
    """
    if not is_folder(source):
        return [_small(np.asarray(image)) for image in read_images(source).pictures]
    return [_small(_own(path)) for path in files_of(source, SUFFIXES, "images").paths]


def _own(path: Path) -> FloatArray:
    kind = picture_kind(path)
    return picture(path, kind, path, convert=False, resample=False).pixels.astype(np.float32)


def _small(pixels: FloatArray) -> FloatArray:
    height, width = pixels.shape[:2]
    share = LONGEST / max(height, width)
    if share >= 1:
        return pixels
    return resampled(pixels, (max(round(height * share), 1), max(round(width * share), 1)))
