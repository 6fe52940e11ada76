"""Documents as vectors: how often each term of a dictionary occurs, weighted."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from unicodedata import normalize

import numpy as np
from scipy.sparse import csr_array

from unbend.arrays import FloatArray
from unbend.io.numerals import Array
from unbend.io.porter import stem
from unbend.memory import check_fits
from unbend.report import warn

# Words of two letters, digits or more.
WORD = re.compile(r"\w\w+")
# Words that are cut at an apostrophe, as don't.
CONTRACTED = re.compile(r"\w+(?:['\u2019]\w+)+")

# What the two arrays of a document take beside their numbers, and after how many of them it is
# asked whether memory holds them.
DOCUMENT_BYTES, CHECKED_EVERY = 240, 4096


@dataclass(frozen=True)
class Terms:
    """How documents are cut into terms."""

    stop_words: frozenset[str]
    stemmed: bool

    def of(self, document: str) -> Counter[str]:
        """Count the terms of a document; stop words are left out before words are stemmed."""
        letters = CONTRACTED.sub(self._uncontracted, plain(document))
        words = Counter(WORD.findall(letters))
        kept = {word: count for word, count in words.items() if word not in self.stop_words}
        if not self.stemmed:
            return Counter(kept)
        stems: Counter[str] = Counter()
        for word, count in kept.items():
            stems[stem(word)] += count
        return stems

    def _uncontracted(self, found: re.Match[str]) -> str:
        """Leave out a stop word of which a part would stay, as *don* of *don't*."""
        return " " if found[0].replace("\u2019", "'") in self.stop_words else found[0]


def plain(text: str) -> str:
    """Letters in which words are compared."""
    # An accent that is a letter of its own would cut the word in two.
    return normalize("NFC", text.lower())


def stop_words_of(words: Iterable[str]) -> frozenset[str]:
    """Stop words as documents have them; those that no document can have are named in a warning."""
    found = {plain(word).replace("\u2019", "'") for word in words}
    cut = [
        word
        for word in sorted(found)
        if WORD.findall(word) not in ([], [word]) and CONTRACTED.fullmatch(word) is None
    ]
    if cut:
        warn(
            f"the stop word {cut[0]!r} is never found, since documents are cut into letters and "
            f"digits that stand together: give {' and '.join(map(repr, WORD.findall(cut[0])[:3]))}"
        )
    return frozenset(found)


def counted(
    documents: Iterable[str], terms: Terms, known: Mapping[str, int] | None
) -> tuple[csr_array, dict[str, int]]:
    """Count terms, one document at a time, in a known dictionary or in one that grows."""
    places: dict[str, int] = {} if known is None else dict(known)
    columns: list[Array] = []
    counts: list[Array] = []
    size = 0
    for document in documents:
        found = terms.of(document)
        if known is None:
            for term in found:
                places.setdefault(term, len(places))
        else:
            found = Counter({term: count for term, count in found.items() if term in places})
        size += DOCUMENT_BYTES + 16 * len(found)
        if len(columns) % CHECKED_EVERY == 0:
            check_fits(2 * size, f"{len(columns)} documents and more", "take fewer")
        columns.append(np.array([places[term] for term in found], dtype=np.int64))
        counts.append(np.array(list(found.values()), dtype=np.float64))
    offsets = np.cumsum([0, *map(len, columns)])
    entries = (_joined(counts), _joined(columns), offsets)
    matrix = csr_array(entries, shape=(len(columns), len(places)))
    return matrix, places


def _joined(parts: list[Array]) -> Array:
    return np.concatenate(parts) if parts else np.empty(0)


def alphabetical(matrix: csr_array, places: Mapping[str, int]) -> tuple[csr_array, tuple[str, ...]]:
    """Put the terms in the order of the alphabet, which does not depend on that of documents."""
    names = sorted(places)
    turned = np.empty(len(names), dtype=np.int64)
    turned[[places[name] for name in names]] = np.arange(len(names))
    ordered = csr_array((matrix.data, turned[matrix.indices], matrix.indptr), shape=matrix.shape)
    ordered.sort_indices()
    return ordered, tuple(names)


def inverse_frequencies(counts: csr_array) -> FloatArray:
    """Weigh terms: 1 + ln((1 + n) / (1 + number of documents that have it)).

    The ones keep finite what no document has, and above zero what all have.
    """
    n = counts.shape[0]
    documents = np.bincount(counts.indices, minlength=counts.shape[1])
    return np.asarray(1 + np.log((1 + n) / (1 + documents)))


def weighted(counts: csr_array, weights: FloatArray | None, unit: bool) -> csr_array:
    """Multiply by the weights of terms, and bring rows to length one."""
    data = counts.data if weights is None else counts.data * weights[counts.indices]
    if unit and data.size:
        rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        lengths = np.sqrt(np.bincount(rows, data**2, minlength=counts.shape[0]))
        data = data / lengths[rows]
    return csr_array((data, counts.indices, counts.indptr), shape=counts.shape)
