"""A cube of images, one for each wavelength, as a table of its pixels or of its bands."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unbend.arrays import BoolArray, FloatArray, row_chunks
from unbend.io.numerals import Array
from unbend.io.table import Roles, Table, table_of_matrix
from unbend.memory import reserve


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
        The stored number that stands for none.
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
        values = self._room()
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
        values = self._room().reshape(int(self.good.sum()), -1)
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
            What stands where pixels were left out.

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
        """Give all pixels, some rows at a time, with NaN where a number is missing."""
        samples = self.shape[1]
        total = self.shape[0] * samples
        step = rows or total
        for start in range(0, total, step):
            end = min(start + step, total)
            lines = slice(start // samples, -(-end // samples))
            flat = self._numbers(lines).reshape(-1, len(self._columns))
            first = start - lines.start * samples
            some = flat[first : first + end - start]
            yield table_of_matrix(some, self._columns, roles, start, self.where)

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
        numbers = self._scaled(stored)
        if self.ignored is not None and not np.isnan(self.ignored):
            numbers[stored == self.ignored] = np.nan
        numbers[np.isinf(numbers)] = np.nan
        return numbers

    def _scaled(self, stored: Array) -> FloatArray:
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

    def _room(self) -> FloatArray:
        count, bands = int(self.kept.sum()), int(self.good.sum())
        if not count or not bands:
            what = "pixel that has all its numbers" if bands else "band that is not called bad"
            raise ValueError(f"{self.where} has no {what}")
        size = count * bands * self._dtype.itemsize
        reserve(size, f"the numbers of {self.where}", "use unbend.io.batches(cube)")
        return np.empty((count, bands), dtype=self._dtype)
