"""How a table becomes features: what the page asks for, and the code that repeats it."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbend.registry import Entry, option_name
from unbend.validation.parameters import parameters

# The server imports this module and must start at once: scikit-learn waits for the first request.
if TYPE_CHECKING:
    from unbend.io import Table
    from unbend.io.reading import TableReader
    from unbend.io.table import Roles
    from unbend.prepare import Prepare

DISTANCES = (
    "the table is square and symmetric with a zero diagonal, as distances are: embed it by "
    "unbend embed --distances"
)


ROLES = ("label", "ignore", "scale", "missing", "categories", "kinds")

# Device and number of the file, time of its last change, and bytes.
Version = tuple[int, int, int, int]


def file_version(path: str | Path) -> Version:
    """Return what changes when a file is written again, or another is put in its place.

    A link in the place of the file, or of a folder above it, is not followed: it may lead out of
    the folder that is served.
    """
    if os.path.realpath(path) != os.path.abspath(path):
        raise ValueError(f"{Path(path).name} is now a link: open the file that it leads to")
    found = os.lstat(path)
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


def check_version(path: str | Path, version: Version | None) -> None:
    """Refuse a file that was removed or written again since it was opened."""
    name = Path(path).name
    try:
        same = version is None or tuple(version) == file_version(path)
    except FileNotFoundError:
        raise ValueError(f"{name} was removed since it was opened: put it back") from None
    if not same:
        raise ValueError(f"{name} was changed since it was opened: open it again")


@dataclass(frozen=True)
class Reading:
    """The roles of the columns of a file, and their preparation.

    `missing` is "error" or a policy of `Prepare`; arrays without column names have one unit and are
    prepared only if something other than the defaults is asked for. `version` is that of the file
    when it was opened: the rows that the page shows are those.
    """

    path: str
    label: str | None = None
    ignore: tuple[str, ...] = ()
    scale: str = "auto"
    missing: str = "error"
    categories: str = "onehot"
    kinds: Mapping[str, str] = field(default_factory=dict)
    version: Version | None = None

    @classmethod
    def from_json(
        cls, path: str, given: Mapping[str, Any], version: Version | None = None
    ) -> "Reading":
        """Check what a browser sent."""
        for name in given:
            if name not in ROLES:
                raise ValueError(
                    f"a preparation has no {name!r}: it has {', '.join(sorted(ROLES))}"
                )
        ignore, kinds, label = given.get("ignore", []), given.get("kinds", {}), given.get("label")
        if not (label is None or isinstance(label, str)):
            raise TypeError("label must be the name of a column, or null")
        if not isinstance(ignore, list) or not all(isinstance(name, str) for name in ignore):
            raise TypeError("ignore must be a list of names of columns")
        if not isinstance(kinds, dict) or not all(isinstance(k, str) for k in kinds.values()):
            raise TypeError("kinds must be an object of names of columns and their kinds")
        made = cls(path, **{**given, "ignore": tuple(ignore)}, version=version)
        made.preparation()
        return made

    def check_version(self) -> None:
        """Refuse a file that was removed or written again since it was opened."""
        check_version(self.path, self.version)

    def preparation(self) -> "Prepare":
        """Return the preparation, its parameters checked."""
        from unbend.prepare import Prepare

        prepare = Prepare(
            scale=self.scale,
            missing=self.missing,
            categories=self.categories,
            kinds=dict(self.kinds) or None,
            weights=None,
        )
        for parameter in parameters(Prepare):
            parameter.check(getattr(prepare, parameter.name))
        return prepare

    @property
    def prepares(self) -> bool:
        """Whether something other than the defaults for arrays is asked for."""
        special = self.missing in ("most_frequent", "indicator") or self.categories != "onehot"
        return special or self.scale != "auto" or bool(self.kinds)

    def open(self) -> "tuple[TableReader, Roles]":
        """Open the file; nothing is parsed but the names of its columns."""
        from unbend.io.reading import open_table
        from unbend.io.table import Roles

        reader = open_table(self.path)
        return reader, Roles(self.label, None, self.ignore).resolve(reader.names, reader.where)


@dataclass(frozen=True, eq=False)
class Features:
    """Rows as numbers, as the command line reads the same file with the same options.

    Attributes
    ----------
    table : Table
        The features; its `rows` are places in the file.
    preparation : Prepare or None
        The fitted preparation; None where the columns are features as they are.
    """

    table: "Table"
    preparation: "Prepare | None"


def read_features(reading: Reading) -> Features:
    """Read a file and prepare its columns."""
    reading.check_version()
    made = _read_features(reading)
    # It may have been written while it was read.
    reading.check_version()
    return made


def _read_features(reading: Reading) -> Features:
    from unbend.io.table import fill_missing
    from unbend.prepare.frames import holds_distances, prepare_frame
    from unbend.validation.distances import is_distances

    reader, roles = reading.open()
    if reader.tabular or reading.prepares:
        (frame,) = reader.frames(roles, None)
        if holds_distances(frame):
            raise ValueError(DISTANCES)
        made = prepare_frame(frame, reading.preparation())
        return Features(made.table, None if made.identity else made.preparation)
    (table,) = reader.tables(roles, None)
    if is_distances(table.values):
        raise ValueError(DISTANCES)
    missing = "refuse" if reading.missing == "error" else reading.missing
    return Features(fill_missing(table, missing, reader.where), None)


def changed_parameters(estimator: Any) -> dict[str, object]:
    """Return the parameters of an estimator that are not the defaults, except threads."""
    return {
        parameter.name: value
        for parameter in parameters(type(estimator))
        if (value := getattr(estimator, parameter.name)) != parameter.default
        and parameter.name != "n_jobs"
    }


def python_code(reading: Reading, name: str, entry: Entry, estimator: Any, prepared: bool) -> str:
    """Return a program that computes the coordinates again and writes them to a file."""
    roles = {"label": reading.label, "ignore": list(reading.ignore)}
    given = ", ".join([repr(name), *_keywords({key: v for key, v in roles.items() if v})])
    made = ", ".join(_keywords(changed_parameters(estimator)))
    lines = ["import numpy as np", "", "import unbend", ""]
    if prepared:
        options = {k: v for k, v in asdict(reading).items() if k in PREPARED and v != PREPARED[k]}
        lines += [
            f"frame = unbend.io.read_frame({given})",
            f"prepare = unbend.Prepare({', '.join(_keywords(options))})",
            "features = prepare.fit_transform(frame)",
        ]
        label = "frame.rest.label[prepare.kept_rows_]"
    else:
        policy = [] if reading.missing == "error" else [f"missing={reading.missing!r}"]
        lines += [
            f"table = unbend.io.read({', '.join([given, *policy])})",
            "features = table.values",
        ]
        label = "table.label"
    classes = f", {label}" if getattr(estimator, "supervised", False) else ""
    lines += [
        f"model = unbend.{entry.class_name}({made})",
        f"coordinates = model.fit(features{classes}).embedding_",
        'np.savetxt("coordinates.csv", coordinates, delimiter=",")',
    ]
    return "\n".join(lines) + "\n"


PREPARED = {"scale": "auto", "missing": "error", "categories": "onehot", "kinds": {}}


def _keywords(values: Mapping[str, object]) -> list[str]:
    return [f"{name}={value!r}" for name, value in values.items()]


def shell_code(reading: Reading, name: str, entry: Entry, estimator: Any) -> str:
    """Return the command that writes the same coordinates."""
    words = ["unbend", "embed", f"./{name}" if name.startswith("-") else name]
    if reading.label is not None:
        words += ["--label", reading.label]
    for column in reading.ignore:
        words += ["--ignore", column]
    words += ["--method", entry.name]
    for parameter, value in changed_parameters(estimator).items():
        text = str(value).lower() if value is None or isinstance(value, bool) else str(value)
        words += [option_name(parameter), text]
    words += [] if reading.missing == "error" else ["--missing", reading.missing]
    words += [] if reading.scale == "auto" else ["--scale", reading.scale]
    words += [] if reading.categories == "onehot" else ["--categories", reading.categories]
    for column, kind in reading.kinds.items():
        words += ["--column-kind", f"{column}={kind}"]
    return shlex.join([*words, "-o", "coordinates.csv"]) + "\n"
