"""Document–term matrices: scikit-learn counts and weighs, Snowball stems."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from unicodedata import normalize as normalize_unicode

from scipy.sparse import csr_array, diags_array

from unbend.arrays import FloatArray
from unbend.io.source import require
from unbend.memory import check_fits
from unbend.report import warn

# scikit-learn's token pattern.
WORD = re.compile(r"\b\w\w+\b")
CONTRACTION = re.compile(r"\w+(?:['\u2019]\w+)+")
# Tokens end at apostrophes, and scikit-learn's list has no contractions: their last parts are
# added, and whole those whose first part is a word of its own, as *don* of *don't*.
MORE_STOP_WORDS = (
    "did does doing having shall ll ve ain't aren't can't couldn't didn't doesn't don't hadn't "
    "hasn't haven't isn't let's mightn't mustn't needn't shan't shouldn't wasn't weren't won't "
    "wouldn't"
)
# Bytes that CountVectorizer holds for a document and for each of its terms, while it counts and
# when it makes the matrix; checked against the free memory every so many documents.
DOCUMENT_BYTES, TERM_BYTES, CHECKED_EVERY = 48, 40, 4096
# Longer runs of letters are not English, and Snowball takes a second for each 100 kB of them.
LONGEST_WORD = 64
NO_TERMS = (
    "no document has any term: the texts are empty, or hold stop words or unknown terms only; pass "
    "other texts, or stop_words=None"
)


def english_stop_words() -> frozenset[str]:
    """Return scikit-learn's English stop words, with contractions."""
    # Here and below scikit-learn is imported where it is used: reading a table does not need it.
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset[str](ENGLISH_STOP_WORDS) | set(MORE_STOP_WORDS.split())


@dataclass(frozen=True)
class Terms:
    """Tokenisation of documents."""

    stop_words: frozenset[str]
    stem: bool

    def tokenize(self, document: str) -> list[str]:
        """Return the terms of a document; stop words are removed before stemming."""
        text = CONTRACTION.sub(self._expand, normalize_text(document))
        words = [word for word in WORD.findall(text) if word not in self.stop_words]
        return [stem(word) for word in words] if self.stem else words

    def _expand(self, match: re.Match[str]) -> str:
        return " " if match[0].replace("\u2019", "'") in self.stop_words else match[0]


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the Porter stem of a word.

    Examples
    --------
    >>> [stem(word) for word in ("relational", "hopping", "ponies", "sensibilities")]
    ['relat', 'hop', 'poni', 'sensibl']
    """
    if len(word) > LONGEST_WORD:
        return word
    # Stemmers hold the word in an attribute: one per call is safe between threads.
    return str(require("snowballstemmer", "stem=True").stemmer("porter").stemWord(word))


def normalize_text(text: str) -> str:
    """Return text in lower case, composed: a combining accent would split the word."""
    return normalize_unicode("NFC", text.lower())


def normalize_stop_words(words: Iterable[str]) -> frozenset[str]:
    """Normalise stop words as documents are; warn about one that no token can equal."""
    found = {normalize_text(word).replace("\u2019", "'") for word in words}
    for word in sorted(found):
        tokens = WORD.findall(word)
        if tokens not in ([], [word]) and CONTRACTION.fullmatch(word) is None:
            warn(
                f"the stop word {word!r} is never found, since documents are tokenised on "
                f"alphanumeric runs: give {' and '.join(map(repr, tokens[:3]))}"
            )
            break
    return frozenset(found)


def normalize_terms(words: Iterable[str], stemmed: bool) -> tuple[str, ...]:
    """Normalise a vocabulary as documents are, sorted; refuse what no token can equal."""
    found = set()
    for word in words:
        token = normalize_text(word) if isinstance(word, str) else ""
        if WORD.fullmatch(token) is None:
            raise ValueError(
                f"terms has {word!r}, which is not a word of two letters or digits or more: pass "
                "single words"
            )
        found.add(stem(token) if stemmed else token)
    if not found:
        raise ValueError("terms is empty: pass at least one word")
    return tuple(sorted(found))


def count_terms(
    documents: Iterable[str], terms: Terms, vocabulary: Sequence[str] | None
) -> tuple[csr_array, tuple[str, ...]]:
    """Count the terms of each document, of a vocabulary or of all that occur, sorted."""
    size = number = 0

    def analyze(document: str) -> list[str]:
        nonlocal size, number
        found = terms.tokenize(document)
        size += DOCUMENT_BYTES + TERM_BYTES * len(set(found))
        if number % CHECKED_EVERY == 0:
            check_fits(size, f"{number} documents and more", "take fewer")
        number += 1
        return found

    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer: Any = CountVectorizer(analyzer=analyze, dtype=float, vocabulary=vocabulary)
    try:
        counts = vectorizer.fit_transform(documents)
    except ValueError as error:
        if "empty vocabulary" not in str(error):
            raise
        raise ValueError(NO_TERMS) from None
    return csr_array(counts), tuple(vectorizer.get_feature_names_out().tolist())


def inverse_frequencies(counts: csr_array) -> FloatArray:
    """Return 1 + ln((1 + n) / (1 + document frequency)) of each term."""
    from sklearn.feature_extraction.text import TfidfTransformer

    idf: FloatArray = TfidfTransformer().fit(counts).idf_
    return idf


def weight_terms(counts: csr_array, weights: FloatArray | None, unit: bool) -> csr_array:
    """Multiply by the weights of terms, and normalise rows to unit length."""
    values = counts if weights is None else counts @ diags_array(weights)
    from sklearn.preprocessing import normalize

    return csr_array(normalize(values) if unit else values)
