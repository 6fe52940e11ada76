"""Cubes of images in files: ENVI and FITS in, ENVI and PNG out."""

import os
import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from unbend.arrays import FloatArray
from unbend.files import replacing
from unbend.io.cube import Cube
from unbend.io.envi import (
    TYPES,
    envi_files,
    is_envi_header,
    listed,
    map_data,
    number_of,
    numbers_of,
    read_fields,
)
from unbend.io.envi import scale_of as envi_scale
from unbend.io.files import File, file_of
from unbend.io.fits import find_image, map_image
from unbend.io.numerals import Array
from unbend.io.optional import needed

ENVI_SUFFIXES = (".hdr", ".img", ".dat")
# Shares of the pixels that a picture shows as black, and as white.
DARK, LIGHT = 2, 98


def read_cube(source: Any, *, data: Any = None, part: int | None = None) -> Cube:
    """Open a cube of images at many wavelengths: ENVI or FITS.

    Parameters
    ----------
    source : path, or binary file object for FITS
        Of ENVI the header or the data, in any interleave, sample type and byte order; of FITS the
        file, which may be packed by gzip.
    data : path, optional
        The data of an ENVI header, where they are not beside it under the same name.
    part : int, optional
        Which part of a FITS file, the first being 0; by default the first that is an image of two
        or three axes.

    Returns
    -------
    Cube
        The numbers stay in the file: `pixels` and `bands` make tables of them.

    Examples
    --------
    >>> import io
    >>> import unbend
    >>> cards = ["SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 3", "NAXIS1  = 2", "NAXIS2  = 1",
    ...          "NAXIS3  = 3", "END"]
    >>> header = "".join(card.ljust(80) for card in cards).ljust(2880)
    >>> cube = unbend.io.read_cube(io.BytesIO(header.encode() + bytes([1, 2, 3, 4, 5, 6])))
    >>> cube.shape, cube.pixels().values.tolist()
    ((1, 2, 3), [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]])
    """
    file = file_of(source)
    with file.open() as stream:
        head = stream.read(9)
    if head == b"SIMPLE  =":
        if data is not None:
            raise ValueError(f"{file.name} is a FITS file, which holds its data: leave out data=")
        return _from_fits(file, part)
    if file.path is None:
        raise ValueError(f"{file.name} is no FITS file: name an ENVI cube by its path")
    if part is not None:
        raise ValueError(f"part={part} is for FITS files, and {file.name} is none")
    return _from_envi(file.path, data)


def _from_envi(path: Path, data: Any) -> Cube:
    if data is None:
        header_path, data_path = envi_files(path)
    else:
        header_path, data_path = path, Path(os.fspath(data))
        if not is_envi_header(header_path):
            raise ValueError(f"{header_path} is not the header of an ENVI cube")
        if not data_path.is_file():
            raise FileNotFoundError(f"there is no file {data_path}")
    fields = read_fields(header_path)
    numbers = map_data(data_path, fields, header_path)
    bands = numbers.shape[2]
    wavelengths = numbers_of(fields, "wavelength", bands, header_path)
    good = numbers_of(fields, "bbl", bands, header_path)
    factor, offset = envi_scale(fields, bands, header_path)
    return Cube(
        data=numbers,
        names=_names(listed(fields, "band names"), wavelengths, bands),
        wavelengths=wavelengths,
        unit=fields.get("wavelength units"),
        good=np.ones(bands, dtype=bool) if good is None else good != 0,
        ignored=number_of(fields, "data ignore value", header_path),
        factor=factor,
        offset=offset,
        where=str(path),
    )


def _from_fits(file: File, part: int | None) -> Cube:
    image = find_image(file, part)
    numbers = map_image(file, image).transpose(1, 2, 0)
    bands = numbers.shape[2]
    return Cube(
        data=numbers,
        names=_names(None, image.wavelengths, bands),
        wavelengths=image.wavelengths,
        unit=image.unit,
        good=np.ones(bands, dtype=bool),
        ignored=image.blank if image.dtype.kind in "iu" else None,
        factor=image.factor,
        offset=image.offset,
        where=file.name,
    )


def _names(
    given: tuple[str, ...] | None, wavelengths: FloatArray | None, bands: int
) -> tuple[str, ...]:
    """Names of the bands, none of them twice."""
    told = None if wavelengths is None else tuple(f"{length:.10g}" for length in wavelengths)
    for names in (given, told):
        if names is not None and len(set(names)) == bands == len(names) and all(names):
            return names
    return tuple(f"x{band}" for band in range(bands))


def write_cube(
    target: Any,
    image: Any,
    *,
    names: Sequence[str] | None = None,
    wavelengths: Any = None,
    unit: str | None = None,
) -> None:
    """Write an image of one or more bands as an ENVI cube, or as a PNG picture.

    Parameters
    ----------
    target : path
        ``.hdr``, ``.img`` or ``.dat``: an ENVI header and its data beside it, band by band.
        ``.png``: a grey picture of one band or a coloured one of three, each from its 2nd
        percentile, black, to its 98th; whole numbers of 8 bits are written as they are. Pixels
        without a number are transparent.
    image : array (lines, samples) or (lines, samples, bands)
        As `Cube.image` gives it.
    names : sequence of str, optional
        Names of the bands.
    wavelengths : array (bands,), optional
        Wavelengths of the bands.
    unit : str, optional
        Their unit, as ``"Nanometers"``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import unbend
    >>> folder = Path(tempfile.mkdtemp())
    >>> unbend.io.write_cube(folder / "flat.hdr", np.zeros((4, 5, 2)), names=["u", "v"])
    >>> unbend.io.read_cube(folder / "flat.hdr").names
    ('u', 'v')
    >>> unbend.io.write_cube(folder / "flat.png", np.eye(4))
    >>> sorted(file.name for file in folder.iterdir())
    ['flat.hdr', 'flat.img', 'flat.png']
    """
    path = Path(os.fspath(target))
    pixels = np.asarray(image)
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if pixels.ndim != 3 or not pixels.size or pixels.dtype.kind not in "biufc":
        raise ValueError("an image must be an array of numbers (lines, samples, bands)")
    if path.suffix.lower() == ".png":
        _write_png(path, pixels)
    elif path.suffix.lower() in ENVI_SUFFIXES:
        lists = _lists(pixels.shape[2], names, wavelengths)
        _write_envi(path, pixels, lists, unit)
    else:
        allowed = ", ".join((*ENVI_SUFFIXES, ".png"))
        raise ValueError(f"{path} has an extension that is not written: use one of {allowed}")


def _lists(bands: int, names: Sequence[str] | None, wavelengths: Any) -> dict[str, list[str]]:
    """Entries of the header with one word for each band."""
    lists = {}
    if names is not None:
        # Braces, commas and line ends would end the list, or an entry of it.
        lists["band names"] = [re.sub(r"[{},\s]+", " ", str(name)).strip() for name in names]
    if wavelengths is not None:
        lists["wavelength"] = [repr(float(length)) for length in np.asarray(wavelengths).ravel()]
    for name, words in lists.items():
        if len(words) != bands:
            raise ValueError(f"there are {len(words)} entries of {name!r} for {bands} bands")
    return lists


def _write_envi(path: Path, pixels: Array, lists: dict[str, list[str]], unit: str | None) -> None:
    lines, samples, bands = pixels.shape
    stored = _stored(pixels.dtype)
    number = next(number for number, name in TYPES.items() if np.dtype(name) == stored)
    said = [
        "ENVI",
        f"samples = {samples}",
        f"lines = {lines}",
        f"bands = {bands}",
        "header offset = 0",
        "file type = ENVI Standard",
        f"data type = {number}",
        "interleave = bsq",
        "byte order = 0",
    ]
    if stored.kind == "f" and np.isnan(pixels).any():
        said.append("data ignore value = nan")
    if unit is not None:
        said.append("wavelength units = " + re.sub(r"[{}=\s]+", " ", unit).strip())
    said += [f"{name} = {{{', '.join(words)}}}" for name, words in lists.items()]
    suffix = ".img" if path.suffix.lower() == ".hdr" else path.suffix
    with ExitStack() as files:
        # The header takes its place last, so that it never speaks of data that are not there.
        header = files.enter_context(replacing(path.with_suffix(".hdr")))
        data = files.enter_context(replacing(path.with_suffix(suffix)))
        header.write_text("\n".join(said) + "\n", encoding="utf-8")
        with open(data, "wb") as stream:
            for band in range(bands):
                stream.write(pixels[:, :, band].astype(stored.newbyteorder("<")).tobytes())


def _stored(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Sample type of ENVI's that holds an array's numbers."""
    sizes = {"b": ["u1"], "u": ["u1", "u2", "u4", "u8"], "i": ["i2", "i4", "i8"]}
    sizes |= {"f": ["f4", "f8"], "c": ["c8", "c16"]}
    types = [np.dtype(name) for name in sizes[dtype.kind]]
    return next((held for held in types if held.itemsize >= dtype.itemsize), types[-1])


def _write_png(path: Path, pixels: Array) -> None:
    pictures = needed("PIL.Image", "writing PNG")
    if pixels.shape[2] not in (1, 3) or pixels.dtype.kind == "c":
        raise ValueError(
            f"a picture has one band or three and the image has {pixels.shape[2]}: choose some, as "
            "image[:, :, :3], or write an ENVI cube"
        )
    seen = np.asarray(np.isfinite(pixels).all(axis=2))
    if pixels.dtype != np.uint8:
        bands = [_stretched(pixels[:, :, band], seen) for band in range(pixels.shape[2])]
        pixels = np.stack(bands, axis=2)
    if not seen.all():
        pixels = np.dstack([pixels, np.where(seen, 255, 0).astype(np.uint8)])
    with replacing(path) as partial:
        pictures.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels).save(
            partial, format="PNG"
        )


def _stretched(band: Array, seen: Array) -> Array:
    """Grey of a band: from its 2nd percentile, black, to its 98th, white."""
    numbers = band[seen].astype(np.float64)
    low, high = np.percentile(numbers, [DARK, LIGHT]) if numbers.size else (0.0, 0.0)
    if low == high and numbers.size:
        low, high = numbers.min(), numbers.max()
    grey = np.zeros(band.shape, dtype=np.uint8)
    if low < high:
        grey[seen] = np.rint(255 * np.clip((numbers - low) / (high - low), 0, 1))
    return grey
