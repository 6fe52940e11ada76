"""Free text beside other columns: tf-idf of its terms, with the weight of one column."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

import unbend
from tests.tables.corpus import TABLES
from unbend.io.terms import Terms, english_stop_words

KINDS = {"description": "terms"}


@pytest.fixture
def packages():
    return TABLES["packages"]().frame.drop(columns="section")


def test_terms_are_those_of_scikit_learn_with_the_weight_of_a_column(packages):
    prepare = unbend.Prepare(kinds=KINDS).fit(packages)
    names = prepare.get_feature_names_out().tolist()
    places = [place for place, name in enumerate(names) if name.startswith("description:")]
    block = prepare.transform(packages)[:, places]
    tokens = Terms(english_stop_words(), stem=False).tokenize
    vocabulary = [names[place].partition(":")[2] for place in places]
    peer = TfidfVectorizer(analyzer=tokens, vocabulary=vocabulary)
    expected = peer.fit_transform(packages["description"]).toarray()
    np.testing.assert_allclose(block, expected * (block.max() / expected.max()), atol=1e-12)
    np.testing.assert_allclose(block.var(axis=0).sum(), 1.0)
    assert all(token in vocabulary for token in ("tables", "parses", "library"))


def test_rows_of_similar_texts_are_near(packages):
    features = unbend.Prepare(kinds=KINDS).fit_transform(packages[["size_kB", "description"]])
    words = [tuple(text.split()[2:4]) for text in packages["description"]]
    squares = ((features[:, None, 1:] - features[None, :, 1:]) ** 2).sum(axis=2)
    alike = np.array([[a == b for b in words] for a in words])
    assert squares[alike].mean() < 0.2 * squares[~alike].mean()


def test_new_texts_gaps_and_words_back(packages, tmp_path):
    pipeline = unbend.Prepare(kinds=KINDS).fit(packages)
    new = packages[:3].copy()
    new.loc[0, "description"] = None
    new.loc[1, "description"] = "unknown wording"
    features = pipeline.transform(new)
    texts = [name.startswith("description:") for name in pipeline.get_feature_names_out()]
    assert not features[:2, texts].any()
    assert features[2, texts].any()
    back = pipeline.inverse_transform(features)["description"].tolist()
    assert pd.isna(back[:2]).all()
    assert set(back[2].split()) <= set(packages["description"][2].lower().split())
    model = unbend.PCA().fit(pipeline.transform(packages))
    model.preparation_ = pipeline
    model.save(tmp_path / "m.unbend")
    again = unbend.load(tmp_path / "m.unbend").preparation_
    np.testing.assert_array_equal(again.transform(new), features)


def test_texts_in_batches(packages):
    parts = [packages[:50], packages[50:]]
    whole = unbend.Prepare(kinds=KINDS).fit(packages)
    found = unbend.Prepare(kinds=KINDS).fit_batches(parts)
    np.testing.assert_allclose(found.transform(packages), whole.transform(packages), atol=1e-9)


def test_what_has_no_terms_is_refused(packages):
    with pytest.raises(ValueError, match=r"'size_kB'.*not text"):
        unbend.Prepare(kinds={"size_kB": "terms"}).fit(packages)
    with pytest.raises(ValueError, match="no term that two rows share"):
        unbend.Prepare(kinds={"package": "terms"}).fit(packages)
    with pytest.raises(ValueError, match="Gower"):
        unbend.Prepare(scale="gower", kinds=KINDS).fit(packages)
