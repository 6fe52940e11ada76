"""Saving and loading fitted estimators."""

import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from unbend.storage import archive
from unbend.storage.archive import DamagedFile
from unbend.storage.decode import Decoder, check_type
from unbend.storage.encode import Encoder

FORMAT, VERSION = "unbend", 3
PRECISIONS = (None, "float32")


def save(
    estimator: Any,
    path: str | os.PathLike[str],
    *,
    training: bool = True,
    precision: str | None = None,
    about: dict[str, Any] | None = None,
) -> None:
    """Write a fitted estimator to a file; see `Model.save`."""
    check_is_fitted(estimator)
    if precision not in PRECISIONS:
        raise ValueError(
            f"precision={precision!r} is not allowed: it must be 'float32', or None for the "
            "precision of the fit"
        )
    encoder = Encoder(bool(training), precision is not None)
    entry = encoder.estimator(estimator)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "library": version("unbend"),
        **entry,
        "objects": encoder.objects,
        "about": _plain(getattr(estimator, "about_", {}) if about is None else about),
    }
    archive.write(Path(path), document, encoder.arrays)


def pack(estimator: Any) -> dict[str, Any] | None:
    """Return a fitted estimator as a file would hold it, or None where no file can.

    Pickles are made of this: every array once, and nothing that can be computed again.
    """
    encoder = Encoder(training=True, single=False)
    try:
        document = encoder.estimator(estimator)
    except TypeError:
        return None
    about = vars(estimator).get("about_")
    return {**document, "objects": encoder.objects, "about": about, "arrays": encoder.arrays}


def unpack(packed: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of an estimator from what `pack` returned."""
    decoder = Decoder(packed["arrays"].__getitem__)
    decoder.objects(packed["objects"])
    estimator = decoder.estimator(packed)
    if packed["about"] is not None:
        estimator.about_ = packed["about"]
    attributes: dict[str, Any] = vars(estimator)
    return attributes


def _plain(about: Any) -> dict[str, Any]:
    """Return what the caller wants to keep with the model, if it is JSON."""
    try:
        same = isinstance(about, dict) and json.loads(json.dumps(about, allow_nan=False)) == about
    except (TypeError, ValueError, RecursionError):
        same = False
    if not same:
        raise TypeError(
            "about must be a dict of JSON values: strings, finite numbers, True, False, None, "
            "lists and dicts with strings as keys"
        )
    plain: dict[str, Any] = about
    return plain


def load(path: str | os.PathLike[str]) -> Any:
    """Read a fitted estimator from a file that `save` wrote.

    Nothing in the file is executed: it holds numbers and words, and names classes of a closed
    list. A reloaded model gives the same bits as the one that was saved.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    estimator
        Its `about_` is the `about` given to `save`.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not a saved model, is damaged, or was written in a newer format.

    Examples
    --------
    >>> import tempfile
    >>> import unbend
    >>> roll = unbend.datasets.swiss_roll(300, random_state=0).points
    >>> path = tempfile.mkdtemp() + "/roll.unbend"
    >>> unbend.LTSA(n_neighbors=8).fit(roll).save(path, about={"columns": ["x", "y", "z"]})
    >>> model = unbend.load(path)
    >>> model
    LTSA(n_neighbors=8)
    >>> model.transform(roll[:5] + 0.01).shape, model.about_
    ((5, 2), {'columns': ['x', 'y', 'z']})
    """
    with archive.open_archive(Path(path)) as source:
        document = source.document()
        _check_format(document)
        decoder = Decoder(source.array, archive.memory_bound(source.length))
        decoder.objects(document.get("objects"))
        estimator = decoder.estimator(document)
        estimator.about_ = check_type(document.get("about"), dict, "about")
    return estimator


def _check_format(document: dict[str, Any]) -> None:
    if document.get("format") != FORMAT:
        raise DamagedFile(f"its format is {document.get('format')!r} and not {FORMAT!r}")
    number = check_type(document.get("version"), int, "version")
    if number != VERSION:
        raise DamagedFile(
            f"it has version {number} of the format, written by unbend "
            f"{document.get('library')}, and this is unbend {version('unbend')}, which reads "
            f"version {VERSION}: {'upgrade unbend' if number > VERSION else 'fit the model again'}"
        )
