"""Cubes of images, one for each wavelength: tables of pixels or bands; ENVI and FITS files."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unbend.arrays import BoolArray, FloatArray, row_chunks
from unbend.cached import cached_property
from unbend.files import atomic_write
from unbend.io import envi
from unbend.io.fits import find_image, map_image
from unbend.io.numerals import Array
from unbend.io.source import Source, open_source, require
from unbend.io.table import Roles, Table, table_from_matrix
from unbend.memory import reserve

ENVI_SUFFIXES = (".hdr", ".img", ".dat")
# Shares of the pixels that a picture shows as black, and as white.
DARK, LIGHT = 2, 98


@dataclass(frozen=True, eq=False)
class Cube:
    """Images of one place at many wavelengths; what `read_cube` returns.

    The numbers stay in the file until they are asked for. `unbend.io.batches` takes a cube for
    its pixels.

    Attributes
    ----------
    data : array (lines, samples, bands)
        The numbers as they are stored.
    names : tuple of str
        Names of the bands, or their wavelengths, or x0, x1, …
    wavelengths : array (bands,) or None
        Wavelengths of the bands.
    unit : str or None
        Their unit, as the file calls it.
    good : array (bands,) of bool
        Bands that the file does not call bad; the others are left out of the tables.
    ignored : float or None
        The stored number for a missing value.
    factor, offset : float or array (bands,)
        A number of the table is the stored one times `factor` plus `offset`, each one for all
        bands or one for each.
    where : str
        Name of the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import unbend
    >>> scene = Path(tempfile.mkdtemp()) / "scene.hdr"
    >>> numbers = np.random.default_rng(0).random((4, 5, 30))
    >>> numbers[0, 0] = np.nan
    >>> unbend.io.write_cube(scene, numbers, wavelengths=np.linspace(400, 980, 30))
    >>> cube = unbend.io.read_cube(scene)
    >>> table = cube.pixels()
    >>> flat = unbend.PCA(n_components=3).fit_transform(table)
    >>> table.shape, cube.image(flat).shape, int(cube.kept.sum())
    ((19, 30), (4, 5, 3), 19)
    """

    data: Array
    names: tuple[str, ...]
    wavelengths: FloatArray | None
    unit: str | None
    good: BoolArray
    ignored: float | None
    factor: float | FloatArray
    offset: float | FloatArray
    where: str

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of lines, samples and bands."""
        lines, samples, bands = self.data.shape
        return lines, samples, bands

    @cached_property
    def kept(self) -> BoolArray:
        """Pixels that have a number in every good band, (lines, samples)."""
        kept = np.empty(self.shape[:2], dtype=bool)
        for part in self._parts():
            kept[part] = np.isfinite(self._numbers(part)).all(axis=2)
        return kept

    def pixels(self) -> Table:
        """Give the pixels as rows and the good bands as columns.

        Returns
        -------
        Table
            Pixels that lack a number are left out: `rows` has the places of those that are there,
            line by line, and `image` puts results back.
        """
        values = self._allocate()
        done = 0
        for part in self._parts():
            some = self._numbers(part)[self.kept[part]]
            values[done : done + len(some)] = some
            done += len(some)
        rows = np.flatnonzero(self.kept)
        return Table(values, self._columns, None, None, None, None, rows)

    def bands(self) -> Table:
        """Give the good bands as rows and the pixels that have all numbers as columns.

        Returns
        -------
        Table
            The ids are the wavelengths, or the names of the bands.
        """
        values = self._allocate().reshape(int(self.good.sum()), -1)
        done = 0
        for part in self._parts():
            some = self._numbers(part)[self.kept[part]]
            values[:, done : done + len(some)] = some.T
            done += len(some)
        places = np.argwhere(self.kept).tolist()
        ids: Array = np.array(self.names) if self.wavelengths is None else self.wavelengths
        return Table(
            values=values,
            columns=tuple(f"y{line}x{sample}" for line, sample in places),
            label=None,
            label_name=None,
            ids=ids[self.good],
            id_name="band" if self.wavelengths is None else "wavelength",
            rows=np.flatnonzero(self.good),
        )

    def image(self, values: Any, fill: float = np.nan) -> Array:
        """Put one row of results for each kept pixel back in its place.

        Parameters
        ----------
        values : array (kept pixels,) or (kept pixels, k)
            Coordinates, labels or other results for the rows of `pixels`.
        fill : float, default=nan
            Value of pixels that were left out.

        Returns
        -------
        array (lines, samples, k)
        """
        results = np.asarray(values)
        count = int(self.kept.sum())
        if results.ndim not in (1, 2) or len(results) != count:
            raise ValueError(
                f"results of the shape {results.shape} are not one row for each of the {count} "
                f"pixels that {self.where} has"
            )
        results = results.reshape(count, -1)
        whole = self.kept.all()
        dtype = results.dtype if whole else np.result_type(results.dtype, np.array(fill).dtype)
        image = np.full((*self.shape[:2], results.shape[1]), fill if not whole else 0, dtype)
        image[self.kept] = results
        return image

    def tables(self, roles: Roles, rows: int | None) -> Iterator[Table]:
        """Yield all pixels in batches, with NaN for missing numbers."""
        samples = self.shape[1]
        total = self.shape[0] * samples
        step = rows or total
        for start in range(0, total, step):
            end = min(start + step, total)
            lines = slice(start // samples, -(-end // samples))
            flat = self._numbers(lines).reshape(-1, len(self._columns))
            first = start - lines.start * samples
            some = flat[first : first + end - start]
            yield table_from_matrix(some, self._columns, roles, start, self.where)

    @property
    def _columns(self) -> tuple[str, ...]:
        return tuple(name for name, good in zip(self.names, self.good, strict=True) if good)

    @property
    def _dtype(self) -> np.dtype[Any]:
        """Single precision where it holds the stored numbers exactly."""
        kind, size = self.data.dtype.kind, self.data.dtype.itemsize
        if kind == "c":
            raise ValueError(
                f"{self.where} holds complex numbers: take dataclasses.replace(cube, "
                "data=np.abs(cube.data)), or another part of them"
            )
        single = size <= 4 if kind == "f" else size <= 2
        return np.dtype(np.float32 if single else np.float64)

    def _parts(self) -> list[slice]:
        lines, samples, bands = self.shape
        return row_chunks(lines, 16 * samples * bands)

    def _numbers(self, lines: slice) -> FloatArray:
        """Numbers of some lines in the good bands, NaN where there is none."""
        stored = self.data[lines] if self.good.all() else self.data[lines][:, :, self.good]
        numbers = self._scale(stored)
        if self.ignored is not None and not np.isnan(self.ignored):
            numbers[stored == self.ignored] = np.nan
        numbers[np.isinf(numbers)] = np.nan
        return numbers

    def _scale(self, stored: Array) -> FloatArray:
        dtype = self._dtype
        factor, offset = self._of_good(self.factor), self._of_good(self.offset)
        if stored.dtype.kind == "i" and (factor == 1).all() and (offset == 2.0**63).all():
            # So FITS stores unsigned numbers of 64 bits: added in double precision, the offset
            # would take the digits of small ones.
            whole = np.array(stored, dtype=np.int64, order="K") ^ np.int64(-(2**63))
            return whole.view(np.uint64).astype(dtype)
        # Converted in the order of the file, which is the fast one; the copy follows the strides.
        numbers = np.array(stored, dtype=dtype, order="K")
        if (factor != 1).any() or (offset != 0).any():
            numbers = (numbers * factor + offset).astype(dtype)
        return numbers

    def _of_good(self, scale: float | FloatArray) -> FloatArray:
        """Scale of all bands, or of each good one."""
        scales = np.asarray(scale, dtype=np.float64)
        return scales[self.good] if scales.ndim else scales

    def _allocate(self) -> FloatArray:
        count, bands = int(self.kept.sum()), int(self.good.sum())
        if not count or not bands:
            what = "pixel that has all its numbers" if bands else "band that is not called bad"
            raise ValueError(f"{self.where} has no {what}")
        size = count * bands * self._dtype.itemsize
        reserve(size, f"the numbers of {self.where}", "use unbend.io.batches(cube)")
        return np.empty((count, bands), dtype=self._dtype)


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
    source = open_source(source)
    if source.format == "fits":
        if data is not None:
            raise ValueError(f"{source.name} is a FITS file, which holds its data: leave out data=")
        return _from_fits(source, part)
    if source.path is None:
        raise ValueError(f"{source.name} is not a FITS file: name an ENVI cube by its path")
    if part is not None:
        raise ValueError(f"part={part} is for FITS files, and {source.name} is none")
    return _from_envi(source, data)


def _from_envi(source: Source, data: Any) -> Cube:
    if data is None:
        header, numbers = envi.open_files(source)
    else:
        header, numbers = source, open_source(data)
        if not envi.is_header(header):
            raise ValueError(f"{header.name} is not the header of an ENVI cube")
    fields = envi.read_fields(header)
    stored = envi.map_data(numbers, fields, header.name)
    bands = stored.shape[2]
    wavelengths = envi.read_numbers(fields, "wavelength", bands, header.name)
    if wavelengths is None:
        wavelengths = envi.read_wavelength_file(header, bands)
    good = envi.read_numbers(fields, "bbl", bands, header.name)
    factor, offset = envi.read_scale(fields, bands, header.name)
    return Cube(
        data=stored,
        names=_names(envi.read_list(fields, "band names"), wavelengths, bands),
        wavelengths=wavelengths,
        unit=fields.get("wavelength units"),
        good=np.ones(bands, dtype=bool) if good is None else good != 0,
        ignored=envi.read_number(fields, "data ignore value", header.name),
        factor=factor,
        offset=offset,
        where=source.name,
    )


def _from_fits(source: Source, part: int | None) -> Cube:
    image = find_image(source, part)
    numbers = map_image(source, image).transpose(1, 2, 0)
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
        where=source.name,
    )


def _names(
    given: tuple[str, ...] | None, wavelengths: FloatArray | None, bands: int
) -> tuple[str, ...]:
    """Names of the bands, none of them twice."""
    by_wavelength = (
        None if wavelengths is None else tuple(f"{length:.10g}" for length in wavelengths)
    )
    for names in (given, by_wavelength):
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
        percentile, black, to its 98th; integers of 8 bits are written as they are. Pixels
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
    stored = _stored_type(pixels.dtype)
    number = next(number for number, name in envi.TYPES.items() if np.dtype(name) == stored)
    header_lines = [
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
        header_lines.append("data ignore value = nan")
    if unit is not None:
        header_lines.append("wavelength units = " + re.sub(r"[{}=\s]+", " ", unit).strip())
    header_lines += [f"{name} = {{{', '.join(words)}}}" for name, words in lists.items()]
    suffix = ".img" if path.suffix.lower() == ".hdr" else path.suffix
    with ExitStack() as files:
        # The header is renamed last, so that it never describes data that are not there.
        header = files.enter_context(atomic_write(path.with_suffix(".hdr")))
        data = files.enter_context(atomic_write(path.with_suffix(suffix)))
        header.write_text("\n".join(header_lines) + "\n", encoding="utf-8")
        with open(data, "wb") as stream:
            for band in range(bands):
                stream.write(pixels[:, :, band].astype(stored.newbyteorder("<")).tobytes())


def _stored_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Sample type of ENVI's that holds an array's numbers."""
    sizes = {"b": ["u1"], "u": ["u1", "u2", "u4", "u8"], "i": ["i2", "i4", "i8"]}
    sizes |= {"f": ["f4", "f8"], "c": ["c8", "c16"]}
    types = [np.dtype(name) for name in sizes[dtype.kind]]
    return next((held for held in types if held.itemsize >= dtype.itemsize), types[-1])


def _write_png(path: Path, pixels: Array) -> None:
    pictures = require("PIL.Image", "writing PNG")
    if pixels.shape[2] not in (1, 3) or pixels.dtype.kind == "c":
        raise ValueError(
            f"a picture has one band or three and the image has {pixels.shape[2]}: choose some, as "
            "image[:, :, :3], or write an ENVI cube"
        )
    finite = np.asarray(np.isfinite(pixels).all(axis=2))
    if pixels.dtype != np.uint8:
        bands = [_stretch(pixels[:, :, band], finite) for band in range(pixels.shape[2])]
        pixels = np.stack(bands, axis=2)
    if not finite.all():
        pixels = np.dstack([pixels, np.where(finite, 255, 0).astype(np.uint8)])
    with atomic_write(path) as temporary:
        pictures.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels).save(
            temporary, format="PNG"
        )


def _stretch(band: Array, finite: Array) -> Array:
    """Grey of a band: from its 2nd percentile, black, to its 98th, white."""
    numbers = band[finite].astype(np.float64)
    low, high = np.percentile(numbers, [DARK, LIGHT]) if numbers.size else (0.0, 0.0)
    if low == high and numbers.size:
        low, high = numbers.min(), numbers.max()
    grey = np.zeros(band.shape, dtype=np.uint8)
    if low < high:
        grey[finite] = np.rint(255 * np.clip((numbers - low) / (high - low), 0, 1))
    return grey
