"""What one run of the server holds: open tables, embeddings and jobs, and a folder for files."""

import secrets
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unbend.arrays import FloatArray, IntArray
from unbend.cached import cached_property
from unbend.web.data import StoredTable, spread_rows
from unbend.web.density import Window, count_points
from unbend.web.jobs import FAILED, Job, Jobs
from unbend.web.methods import check_memory, make_estimator
from unbend.web.reading import ROLES, Reading, Version, file_version
from unbend.web.tables import UPLOAD_LIMIT, Folder

# Arrays of an embedding with a line for each row of the table, and others.
OF_ROWS = ("coordinates", "trustworthiness", "continuity", "stability")
OTHERS = ("pairs", "ranks", "ellipses", "new")
FILES = ("model.unbend", "map.py", "map.sh", "picture.png", "report.html")
NEIGHBORS = 10
# Different integers up to which a column of them is compared by shares, not by means.
FEW_LEVELS = 12
# Tasks about an embedding, and the lane of each: fits wait for one another.
TASKS = {
    "measure": ("look", "Measuring"),
    "count_dimensions": ("look", "Estimating the dimension"),
    "measure_stability": ("fit", "Resampling"),
    "draw_picture": ("look", "Drawing"),
    "write_report": ("fit", "Writing the report"),
}


SIDES = ("inside", "outside")
UNREAD, UNFINISHED = "the table is still being read", "the map is not finished"


class Unknown(LookupError):
    """There is no such table, embedding or job."""


@dataclass(eq=False)
class OpenTable:
    """A table that is being read, or was."""

    name: str
    path: Path
    folder: Path
    # What tells whether the file is still the one that was opened.
    version: Version | None = None
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    facts: dict[str, Any] | None = None

    @cached_property
    def columns(self) -> FloatArray:
        """The stored columns (columns, n)."""
        if self.facts is None:
            raise ValueError(UNREAD)
        return StoredTable(self.folder).numbers

    @cached_property
    def levels(self) -> dict[int, list[str]]:
        """The levels of columns that are no numbers."""
        return StoredTable(self.folder).levels

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [] if self.facts is None else [column["name"] for column in self.facts["columns"]]

    def cells(self, rows: IntArray) -> list[list[Any]]:
        """Return rows as numbers and texts, None where a value is missing."""
        lines, dates = self.columns[:, rows].T, self._dates
        return [
            [
                _date(value) if place in dates else _cell(value, self.levels.get(place))
                for place, value in enumerate(line)
            ]
            for line in lines
        ]

    @property
    def _dates(self) -> set[int]:
        """Places of the columns of dates, which are stored as days since 1970."""
        columns = [] if self.facts is None else self.facts["columns"]
        return {place for place, column in enumerate(columns) if column["date"]}

    def describe_selection(self, rows: IntArray) -> list[dict[str, Any]]:
        """Return how the columns of some rows differ from those of the others, most first.

        Of numbers the difference of means in standard deviations, of categories the level whose
        share changes most.
        """
        chosen = np.zeros(self.columns.shape[1], dtype=bool)
        chosen[rows] = True
        names, dates = self.names, self._dates
        found = []
        for place, values in enumerate(self.columns):
            each = _compare(values[chosen], values[~chosen], self.levels.get(place))
            if place in dates:
                each = _name_dates(each)
            found.append(each | {"column": names[place]})
        return sorted(found, key=lambda each: -abs(each["effect"]))

    def to_dict(self) -> dict[str, Any]:
        """Return what browsers show of it."""
        return {"id": self.id, "name": self.name, "facts": self.facts}


def _cell(value: float, levels: list[str] | None) -> Any:
    if np.isnan(value):
        return None
    return float(value) if levels is None else levels[int(value)]


def _date(days: float) -> str | None:
    """Return days since 1970 as a date, with the time of day if there is one."""
    if np.isnan(days):
        return None
    moment = np.datetime64(round(days * 86400), "s")
    return str(moment).removesuffix("T00:00:00")


def _name_dates(found: dict[str, Any]) -> dict[str, Any]:
    """Return a comparison of days since 1970 as one of dates."""
    days = [name for name in (("level",) if "level" in found else SIDES) if name in found]
    return found | {name: _date(float(found[name])) for name in days}


def _compare(inside: FloatArray, outside: FloatArray, levels: list[str] | None) -> dict[str, Any]:
    inside, outside = inside[~np.isnan(inside)], outside[~np.isnan(outside)]
    if not len(inside) or not len(outside):
        return {"effect": 0.0}
    if levels is None and (integers := _few_integers(inside, outside)) is not None:
        levels = [str(number) for number in integers]
        inside, outside = (np.searchsorted(integers, v) * 1.0 for v in (inside, outside))
    if levels is not None:
        shares = [
            np.bincount(v.astype(int), minlength=len(levels)) / len(v) for v in (inside, outside)
        ]
        most = int(np.argmax(np.abs(shares[0] - shares[1])))
        pair = float(shares[0][most]), float(shares[1][most])
        return {
            "effect": pair[0] - pair[1],
            "level": levels[most],
            "inside": pair[0],
            "outside": pair[1],
        }
    means = float(inside.mean()), float(outside.mean())
    spread = float(np.sqrt((inside.var() + outside.var()) / 2))
    effect = (means[0] - means[1]) / spread if spread > 0 else 0.0
    return {"effect": effect, "inside": means[0], "outside": means[1]}


def _few_integers(inside: FloatArray, outside: FloatArray) -> list[int] | None:
    """Return the different values of a column if they are a few integers, as classes are."""
    values = np.unique(np.concatenate((inside, outside)))
    few = len(values) <= FEW_LEVELS and bool(np.all(values == np.floor(values)))
    return [int(value) for value in values] if few else None


@dataclass(eq=False)
class Embedding:
    """A map: how it is made, and its files once it is."""

    table: OpenTable
    reading: Reading
    method: str
    title: str
    parameters: dict[str, Any]
    folder: Path
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    job: str = ""
    facts: dict[str, Any] | None = None
    # Results of the tasks about it, by name.
    results: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return what browsers show of it."""
        return {
            "id": self.id,
            "table": self.table.id,
            "method": self.method,
            "title": self.title,
            "parameters": self.parameters,
            "reading": {k: v for k, v in asdict(self.reading).items() if k in ROLES},
            "job": self.job,
            "facts": self.facts,
            "results": self.results,
            "arrays": [n for n in (*OF_ROWS, *OTHERS) if (self.folder / f"{n}.npy").exists()],
            "files": [name for name in FILES if (self.folder / name).exists()],
        }

    def array(self, name: str) -> FloatArray:
        """Return an array of numbers; those of points have a line for each row of the table."""
        if name not in (*OF_ROWS, *OTHERS):
            raise Unknown(name)
        try:
            values = np.load(self.folder / f"{name}.npy")
        except OSError:
            raise Unknown(name) from None
        return spread_rows(values, self.rows, self.size) if name in OF_ROWS else values

    @property
    def size(self) -> int:
        """Number of rows of the table."""
        return 0 if self.table.facts is None else int(self.table.facts["rows"])

    @cached_property
    def rows(self) -> IntArray:
        """Places in the table of the rows that are on the map."""
        return np.asarray(np.load(self.folder / "rows.npy"))

    @cached_property
    def _spaces(self) -> tuple[FloatArray, FloatArray]:
        if self.facts is None:
            raise ValueError(UNFINISHED)
        names = "features.npy", "coordinates.npy"
        features, coordinates = (np.load(self.folder / n, mmap_mode="r") for n in names)
        return np.asarray(features), np.asarray(coordinates)

    @property
    def coordinates(self) -> FloatArray:
        """The coordinates of the rows that are on the map."""
        return self._spaces[1]

    def density(self, window: Window) -> IntArray:
        """Return the points in each pixel of a window, and a row in each."""
        return count_points(self.coordinates, self.rows, window)

    def neighbors(self, row: int) -> tuple[IntArray, IntArray]:
        """Return the nearest rows of one, nearest first: in the features, and in the map."""
        spaces = self._spaces
        place = int(np.searchsorted(self.rows, row))
        if place >= len(self.rows) or self.rows[place] != row:
            raise Unknown(f"row {row}")
        found = []
        for points in spaces:
            squares = np.sum((points - points[place]) ** 2, axis=1)
            squares[place] = np.inf
            k = min(NEIGHBORS, len(points) - 1)
            nearest = np.argpartition(squares, k - 1)[:k]
            found.append(self.rows[nearest[np.argsort(squares[nearest], kind="stable")]])
        return found[0], found[1]


class Workspace:
    """Everything of one run; `close` removes it."""

    def __init__(
        self,
        folder: Folder,
        jobs: Jobs | None = None,
        upload_limit: int = UPLOAD_LIMIT,
        first: str | None = None,
    ) -> None:
        self.folder, self.upload_limit, self.first = folder, upload_limit, first
        self.jobs = Jobs() if jobs is None else jobs
        # Only this user may read it.
        self.files = Path(tempfile.mkdtemp(prefix="unbend-")).resolve()
        self.tables: dict[str, OpenTable] = {}
        self.embeddings: dict[str, Embedding] = {}

    def close(self) -> None:
        """End the jobs and remove the files."""
        self.jobs.close()
        shutil.rmtree(self.files, ignore_errors=True)

    def new_folder(self) -> Path:
        """Make a folder for files."""
        made = self.files / secrets.token_hex(8)
        made.mkdir()
        return made

    def table(self, id: str) -> OpenTable:
        """Find an open table."""
        if id not in self.tables:
            raise Unknown(id)
        return self.tables[id]

    def embedding(self, id: str) -> Embedding:
        """Find an embedding."""
        if id not in self.embeddings:
            raise Unknown(id)
        return self.embeddings[id]

    def open_table(self, name: str, path: Path) -> tuple[OpenTable, Job]:
        """Start to read a table."""
        version = file_version(path)
        table = OpenTable(name, path, self.new_folder(), version)
        job = Job(
            "open_file",
            {"path": str(path), "folder": str(table.folder), "version": version},
            f"Reading {name}",
            {"table": table.id},
        )

        def keep(job: Job) -> None:
            table.facts = job.result

        self.jobs.submit(job, on_done=keep)
        self.tables[table.id] = table
        return table, job

    def advise(self, table: OpenTable, reading: Reading) -> Job:
        """Start to look for a method; other advice about the table is no longer wanted.

        A page that is opened again gets the advice that was found before.
        """
        about, arguments = {"table": table.id}, {"reading": asdict(reading)}
        for job in self.jobs.all():
            if job.task == "advise" and job.arguments == arguments and job.state not in FAILED:
                return job
        for job in self.jobs.unfinished():
            if job.task == "advise" and job.about == about:
                self.jobs.cancel(job)
        return self.jobs.submit(Job("advise", arguments, "Looking at the data", about, True))

    def fit(
        self, table: OpenTable, reading: Reading, method: str, parameters: Mapping[str, Any]
    ) -> tuple[Embedding, Job]:
        """Start a fit, if memory allows."""
        entry, _ = make_estimator(method, parameters)
        if table.facts is None:
            raise ValueError(UNREAD)
        check_memory(entry, int(table.facts["rows"]))
        folder = self.new_folder()
        made = Embedding(table, reading, entry.name, entry.title, dict(parameters), folder)
        arguments = {
            "reading": asdict(reading),
            "name": table.name,
            "method": entry.name,
            "parameters": dict(parameters),
            "folder": str(folder),
        }
        about = {"table": table.id, "embedding": made.id}
        job = Job("fit", arguments, entry.title, about)
        made.job = job.id

        def keep(job: Job) -> None:
            made.facts = job.result

        self.jobs.submit(job, "fit", keep)
        self.embeddings[made.id] = made
        return made, job

    def run_task(self, task: str, embedding: Embedding, **arguments: Any) -> Job:
        """Start a task about an embedding."""
        if embedding.facts is None:
            raise ValueError(UNFINISHED)
        lane, doing = TASKS.get(task, ("look", "Transforming"))
        if task == "write_report":
            arguments |= {"reading": asdict(embedding.reading), "name": embedding.table.name}
        job = Job(
            task,
            {"folder": str(embedding.folder), **arguments},
            f"{doing}: {embedding.title}",
            {"embedding": embedding.id, "table": embedding.table.id},
        )

        def keep(job: Job) -> None:
            embedding.results[task] = job.result

        return self.jobs.submit(job, lane, keep)

    def forget(self, embedding: Embedding) -> None:
        """Remove an embedding and its files, and end its fit."""
        job = self.jobs.find(embedding.job)
        if job is not None:
            self.jobs.cancel(job)
        self.embeddings.pop(embedding.id, None)
        shutil.rmtree(embedding.folder, ignore_errors=True)
