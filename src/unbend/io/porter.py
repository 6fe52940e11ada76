"""Stems of English words: M. F. Porter, An algorithm for suffix stripping, Program 14 (1980)."""

import re
from functools import lru_cache

Rule = tuple[str, str]
NONE: Rule = ("", "")

STEP_2: tuple[Rule, ...] = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("abli", "able"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
)
STEP_3: tuple[Rule, ...] = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
STEP_4 = tuple(
    "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize".split()  # noqa: SIM905
)
LETTERS = re.compile(r"[a-z]{3,64}")
REPEATED = re.compile(r"([^aeioulsz])\1$")


# Few words make up most of a text.
@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the stem of a word in small letters; what is not English letters is left as it is.

    Examples
    --------
    >>> [stem(word) for word in ("relational", "hopping", "ponies", "sensibilities")]
    ['relat', 'hop', 'poni', 'sensibl']
    """
    if LETTERS.fullmatch(word) is None:
        return word
    word = _endings(_plural(word))
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, STEP_2)
    word = _replaced(word, STEP_3)
    return _final(_stripped(word))


def _shape(word: str) -> str:
    """Write v for vowels and c for consonants; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    """Count the vowels, taken together, that consonants follow: m in [C](VC)^m[V]."""
    return len(re.findall("v+c+", _shape(word)))


def _has_vowel(word: str) -> bool:
    return "v" in _shape(word)


def _is_short(word: str) -> bool:
    """Whether a word ends in consonant, vowel, consonant, the last not w, x or y."""
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _endings(word: str) -> str:
    """Take -eed, -ed and -ing away, and mend what is left."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        rest = word.removesuffix(suffix)
        if rest != word and _has_vowel(rest):
            if rest.endswith(("at", "bl", "iz")):
                return rest + "e"
            # Of two y one is a vowel: only where it is the first are they a consonant twice.
            if REPEATED.search(rest) and _shape(rest).endswith("c"):
                return rest[:-1]
            return rest + "e" if _measure(rest) == 1 and _is_short(rest) else rest
    return word


def _replaced(word: str, rules: tuple[Rule, ...]) -> str:
    suffix, other = max(
        (rule for rule in rules if word.endswith(rule[0])), key=_length, default=NONE
    )
    rest = word.removesuffix(suffix)
    return rest + other if suffix and _measure(rest) > 0 else word


def _length(rule: Rule) -> int:
    """Length of a suffix: the longest that fits is the one that counts."""
    return len(rule[0])


def _stripped(word: str) -> str:
    suffix = max((suffix for suffix in STEP_4 if word.endswith(suffix)), key=len, default="")
    rest = word.removesuffix(suffix)
    allowed = suffix != "ion" or rest.endswith(("s", "t"))
    return rest if allowed and _measure(rest) > 1 else word


def _final(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        count = _measure(rest)
        if count > 1 or (count == 1 and not _is_short(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
