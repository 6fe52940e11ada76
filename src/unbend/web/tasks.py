"""What the child processes do; arguments and results are plain values, arrays go through files."""

import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

import unbend
from unbend import dimension
from unbend.apps.study.columns import Column, describe_columns, describe_frame
from unbend.arrays import FloatArray, IntArray
from unbend.dimension import Dimension
from unbend.io.numerals import Array
from unbend.io.reading import open_table
from unbend.io.table import Frame, Roles
from unbend.outlyingness import FAR, OutOfDistributionWarning, UndefinedScore
from unbend.plot.reliability import MOST_ELLIPSES, ellipses
from unbend.prepare import Prepare
from unbend.prepare.frames import describe_gaps, describe_preparation, typed_columns
from unbend.quality import Measure, continuity, coranking, residual_variance, trustworthiness
from unbend.quality.measure import sample_rows
from unbend.registry import LABEL_NAMES, entry_of
from unbend.selection import choose_dimension, resample, suggest
from unbend.units import find_dominant_column
from unbend.web.data import StoredTable
from unbend.web.methods import make_estimator
from unbend.web.reading import (
    Reading,
    Version,
    changed_parameters,
    check_version,
    python_code,
    read_features,
    shell_code,
)

# Neighbours that the per-point measures look at.
NEIGHBORS = 10
# Rows up to which every row has its measure; of more a sample, smaller the more rows there are to
# rank, but not below the least.
MOST_MEASURED, LEAST_MEASURED, MOST_RANKED = 5000, 200, 10**8
# Rows that the diagrams look at, centres of ranks, and pairs shown of each diagram.
MOST_ROWS, CENTERS, PAIRS = 2000, 200, 20_000
# Ranks that the co-ranking diagram shows, and points of a curve.
NEAR, CURVE = 100, 150
SPECTRUM = 20
# Estimators of the intrinsic dimension whose curves are shown, and lines of each curve.
CURVES, MOST_LINES = ("mle", "correlation", "multiscale_svd"), 8
RESAMPLES = 8


def open_file(path: str, folder: str, version: Version) -> dict[str, Any]:
    """Read a table once: describe its columns and store them for colours and rows."""
    check_version(path, version)
    facts = _open_file(path, folder)
    # Another file, or a link out of the folder, may have been put in its place meanwhile.
    check_version(path, version)
    return facts


def _open_file(path: str, folder: str) -> dict[str, Any]:
    reader = open_table(path)
    names = list(reader.names)
    if reader.tabular:
        (frame,) = reader.frames(Roles(None, None, ()).resolve(reader.names, reader.where), None)
        return _describe_frame(frame, Path(folder))
    (table,) = reader.tables(Roles(None, None, ()).resolve(reader.names, reader.where), None)
    values = np.asarray(table.values, dtype=np.float64)
    StoredTable(Path(folder)).write(np.ascontiguousarray(values.T), {})
    columns = [_column_facts(column, {}, "", []) for column in describe_columns(table)]
    return {
        "rows": len(table),
        "tabular": False,
        "columns": columns,
        "label": _guess_label(names, {}),
        "scale": None,
        "dominant": None,
        "problems": [],
    }


def _describe_frame(frame: Frame, folder: Path) -> dict[str, Any]:
    # Every gap is described and none is refused here: what to do about them is asked on the page.
    prepare = Prepare("auto", missing="median", categories="onehot", kinds=None, weights=None)
    try:
        prepare.fit(frame)
    except ValueError as error:
        raise ValueError(f"This table cannot be embedded as it is. {error}") from error
    typed = typed_columns(frame, prepare)
    stored, levels = _encode_columns(typed)
    StoredTable(folder).write(stored, levels)
    reasons = {column.name: column.reason for column in prepare.columns_}
    kinds = {column.name: column.kind for column in prepare.columns_}
    described = describe_frame(frame, prepare)
    return {
        "rows": len(frame),
        "tabular": True,
        "columns": [
            _column_facts(column, kinds, reasons[column.name], levels.get(place, []))
            for place, column in enumerate(described)
        ],
        "label": _guess_label(list(typed), kinds),
        "scale": {"scale": prepare.scale_, "reason": prepare.scale_reason_},
        "dominant": _dominant(typed, kinds),
        "problems": [
            {"what": problem.what, "columns": list(problem.columns)}
            for problem in prepare.problems_
        ],
    }


def _encode_columns(typed: dict[str, Array]) -> tuple[FloatArray, dict[int, list[str]]]:
    """Return all columns as numbers, and the levels of those that are codes."""
    rows, levels = [], {}
    for place, values in enumerate(typed.values()):
        if values.dtype.kind == "f":
            rows.append(values.astype(np.float64))
        elif values.dtype.kind == "M":
            days = values.astype("datetime64[s]").astype(np.float64) / 86400
            rows.append(np.where(np.isnat(values), np.nan, days))
        else:
            words = [None if value is None else str(value) for value in values.tolist()]
            names = sorted({word for word in words if word is not None})
            code = {word: number for number, word in enumerate(names)}
            levels[place] = names
            rows.append(np.array([np.nan if w is None else code[w] for w in words]))
    return np.array(rows), levels


def _column_facts(
    column: Column, kinds: dict[str, str], reason: str, levels: list[str]
) -> dict[str, Any]:
    numeric = column.numeric
    is_date = isinstance(column.least, np.datetime64)
    return {
        "name": column.name,
        "kind": kinds.get(column.name, column.kind),
        "reason": reason,
        "missing": column.missing,
        "least": float(column.least) if numeric else str(column.least) if is_date else None,
        "most": float(column.most) if numeric else str(column.most) if is_date else None,
        "mean": float(column.mean) if numeric else None,
        "deviation": float(column.deviation) if numeric else None,
        "share": None if np.isnan(column.share) else float(column.share),
        "bars": column.bars.tolist() if numeric else None,
        "words": bool(levels),
        "date": is_date,
        # A column of many different texts has no useful legend.
        "levels": levels if len(levels) <= 200 else None,
    }


def _guess_label(names: list[str], kinds: dict[str, str]) -> str | None:
    named = next((name for name in names if name.lower() in LABEL_NAMES), None)
    words = [name for name in names if kinds.get(name) == "category"]
    at_end = len(words) == 1 and words[0] in (names[0], names[-1])
    return named or (words[0] if at_end else None)


def _dominant(typed: dict[str, Array], kinds: dict[str, str]) -> dict[str, Any] | None:
    """Return the column that holds nearly all of the variance, if there is one."""
    numeric = {n: v for n, v in typed.items() if kinds.get(n) == "numeric"}
    complete = [np.where(np.isnan(v), np.nanmean(v), v) for v in numeric.values()]
    if len(complete) < 2:
        return None
    found = find_dominant_column(np.array(complete).T, list(numeric))
    return None if found is None else {"name": list(numeric)[found[0]], "share": found[1]}


def advise(reading: dict[str, Any]) -> dict[str, Any]:
    """Suggest a method for the features of a table."""
    features = read_features(Reading(**reading))
    X = np.asarray(features.table.values, dtype=np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        advice = suggest(X, metric="euclidean", scale="none")
    return {
        "method": _named(advice.estimator),
        "reasons": advice.reasons,
        "alternatives": [_named(estimator) for estimator in advice.alternatives],
    }


def _named(estimator: Any) -> dict[str, Any]:
    entry = entry_of(estimator)
    plain = {
        name: value
        for name, value in changed_parameters(estimator).items()
        if isinstance(value, str | int | float | bool | None)
    }
    return {"name": None if entry is None else entry.name, "parameters": plain}


def fit(
    reading: dict[str, Any], name: str, method: str, parameters: dict[str, Any], folder: str
) -> dict[str, Any]:
    """Fit a method, and write its coordinates, features and model into a folder."""
    asked, place = Reading(**reading), Path(folder)
    entry, estimator = make_estimator(method, parameters)
    features = read_features(asked)
    table, prepare = features.table, features.preparation
    label = table.label if getattr(estimator, "supervised", False) else None
    if label is None and getattr(estimator, "supervised", False):
        raise ValueError(f"{entry.name} needs the class of each row: choose a label column")
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        estimator.fit(table.values, label)
    seconds = time.perf_counter() - began
    coordinates = np.asarray(estimator.embedding_, dtype=np.float64)
    if prepare is not None:
        estimator.preparation_ = prepare
    np.save(place / "coordinates.npy", coordinates)
    np.save(place / "rows.npy", table.rows)
    if table.label is not None:
        np.save(place / "labels.npy", _plain_labels(table.label))
    np.save(place / "features.npy", np.asarray(table.values, dtype=np.float64))
    about = {
        "rows": len(coordinates),
        "components": coordinates.shape[1],
        "source": name,
        "columns": list(table.columns),
        "label": asked.label,
        "id": None,
        "ignore": list(asked.ignore),
        "data": {"kind": "table"},
    }
    estimator.save(place / "model.unbend", about=about)
    code = python_code(asked, name, entry, estimator, prepare is not None)
    (place / "map.py").write_text(code, "utf-8")
    (place / "map.sh").write_text(shell_code(asked, name, entry, estimator), "utf-8")
    said = [] if prepare is None else _describe_preparation(prepare, asked, len(coordinates))
    return {
        "rows": len(coordinates),
        "components": coordinates.shape[1],
        "seconds": seconds,
        "code": " ".join(str(estimator).split()),
        "warnings": [" ".join(str(w.message).split()) for w in issued if _concerns_user(w)],
        "preparation": said,
        "report": estimator.report_.lines(),
    }


def _plain_labels(label: Array) -> Array:
    """Return labels as numbers or words, which a file can hold without pickles."""
    numbers = label.dtype.kind in "biuf"
    return label if numbers else np.array(["" if v is None else str(v) for v in label.tolist()])


def _concerns_user(warning: warnings.WarningMessage) -> bool:
    return issubclass(warning.category, UserWarning | RuntimeWarning)


def _describe_preparation(prepare: Prepare, asked: Reading, kept: int) -> list[str]:
    dropped = len(prepare.kept_rows_) - kept if asked.missing == "drop" else 0
    return [*describe_preparation(prepare), *describe_gaps(prepare, dropped)]


def measure(folder: str) -> dict[str, Any]:
    """Measure what a map lost, point by point and as diagrams."""
    place = Path(folder)
    X, Y = np.load(place / "features.npy"), np.load(place / "coordinates.npy")
    k = max(1, min(NEIGHBORS, (len(X) - 2) // 2))
    most: dict[str, Any] = {"n_neighbors": k, "max_rows": _measured_rows(len(X))}
    trust, kept = trustworthiness(X, Y, **most), continuity(X, Y, **most)
    np.save(place / "trustworthiness.npy", _local(trust, len(X)))
    np.save(place / "continuity.npy", _local(kept, len(X)))
    rows = sample_rows(len(X), MOST_ROWS, 0)
    curves = coranking(X[rows], Y[rows])
    steps = np.unique(np.geomspace(1, len(curves.r_nx), CURVE).astype(int)) - 1
    # Some rows of the table may not be on the map.
    named = np.load(place / "rows.npy")[rows]
    np.save(place / "pairs.npy", _pairs(X[rows], Y[rows], named))
    np.save(place / "ranks.npy", _ranks(X[rows], Y[rows], named))
    values = np.linalg.svd(X[rows] - X[rows].mean(axis=0), compute_uv=False) ** 2
    return {
        "neighbors": k,
        "sampled": len(rows) if len(rows) < len(X) else None,
        "trustworthiness": float(trust),
        "continuity": float(kept),
        "r_nx_auc": float(curves.r_nx_auc),
        "k": (steps + 1).tolist(),
        "r_nx": curves.r_nx[steps].tolist(),
        "spectrum": (values / values.sum())[:SPECTRUM].tolist() if values.sum() > 0 else [],
        "residual_variance": residual_variance(X[rows], Y[rows]).tolist(),
    }


def _measured_rows(n: int) -> int:
    """Return how many of n rows are measured."""
    return max(LEAST_MEASURED, min(MOST_MEASURED, MOST_RANKED // n))


def _local(measure: Measure, n: int) -> FloatArray:
    values = np.full(n, np.nan)
    values[measure.rows] = measure.local
    return values


def _pairs(X: FloatArray, Y: FloatArray, rows: IntArray) -> FloatArray:
    """Random pairs: both rows, and their distances in the data and in the map."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(len(rows), size=(2, PAIRS))
    apart = first != second
    first, second = first[apart], second[apart]
    before = np.linalg.norm(X[first] - X[second], axis=1)
    after = np.linalg.norm(Y[first] - Y[second], axis=1)
    return np.stack((rows[first], rows[second], before, after), axis=1)


def _ranks(X: FloatArray, Y: FloatArray, rows: IntArray) -> FloatArray:
    """Neighbours of sampled centres: both rows, and the rank in the data and in the map."""
    centers = sample_rows(len(rows), CENTERS, 1)
    before, after = _all_ranks(X, centers), _all_ranks(Y, centers)
    near = (before > 0) & ((before <= NEAR) | (after <= NEAR))
    of, other = np.nonzero(near)
    chosen = np.sort(np.random.default_rng(0).permutation(len(of))[:PAIRS])
    of, other = of[chosen], other[chosen]
    pairs = rows[centers[of]], rows[other], before[of, other], after[of, other]
    return np.stack(pairs, axis=1).astype(np.float64)


def _all_ranks(points: FloatArray, centers: IntArray) -> IntArray:
    distances = cdist(points[centers], points)
    distances[np.arange(len(centers)), centers] = -1.0
    ranks = np.empty(distances.shape, dtype=np.intp)
    np.put_along_axis(ranks, np.argsort(distances, axis=1, kind="stable"), _counting(points), 1)
    return ranks


def _counting(points: FloatArray) -> IntArray:
    return np.arange(len(points))[None, :]


def count_dimensions(folder: str) -> dict[str, Any]:
    """Estimate the intrinsic dimension of the features behind a map."""
    X = np.load(Path(folder) / "features.npy")
    rows = sample_rows(len(X), MOST_ROWS, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = choose_dimension(X[rows], metric="euclidean", scale="none")
        curves = [_describe_curve(each) for each in _estimate_dimensions(X[rows])]
    votes = {name: None if value is None else float(value) for name, value in found.votes.items()}
    return {
        "dimension": found.dimension,
        "verdict": found.verdict,
        "votes": votes,
        "curves": curves,
    }


def _estimate_dimensions(X: FloatArray) -> Iterator[Dimension]:
    """Estimate the dimension by the methods whose curves show how far to believe them."""
    for method in CURVES:
        # One that these data give no answer to abstains.
        with suppress(ValueError):
            yield getattr(dimension, method)(X)


def _describe_curve(found: Dimension) -> dict[str, Any]:
    curve = found.curve
    lines = [curve.y] if curve.y.ndim == 1 else list(curve.y.T[:MOST_LINES])
    return {
        "title": str(found).replace("_", " "),
        "x": _without_nan(curve.x),
        "lines": [_without_nan(line) for line in lines],
        "fit": None if curve.line is None else _without_nan(curve.line),
        "fitted": _without_nan(np.asarray(curve.fitted)),
        "horizontal": curve.x_label,
        "vertical": curve.y_label,
    }


def _without_nan(values: FloatArray) -> list[float | None]:
    """Return numbers for JSON, which has no NaN and no infinity."""
    return [float(value) if np.isfinite(value) else None for value in values]


def measure_stability(folder: str) -> dict[str, Any]:
    """Fit to parts of the rows, and write how far each point moves and its ellipse."""
    place = Path(folder)
    X, whole = np.load(place / "features.npy"), np.load(place / "coordinates.npy")
    estimator = unbend.load(place / "model.unbend")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        places = resample(estimator, X, n_resamples=RESAMPLES)
    radius = float(np.sqrt(np.mean(np.sum((whole - whole.mean(axis=0)) ** 2, axis=1)))) or 1.0
    squares = np.nanmean(np.sum((places - whole) ** 2, axis=2), axis=0)
    np.save(place / "stability.npy", np.sqrt(squares) / radius)
    drawn = _resampled_ellipses(places)
    # Places on the map become rows of the table.
    drawn[:, 0] = np.load(place / "rows.npy")[drawn[:, 0].astype(int)]
    np.save(place / "ellipses.npy", drawn)
    return {"stability": float(np.sqrt(np.nanmean(squares))) / radius}


def _resampled_ellipses(places: FloatArray) -> FloatArray:
    """Return row, centre, axes and angle of the 95 % ellipse of some rows; none on one axis."""
    if places.shape[2] < 2:
        return np.empty((0, 6))
    present = np.isfinite(places[..., 0])
    often = np.flatnonzero(present.sum(axis=0) >= 2)
    rows = often[sample_rows(len(often), MOST_ELLIPSES, 0)]
    share = float(present.mean())
    centers, widths, heights, angles = ellipses(places[:, rows, :2], 0.95)
    widening = float(np.sqrt(share / (1 - share)))
    return np.column_stack((rows, centers, widening * widths, widening * heights, angles))


def write_report(folder: str, reading: dict[str, Any], name: str) -> dict[str, Any]:
    """Write the report page of the table, read as for this map."""
    from unbend.apps.study import page_html, study

    asked = Reading(**reading)
    asked.check_version()
    found = study(
        asked.path,
        label=asked.label,
        ignore=asked.ignore,
        missing="refuse" if asked.missing == "error" else asked.missing,
        scale=asked.scale,
        kinds=dict(asked.kinds) or None,
        categories=asked.categories,
        name=name,
    )
    (Path(folder) / "report.html").write_text(page_html(found), encoding="utf-8")
    return {"rows": found.rows}


def draw_picture(folder: str) -> dict[str, Any]:
    """Draw a map as a picture, coloured by its label."""
    from unbend.plot import save, scatter

    place = Path(folder)
    estimator = unbend.load(place / "model.unbend")
    labels = place / "labels.npy"
    color = np.load(labels) if labels.exists() else None
    save(
        scatter(np.load(place / "coordinates.npy"), color, method=estimator), place / "picture.png"
    )
    return {}


def place_samples(folder: str, path: str) -> dict[str, Any]:
    """Transform the rows of another file by a fitted model."""
    place = Path(folder)
    estimator = unbend.load(place / "model.unbend")
    reader = open_table(path)
    prepare = getattr(estimator, "preparation_", None)
    (frame,) = reader.frames(Roles(None, None, ()).resolve(reader.names, reader.where), None)
    if prepare is None:
        values = _pick_columns(frame, estimator.about_["columns"])
        kept = np.arange(len(frame))
    else:
        kept = np.flatnonzero(prepare.complete_rows(frame))
        values = prepare.transform(frame)
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", OutOfDistributionWarning)
        try:
            placed, scores = estimator.transform(values, return_outlyingness=True)
        except UndefinedScore:
            placed, scores = estimator.transform(values), None
    np.save(place / "new.npy", np.asarray(placed, dtype=np.float64))
    return {
        "rows": len(frame),
        "placed": len(kept),
        "far": None if scores is None else int(np.count_nonzero(scores > FAR)),
        "warnings": [" ".join(str(w.message).split()) for w in issued if _concerns_user(w)],
    }


def _pick_columns(frame: Frame, names: list[str]) -> FloatArray:
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise ValueError(
            f"the file lacks columns that the map was made of: {', '.join(map(repr, absent[:6]))}"
        )
    values = np.asarray(frame.select(names).to_table().values, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError("the file has missing values, and the map was made without: fill them in")
    return values
