"""Where documents come from: files, lines, strings, or a column of a table."""

import io
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unbend.io.dialect import not_utf8
from unbend.io.files import File, file_of
from unbend.io.folders import files_of, is_folder, is_paths
from unbend.io.numerals import Array
from unbend.io.reading import Source, check_no_separator, is_file, open_source
from unbend.io.table import Roles


@dataclass(frozen=True)
class Held:
    """Documents, one after the other, and what is kept aside."""

    documents: Iterable[str]
    ids: Array | None
    id_name: str | None
    label: Array | None
    label_name: str | None


def documents_of(
    source: Any,
    column: str | None,
    label: str | None,
    id: str | None,
    encoding: str,
    separator: str | None,
) -> Held:
    """Find the documents of a source."""
    if column is not None:
        return _from_column(open_source(source, separator=separator), column, label, id)
    check_no_separator(separator, "without column= each line is a document")
    if label is not None or id is not None:
        raise ValueError("label and id name columns of a table: name that of the documents too")
    if is_folder(source) or is_paths(source):
        files = files_of(source, None, "texts")
        documents = (_content(path, encoding) for path in files.paths)
        folder = None if files.label is None else "folder"
        return Held(documents, files.ids, "file", files.label, folder)
    if is_file(source):
        return Held(_lines(file_of(source), encoding), None, None, None, None)
    return Held(_given(source), None, None, None, None)


def _from_column(opened: Source, column: str, label: str | None, id: str | None) -> Held:
    def read(name: str | None) -> Array | None:
        if name is None:
            return None
        roles = Roles(name, None, (), alone=True)
        (table,) = opened.tables(roles.among(opened.names, opened.where), None)
        return table.label

    texts = read(column)
    assert texts is not None
    documents = ("" if text is None or text != text else str(text) for text in texts.tolist())
    return Held(documents, read(id), id, read(label), label)


def _given(source: Any) -> list[str]:
    """Take documents as they are; names of files in their place would be counted as words."""
    documents = [source] if isinstance(source, str) else list(source)
    for document in documents:
        if not isinstance(document, str):
            raise TypeError(
                f"a document is text and one is of type {type(document).__name__}: pass strings, "
                "paths, or a table with column="
            )
    first = documents[0] if documents else ""
    if 0 < len(first) < 256 and "\n" not in first and "\0" not in first and os.path.isfile(first):
        raise ValueError(
            f"{first} is a file and strings in a list are documents: pass pathlib.Path({first!r})"
        )
    return documents


def _content(path: Path, encoding: str) -> str:
    file = file_of(path)
    return _decoded(file.bytes(), file, encoding)


def _decoded(content: bytes, file: File, encoding: str) -> str:
    try:
        text = content.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        if encoding == "utf-8":
            raise ValueError(f"{not_utf8(file.name, error)}, or pass encoding=") from error
        raise ValueError(f"{file.name} is not in the encoding {encoding}") from error
    except LookupError as error:
        raise ValueError(f"encoding={encoding!r} is not known") from error
    if "\x00" in text:
        raise ValueError(f"{file.name} is not text: it holds bytes of zero")
    return text


def _lines(file: File, encoding: str) -> Iterator[str]:
    if _line_end(encoding) != b"\n":
        # Lines end in other bytes, as in UTF-16.
        yield from io.StringIO(_decoded(file.bytes(), file, encoding))
        return
    with file.open() as stream:
        for line in stream:
            yield _decoded(line, file, encoding)


def _line_end(encoding: str) -> bytes:
    try:
        return "\n".encode(encoding)
    except (LookupError, UnicodeError) as error:
        raise ValueError(f"encoding={encoding!r} is not known, or not one of text") from error
