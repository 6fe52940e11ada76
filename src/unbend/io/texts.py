"""Texts: a folder, a list, or a column of a table, as a sparse matrix of weighted terms."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import FloatArray, IntArray
from unbend.io.documents import Held, documents_of
from unbend.io.numerals import Array
from unbend.io.terms import (
    NO_TERMS,
    Terms,
    count_terms,
    english_stop_words,
    inverse_frequencies,
    stop_words_of,
    weighted,
)
from unbend.memory import reserve
from unbend.report import warn

WEIGHTS = ("tf-idf", "tf")


@dataclass(frozen=True, eq=False)
class Texts:
    """Documents as rows of a sparse matrix; what `read_texts` returns.

    Of the estimators `PCA` takes sparse rows; others take `distances()`, or what PCA makes of
    the rows.

    Attributes
    ----------
    values : sparse array (n, terms)
        Weighted frequencies of the terms.
    columns : tuple of str
        The terms, in the order of the alphabet.
    label, ids : array (n,) or None
        The columns kept aside: of a folder, the subfolders and the names of the files.
    label_name, id_name : str or None
        Their names.
    rows : array (n,)
        Place of each document in the source, counted from zero: empty ones were left out.
    weights : array (terms,) or None
        What the frequency of each term was multiplied by.
    terms : Terms
        How documents were cut into terms.
    unit : bool
        Whether rows were brought to length one.
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
        """Terms, weights and how documents were cut, in JSON: what `like` needs of these texts.

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
            "stem": self.terms.stemmed,
            "unit": self.unit,
        }

    def distances(self) -> FloatArray:
        """Distances between all documents, for ``metric="precomputed"``.

        Returns
        -------
        array (n, n)
            Euclidean; between rows of length one it grows with the angle, from 0 to √2.

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
    like: Texts | Mapping[str, Any] | None = None,
    encoding: str = "utf-8",
    separator: str | None = None,
) -> Texts:
    r"""Read documents as weighted frequencies of their terms.

    Parameters
    ----------
    source : path, list of paths, list of str, or table
        A folder of files, one document each, with those in its subfolders, whose names then are
        the label; a list of `pathlib.Path`; a list of the documents themselves; a file of text,
        one document a line; or, with `column`, any table that `read` takes.
    column : str, optional
        Column of a table that holds the documents.
    label, id : str, optional
        Columns of the table to keep aside.
    weight : {'tf-idf', 'tf'}, default='tf-idf'
        Frequencies as they are, or those of rare terms raised: times
        1 + ln((1 + n) / (1 + documents that have the term)).
    stop_words : 'english', iterable of str, or None, default='english'
        Words to leave out; of those with an apostrophe, as *don't*, all parts. 'english' is
        scikit-learn's list with contractions and five auxiliary verbs; it has some words with a
        meaning of their own, as *system* or *fire*: pass a list to keep them.
    stem : bool, default=False
        Whether to reduce words to their stems by Snowball's ``porter`` stemmer, so that *maps* and
        *mapping* are one term; needs snowballstemmer (``unbend[io]``).
    unit : bool, default=True
        Whether to bring each document to length one, so that long and short ones compare.
    like : Texts or dict, optional
        Texts that were read before, or their `dictionary()`: their terms and weights are used, for
        new documents; the settings above are then not looked at.
    encoding : str, default='utf-8'
        Encoding of files of documents.
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
    held = documents_of(source, column, label, id, encoding, separator)
    if like is not None:
        return _texts_like(held, like.dictionary() if isinstance(like, Texts) else like)
    terms = Terms(_stop_words(stop_words), stem)
    counts, names = count_terms(held.documents, terms, None)
    # Empty documents are none: they do not make terms rare.
    some = counts[np.diff(counts.indptr) > 0]
    weights = inverse_frequencies(some) if weight == "tf-idf" else None
    return _texts(held, counts, names, weights, terms, unit)


def _texts_like(held: Held, dictionary: Mapping[str, Any]) -> Texts:
    """Count the terms of a dictionary, and weigh them as it says."""
    lacking = {"terms", "weights", "stop_words", "stem", "unit"} - set(dictionary)
    if lacking:
        raise ValueError(
            f"like has no {min(lacking)!r}: pass texts, or what texts.dictionary() gave"
        )
    terms = Terms(frozenset(dictionary["stop_words"]), dictionary["stem"])
    counts, names = count_terms(held.documents, terms, tuple(dictionary["terms"]))
    given = dictionary["weights"]
    weights = None if given is None else np.asarray(given, dtype=np.float64)
    if weights is not None and weights.shape != (len(names),):
        raise ValueError(f"like has {len(names)} terms and weights of the shape {weights.shape}")
    return _texts(held, counts, names, weights, terms, dictionary["unit"])


def _texts(
    held: Held,
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
        name = f"document {place + 1}" if held.ids is None else repr(str(held.ids[place]))
        which = (
            "1 document has no term and was"
            if lost == 1
            else (f"{lost} documents have no term and were")
        )
        warn(f"{which} left out, the first being {name}: rows has the places of the others")
    return Texts(
        values=weighted(counts[rows], weights, unit),
        columns=names,
        label=None if held.label is None else held.label[rows],
        label_name=held.label_name,
        ids=None if held.ids is None else held.ids[rows],
        id_name=held.id_name,
        rows=rows,
        weights=weights,
        terms=terms,
        unit=unit,
    )


def _stop_words(given: Iterable[str] | str | None) -> frozenset[str]:
    if given is None:
        return frozenset()
    if isinstance(given, str):
        if given != "english":
            raise ValueError(
                f"stop_words={given!r} is not allowed: it must be 'english', None or a list"
            )
        return english_stop_words()
    return stop_words_of(given)
