"""Documents: a folder, a list, or a column of a table, as a sparse document–term matrix."""

import io
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import FloatArray, IntArray
from unbend.io.dialect import codec, has_plain_line_ends, undecodable
from unbend.io.numerals import Array
from unbend.io.reading import TableReader, check_no_separator, open_table
from unbend.io.source import Source, is_file, is_folder, is_paths, list_files, open_source
from unbend.io.table import Roles
from unbend.io.terms import (
    NO_TERMS,
    Terms,
    count_terms,
    english_stop_words,
    inverse_frequencies,
    normalize_stop_words,
    normalize_terms,
    normalize_text,
    weight_terms,
)
from unbend.memory import reserve
from unbend.report import warn

WEIGHTS = ("tf-idf", "tf")


@dataclass(frozen=True, eq=False)
class Texts:
    """Documents as rows of a sparse matrix; what `read_texts` returns.

    Of the estimators `PCA` and `RandomProjection` take sparse rows; others take `distances()`, or
    what these make of the rows.

    Attributes
    ----------
    values : sparse array (n, terms)
        Weighted frequencies of the terms.
    columns : tuple of str
        The terms, in the order of the alphabet.
    label, ids : array (n,) or None
        Label and id columns: of a folder, the subfolders and the names of the files.
    label_name, id_name : str or None
        Their names.
    rows : array (n,)
        Place of each document in the source, counted from zero: empty ones were left out.
    weights : array (terms,) or None
        Weight of each term.
    terms : Terms
        Tokenisation of the documents.
    unit : bool
        Whether rows were normalised to unit length.

    Examples
    --------
    >>> import unbend
    >>> texts = unbend.io.read_texts(["red apples", "green apples", "the sea"])
    >>> texts.columns, len(texts)
    (('apples', 'green', 'red', 'sea'), 3)
    >>> bool(texts.distances()[0, 1] < texts.distances()[0, 2])
    True
    """

    values: csr_array
    columns: tuple[str, ...]
    label: Array | None
    label_name: str | None
    ids: Array | None
    id_name: str | None
    rows: IntArray
    weights: FloatArray | None
    terms: Terms
    unit: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of documents and of terms."""
        return self.values.shape[0], self.values.shape[1]

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def dictionary(self) -> dict[str, Any]:
        """Vocabulary, weights and tokenisation, in JSON: what `like` needs of these texts.

        Returns
        -------
        dict
            To be kept with a model, as ``model.save(path, about=texts.dictionary())``.

        Examples
        --------
        >>> import unbend
        >>> texts = unbend.io.read_texts(["red apple", "green apple"], stop_words=None)
        >>> kept = texts.dictionary()
        >>> unbend.io.read_texts(["apple pie"], like=kept).values.toarray()
        array([[1., 0., 0.]])
        """
        return {
            "terms": list(self.columns),
            "weights": None if self.weights is None else self.weights.tolist(),
            "stop_words": sorted(self.terms.stop_words),
            "stem": self.terms.stem,
            "unit": self.unit,
        }

    def distances(self) -> FloatArray:
        """Distances between all documents, for ``metric="precomputed"``.

        Returns
        -------
        array (n, n)
            Euclidean; between rows of unit length it grows with the angle, from 0 to √2.

        Examples
        --------
        >>> import unbend
        >>> texts = unbend.io.read_texts(["red apple", "green apple", "blue sea"])
        >>> texts.distances().round(2)
        array([[0.  , 1.13, 1.41],
               [1.13, 0.  , 1.41],
               [1.41, 1.41, 0.  ]])
        """
        n = len(self)
        reserve(16 * n * n, f"{n} x {n} distances", "reduce texts.values by PCA")
        products = np.asarray((self.values @ self.values.T).toarray())
        squares = products.diagonal().copy()
        products *= -2
        products += squares[:, None]
        products += squares
        # Below this, a square is rounding of zero: equal documents have equal rows.
        products[products < 16 * np.finfo(float).eps * squares.max(initial=0)] = 0
        np.fill_diagonal(products, 0)
        return np.asarray(np.sqrt(products, out=products))


def read_texts(
    source: Any,
    *,
    column: str | None = None,
    label: str | None = None,
    id: str | None = None,
    weight: str = "tf-idf",
    stop_words: Iterable[str] | str | None = "english",
    stem: bool = False,
    unit: bool = True,
    terms: Iterable[str] | None = None,
    like: Texts | Mapping[str, Any] | None = None,
    encoding: str | None = None,
    separator: str | None = None,
) -> Texts:
    r"""Read documents as a document–term matrix.

    Parameters
    ----------
    source : path, list of paths, list of str, or table
        A folder of files, one document each, with those in its subfolders, whose names then are
        the label; a list of `pathlib.Path`; a list of the documents themselves; a file of text,
        one document a line; or, with `column`, any table that `read` takes.
    column : str, optional
        Column of a table that holds the documents.
    label, id : str, optional
        Label and id columns of the table.
    weight : {'tf-idf', 'tf'}, default='tf-idf'
        Frequencies as they are, or those of rare terms raised: times
        1 + ln((1 + n) / (1 + documents that have the term)).
    stop_words : 'english', iterable of str, or None, default='english'
        Stop words; of those with an apostrophe, as *don't*, all parts. 'english' is
        scikit-learn's list with contractions and five auxiliary verbs; it has some words with a
        meaning of their own, as *system* or *fire*: pass a list to keep them.
    stem : bool, default=False
        Whether to reduce words to their stems by Snowball's ``porter`` stemmer, so that *maps* and
        *mapping* are one term; needs snowballstemmer (``unbend[io]``).
    unit : bool, default=True
        Whether to normalise each document to unit length, so that long and short ones compare.
    terms : iterable of str, optional
        Vocabulary: single words, of which no others are counted; stop words among them are. With
        `stem` they are stemmed, as the documents are. By default all words that occur.
    like : Texts or dict, optional
        Texts that were read before, or their `dictionary()`: their vocabulary and weights are used
        for new documents; the settings above are then ignored.
    encoding : str, optional
        Encoding of files of documents, UTF-8 by default; with `column` that of the table, as for
        `read`.
    separator : str, optional
        With `column`: character between the fields of a text file, as for `read`.

    Returns
    -------
    Texts
        Documents without any term are left out, with a warning.

    Examples
    --------
    >>> import unbend
    >>> texts = unbend.io.read_texts(["Maps of the sea", "The sea, mapped", "A red apple"],
    ...                              stem=True, weight="tf")
    >>> texts.columns
    ('appl', 'map', 'red', 'sea')
    >>> texts.values.toarray().round(2)
    array([[0.  , 0.71, 0.  , 0.71],
           [0.  , 0.71, 0.  , 0.71],
           [0.71, 0.  , 0.71, 0.  ]])
    """
    if weight not in WEIGHTS:
        raise ValueError(f"weight={weight!r} is not allowed: it must be 'tf-idf' or 'tf'")
    if terms is not None:
        terms = _check_terms(terms, like)
    documents = read_documents(source, column, label, id, encoding, separator)
    if like is not None:
        return _texts_like(documents, like.dictionary() if isinstance(like, Texts) else like)
    vocabulary = None if terms is None else normalize_terms(terms, stem)
    stopped = _stop_words(stop_words) - frozenset(
        () if terms is None else map(normalize_text, terms)
    )
    tokens = Terms(stopped, stem)
    counts, names = count_terms(documents.texts, tokens, vocabulary)
    # Empty documents are none: they do not make terms rare.
    some = counts[np.diff(counts.indptr) > 0]
    if not some.shape[0]:
        raise ValueError(NO_TERMS)
    weights = inverse_frequencies(some) if weight == "tf-idf" else None
    return _texts(documents, counts, names, weights, tokens, unit)


def _check_terms(terms: Iterable[str], like: object) -> list[str]:
    if like is not None:
        raise ValueError("terms and like both give a vocabulary: pass one of the two")
    if isinstance(terms, str):
        raise TypeError(f"terms={terms!r} is a string: pass a list of words")
    return list(terms)


def _texts_like(documents: "Documents", dictionary: Mapping[str, Any]) -> Texts:
    """Count the terms of a vocabulary, with its weights."""
    lacking = {"terms", "weights", "stop_words", "stem", "unit"} - set(dictionary)
    if lacking:
        raise ValueError(
            f"like has no {min(lacking)!r}: pass texts, or what texts.dictionary() gave"
        )
    terms = Terms(frozenset(dictionary["stop_words"]), dictionary["stem"])
    counts, names = count_terms(documents.texts, terms, tuple(dictionary["terms"]))
    weights = dictionary["weights"]
    weights = None if weights is None else np.asarray(weights, dtype=np.float64)
    if weights is not None and weights.shape != (len(names),):
        raise ValueError(f"like has {len(names)} terms and weights of the shape {weights.shape}")
    return _texts(documents, counts, names, weights, terms, dictionary["unit"])


def _texts(
    documents: "Documents",
    counts: csr_array,
    names: tuple[str, ...],
    weights: FloatArray | None,
    terms: Terms,
    unit: bool,
) -> Texts:
    rows = np.flatnonzero(np.diff(counts.indptr))
    if not len(rows):
        raise ValueError(NO_TERMS)
    lost = counts.shape[0] - len(rows)
    if lost:
        place = int(np.argmax(np.diff(counts.indptr) == 0))
        name = f"document {place + 1}" if documents.ids is None else repr(str(documents.ids[place]))
        have = "document has no term and was" if lost == 1 else "documents have no term and were"
        warn(
            f"{lost} {have} left out, the first being {name}: `rows` has the indices of the others"
        )
    return Texts(
        values=weight_terms(counts[rows], weights, unit),
        columns=names,
        label=None if documents.label is None else documents.label[rows],
        label_name=documents.label_name,
        ids=None if documents.ids is None else documents.ids[rows],
        id_name=documents.id_name,
        rows=rows,
        weights=weights,
        terms=terms,
        unit=unit,
    )


def _stop_words(words: Iterable[str] | str | None) -> frozenset[str]:
    if words is None:
        return frozenset()
    if not isinstance(words, str):
        return normalize_stop_words(words)
    if words != "english":
        raise ValueError(
            f"stop_words={words!r} is not allowed: it must be 'english', None or a list"
        )
    return english_stop_words()


@dataclass(frozen=True)
class Documents:
    """Texts, with their ids and labels."""

    texts: Iterable[str]
    ids: Array | None
    id_name: str | None
    label: Array | None
    label_name: str | None


def read_documents(
    source: Any,
    column: str | None,
    label: str | None,
    id: str | None,
    encoding: str | None,
    separator: str | None,
) -> Documents:
    """Return the documents of a source."""
    if column is not None:
        reader = open_table(source, separator=separator, encoding=encoding)
        return _from_column(reader, column, label, id)
    encoding = codec(encoding or "utf-8")
    check_no_separator(separator, "without column= each line is a document")
    if label is not None or id is not None:
        raise ValueError("label and id name columns of a table: name that of the documents too")
    if is_folder(source) or is_paths(source):
        files = list_files(source, None, "texts")
        texts = (_read_text(path, encoding) for path in files.paths)
        folder = None if files.label is None else "folder"
        return Documents(texts, files.ids, "file", files.label, folder)
    if is_file(source):
        return Documents(_read_lines(open_source(source), encoding), None, None, None, None)
    return Documents(_check_strings(source), None, None, None, None)


def _from_column(reader: TableReader, column: str, label: str | None, id: str | None) -> Documents:
    def read(name: str | None) -> Array | None:
        if name is None:
            return None
        roles = Roles(name, None, (), alone=True)
        (table,) = reader.tables(roles.resolve(reader.names, reader.where), None)
        return table.label

    texts = read(column)
    assert texts is not None
    documents = ("" if text is None or text != text else str(text) for text in texts.tolist())
    return Documents(documents, read(id), id, read(label), label)


def _check_strings(source: Any) -> list[str]:
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


def _read_text(path: os.PathLike[str], encoding: str) -> str:
    with open_source(path) as source:
        return _decode(source.read_bytes(), source, encoding)


def _decode(content: bytes, source: Source, encoding: str) -> str:
    try:
        text = content.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeError as error:
        raise ValueError(undecodable(source.name, encoding, error)) from error
    if "\x00" in text:
        raise ValueError(f"{source.name} is not text: it holds zero bytes")
    return text


def _read_lines(source: Source, encoding: str) -> Iterator[str]:
    if not has_plain_line_ends(encoding):
        # Lines end in other bytes, as in UTF-16.
        yield from io.StringIO(_decode(source.read_bytes(), source, encoding))
        return
    with source.lines() as stream:
        for line in stream:
            yield _decode(line, source, encoding)
