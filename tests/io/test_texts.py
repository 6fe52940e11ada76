"""Documents as weighted terms; scikit-learn and Snowball as oracles."""

import gzip
import io
import json
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import snowballstemmer
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer, TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

import unbend
from unbend.io.terms import english_stop_words, stem

DOCS = Path(__file__).parents[2] / "docs"
DOCUMENTS = [
    "Maps of the sea, mapped by sailors.",
    "The sailor mapped a green sea; the sea was green.",
    "Red apples, green apples",
    "Sea",
]
WORDS = sorted(
    {word for page in DOCS.glob("*.md") for word in re.findall(r"[a-z]+", page.read_text().lower())}
)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text("ab é_1,\n", max_size=30), min_size=1, max_size=8))
def test_weights_are_those_of_scikit_learn(documents):
    documents = [*documents, "ab ab ba", "b1 ab"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        texts = unbend.io.read_texts(documents, stop_words=None)
    kept = [documents[row] for row in texts.rows]
    oracle = TfidfVectorizer()
    expected = oracle.fit_transform(kept)
    assert list(texts.columns) == oracle.get_feature_names_out().tolist()
    assert np.allclose(texts.values.toarray(), expected.toarray(), rtol=1e-13, atol=0)
    assert len(kept) + sum(not re.search(r"\w\w", text) for text in documents) == len(documents)


def test_frequencies_without_weights_are_counts():
    texts = unbend.io.read_texts(DOCUMENTS, stop_words=None, weight="tf", unit=False)
    expected = CountVectorizer().fit_transform(DOCUMENTS)
    assert np.array_equal(texts.values.toarray(), expected.toarray())
    rows = unbend.io.read_texts(DOCUMENTS, weight="tf").values.toarray()
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-14)


def test_stop_words_are_left_out():
    assert not set(unbend.io.read_texts(DOCUMENTS).columns) & english_stop_words()
    assert "the" in unbend.io.read_texts(DOCUMENTS, stop_words=None).columns
    assert "sea" not in unbend.io.read_texts(DOCUMENTS[:3], stop_words=["SEA"]).columns
    with pytest.raises(ValueError, match="stop_words='german'"):
        unbend.io.read_texts(DOCUMENTS, stop_words="german")


CONTRACTIONS = (
    "i'm you're he's it's we'll they've she'd isn't aren't wasn't weren't hasn't haven't hadn't "
    "won't wouldn't don't doesn't didn't can't couldn't shouldn't mustn't let's that's who's "
    "there's here's what's where's when's why's how's would've shan't needn't mightn't ain't "
    "sailors'll"
)


@pytest.mark.parametrize("apostrophe", ["'", "\u2019"])
def test_no_part_of_a_contraction_is_left(apostrophe):
    text = f"{CONTRACTIONS.replace(chr(39), apostrophe)} {CONTRACTIONS.upper()}"
    assert unbend.io.read_texts([text]).columns == ("sailors",)


def test_words_that_are_parts_of_contractions_stay():
    texts = unbend.io.read_texts(["Don won. Don't, won't! Harry's dog"])
    assert texts.columns == ("dog", "don", "harry", "won")
    assert texts.terms.tokenize("Don won, and they don't").count("don") == 1
    again = unbend.io.read_texts(["We don't; Don does"], like=texts.dictionary())
    assert again.values.sum(axis=1).tolist() == [1]
    assert again.values.toarray()[0, 1] == 1


def test_stop_words_are_compared_as_documents_are_cut():
    documents = ["we can\u2019t hear caf\u00e9 noise", "noise e-mail"]
    texts = unbend.io.read_texts(documents, stop_words=["Can't", "CAFE\u0301"])
    assert texts.columns == ("hear", "mail", "noise", "we")
    with pytest.warns(UserWarning, match="'e-mail' is never found.*: give 'mail'"):
        unbend.io.read_texts(documents, stop_words=["e-mail", "a"])


def test_stems_are_those_of_snowball():
    oracle = snowballstemmer.stemmer("porter")
    words = [word for word in WORDS if len(word) > 1]
    assert len(words) > 1000
    texts = unbend.io.read_texts([" ".join(words)], stop_words=None, stem=True)
    assert texts.columns == tuple(sorted(set(oracle.stemWords(words))))


def test_english_texts_have_the_numbers_of_scikit_learn():
    pages = [page.read_text().replace("'", " ") for page in sorted(DOCS.glob("*.md"))]
    more = ["did", "does", "doing", "having", "shall", "ll", "ve"]
    oracle = TfidfVectorizer(stop_words=[*ENGLISH_STOP_WORDS, *more])
    expected = oracle.fit_transform(pages)
    texts = unbend.io.read_texts(pages)
    assert texts.columns == tuple(oracle.get_feature_names_out())
    assert np.allclose(texts.values.toarray(), expected.toarray(), rtol=1e-13, atol=0)


def test_stemming_without_snowball_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    stem.cache_clear()
    message = r"^stem=True needs snowballstemmer: pip install 'unbend\[io\]'$"
    with pytest.raises(ImportError, match=message):
        unbend.io.read_texts(DOCUMENTS, stem=True)
    assert "sea" in unbend.io.read_texts(DOCUMENTS).columns


def test_stemmed_documents_share_terms():
    texts = unbend.io.read_texts(DOCUMENTS, stem=True)
    assert texts.columns == ("appl", "green", "map", "red", "sailor", "sea")


def test_empty_documents_are_dropped_with_a_warning(tmp_path):
    for name, content in {"a": "red sea", "b": "of the", "c": "", "d": "blue sea"}.items():
        (tmp_path / f"{name}.txt").write_text(content)
    with pytest.warns(UserWarning, match=r"2 documents have no term and were left .*'b\.txt'"):
        texts = unbend.io.read_texts(tmp_path)
    assert texts.ids.tolist() == ["a.txt", "d.txt"]
    assert texts.rows.tolist() == [0, 3]
    with pytest.raises(ValueError, match="no document has any term"):
        unbend.io.read_texts(["of the", ""])


def test_folders_lists_lines_and_columns_are_one(tmp_path):
    expected = unbend.io.read_texts(DOCUMENTS)
    paths = []
    for place, document in enumerate(DOCUMENTS):
        paths.append(tmp_path / f"kind{place % 2}" / f"{place}.txt.gz")
        paths[-1].parent.mkdir(exist_ok=True)
        paths[-1].write_bytes(gzip.compress(document.encode()))
    table = {"text": DOCUMENTS, "kind": list("abab"), "number": [1, 2, 3, 4]}
    lines = io.BytesIO("\n".join(DOCUMENTS).encode())
    for source, columns in ((paths, {}), (lines, {}), (table, {"column": "text", "label": "kind"})):
        texts = unbend.io.read_texts(source, **columns)
        assert np.array_equal(texts.values.toarray(), expected.values.toarray())
    assert texts.label.tolist() == list("abab")
    folder = unbend.io.read_texts(tmp_path)
    assert folder.label.tolist() == ["kind0", "kind0", "kind1", "kind1"]
    assert folder.shape == expected.shape


def test_a_column_of_a_file_holds_documents(tmp_path):
    path = tmp_path / "t.csv"
    lines = "\n".join(f'{place},"{text}",1.5' for place, text in enumerate(DOCUMENTS))
    path.write_text(f"number,text,weight\n{lines}\n")
    texts = unbend.io.read_texts(path, column="text", id="number")
    assert np.array_equal(texts.ids, np.arange(4))
    expected = unbend.io.read_texts(DOCUMENTS)
    assert np.array_equal(texts.values.toarray(), expected.values.toarray())
    with pytest.raises(ValueError, match=r"has no column 'words'"):
        unbend.io.read_texts(path, column="words")
    out = io.BytesIO()
    unbend.io.write(out, np.zeros((4, 2)), table=texts)
    assert out.getvalue().startswith(b"number,y0,y1\n0,0.0,0.0\n")


def test_new_documents_use_terms_and_weights_of_the_old():
    texts = unbend.io.read_texts(DOCUMENTS, stem=True)
    again = unbend.io.read_texts([*DOCUMENTS, "unknown sailors"], like=texts)
    assert np.allclose(again.values.toarray()[:4], texts.values.toarray(), rtol=1e-15)
    assert again.values.toarray()[4].tolist() == [0, 0, 0, 0, 1, 0]


def test_distances_are_chords_of_the_angles():
    texts = unbend.io.read_texts([*DOCUMENTS, DOCUMENTS[1]])
    cosines = cosine_similarity(texts.values)
    distances = texts.distances()
    assert np.allclose(distances**2, 2 - 2 * cosines, atol=1e-14)
    assert distances[1, 4] == 0
    assert unbend.ClassicalMDS(metric="precomputed").fit_transform(distances).shape == (5, 2)


def test_pca_takes_the_sparse_rows_and_others_say_what_to_do():
    texts = unbend.io.read_texts(DOCUMENTS)
    flat = unbend.PCA(n_components=2, svd_solver="arpack").fit_transform(texts.values)
    dense = unbend.PCA(n_components=2).fit_transform(texts.values.toarray())
    assert np.allclose(np.abs(flat), np.abs(dense), atol=1e-10)
    with pytest.raises(TypeError, match="has sparse rows"):
        unbend.Isomap(n_neighbors=2).fit(texts.values)


def test_what_is_no_text_is_refused(tmp_path):
    (tmp_path / "a.txt").write_bytes("né".encode("latin-1"))
    with pytest.raises(ValueError, match=r"a\.txt is not in UTF-8 .*0xe9.*encoding="):
        unbend.io.read_texts(tmp_path)
    assert unbend.io.read_texts(tmp_path, encoding="latin-1").columns == ("né",)
    (tmp_path / "a.txt").write_bytes(b"ab\x00cd")
    with pytest.raises(ValueError, match=r"a\.txt is not text"):
        unbend.io.read_texts(tmp_path)
    with pytest.raises(ValueError, match=r"is a file and strings .* pathlib\.Path"):
        unbend.io.read_texts([str(tmp_path / "a.txt")])
    with pytest.raises(ValueError, match="encoding='klingon' is not known"):
        unbend.io.read_texts(tmp_path, encoding="klingon")
    with pytest.raises(TypeError, match="one is of type int"):
        unbend.io.read_texts([3])


def test_the_dictionary_of_texts_survives_json_and_gives_the_same_numbers():
    before = unbend.io.read_texts(
        ["Ships sail the sea", "The sea is deep", "Deep ships"], stem=True
    )
    new = ["Sailing ships on deep seas", "nothing known", "the sea"]
    kept = json.loads(json.dumps(before.dictionary()))
    with pytest.warns(UserWarning, match="document 2"):
        output, again = unbend.io.read_texts(new, like=before), unbend.io.read_texts(new, like=kept)
    assert again.columns == before.columns
    assert (again.values != output.values).nnz == 0
    assert again.rows.tolist() == [0, 2]
    with pytest.raises(ValueError, match="'stem'"):
        unbend.io.read_texts(new, like={name: kept[name] for name in kept if name != "stem"})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_lines_end_where_the_encoding_says(encoding, tmp_path):
    # The second byte of the letter is that of a line end.
    path = tmp_path / "lines.txt"
    path.write_text("red \u010apple\n\ngreen sea\n", encoding=encoding, newline="")
    with pytest.warns(UserWarning, match="document 2"):
        texts = unbend.io.read_texts(path, encoding=encoding)
    assert texts.columns == ("green", "red", "sea", "\u010bpple")
    assert texts.rows.tolist() == [0, 2]


def test_encodings_that_are_none_of_text_are_named():
    for encoding in ("rot13", "undefined", "nowhere"):
        with pytest.raises(ValueError, match=f"{encoding}.*not known"):
            unbend.io.read_texts(io.BytesIO(b"red"), encoding=encoding)


def test_letters_and_accents_are_one_word_however_they_are_stored():
    texts = unbend.io.read_texts(["nai\u0308ve cafe\u0301", "na\u00efve caf\u00e9"])
    assert texts.columns == ("caf\u00e9", "na\u00efve")


def test_a_given_vocabulary_is_counted_and_nothing_else():
    documents = ["The cat saw the dogs", "A dog and a bird", "dog Dog, DOG cat", "nothing here"]
    with pytest.warns(UserWarning, match="1 document has no term"):
        texts = unbend.io.read_texts(
            documents, terms=["dog", "Cat", "the"], weight="tf", unit=False
        )
    assert texts.columns == ("cat", "dog", "the")
    assert texts.values.toarray().tolist() == [[1, 0, 2], [0, 1, 0], [1, 3, 0]]
    stemmed = unbend.io.read_texts(
        documents[:3], terms=["dogs"], stem=True, unit=False, weight="tf"
    )
    assert stemmed.columns == ("dog",)
    assert stemmed.values.toarray().ravel().tolist() == [1, 1, 3]
    again = unbend.io.read_texts(["the dog"], like=texts)
    assert again.values.toarray().tolist() == [[0, 1, 1]]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"terms": "cat"}, TypeError, "pass a list of words"),
        ({"terms": []}, ValueError, "at least one word"),
        ({"terms": ["zebra"]}, ValueError, "no document has any term"),
        ({"terms": ["two words"]}, ValueError, "'two words', which is not a word"),
        ({"terms": ["cat", 3]}, ValueError, "has 3, which is not a word"),
        ({"terms": ["cat"], "like": {}}, ValueError, "pass one of the two"),
    ],
)
def test_what_is_no_vocabulary_is_refused(options, error, words):
    with pytest.raises(error, match=words):
        unbend.io.read_texts(["a cat"], **options)
