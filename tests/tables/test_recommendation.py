"""Which method a page recommends where the suggested one is not first, is degenerate or failed."""

from dataclasses import replace

import pytest
from sklearn.datasets import load_wine

from tests.tables.consistency import check_page
from tests.tables.page import Page, sentences_of
from unbend.apps.study import page_html, study
from unbend.quality import Measure
from unbend.selection.comparison import _rank

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(scope="module")
def found():
    """Study 80 wines, for which a neighbour embedding is suggested."""
    made = study(load_wine().data[::2][:80], scale="standard")
    assert made.suggested.title.startswith("NeighborEmbedding")
    return made


def change(found, **measures):
    """Return the study as if the suggested method had these measures, and ranked anew."""
    own = found.suggested
    changed = replace(own, measures={**own.measures, **measures})
    trials = [changed if trial is own else trial for trial in found.comparison.trials]
    comparison = replace(found.comparison, trials=_rank(trials))
    return with_trust(replace(found, comparison=comparison))


def with_trust(found):
    """Return the study with the trustworthiness of the trial that it recommends."""
    shown, old = found.recommended.measures["trustworthiness"], found.trust
    return replace(found, trust=Measure(shown, old.local, old.rows, old.error))


def page_of(found):
    page = Page(page_html(found))
    check_page(page, sentences_of(page))
    return page, page.sections["Summary"].answers["Method"]


def test_the_suggested_method_is_recommended(found):
    _, answer = page_of(found)
    assert answer.startswith(found.suggested.title)


def test_one_sentence_says_why_the_first_is_another(found):
    page, answer = page_of(change(found, trustworthiness=0.5, continuity=0.5, r_nx_auc=0.1))
    place = len(page.sections["Quality of the embeddings"].tables[0]) - 1
    assert place > 1
    assert answer.startswith("NeighborEmbedding")
    assert "is better by trustworthiness, continuity and neighbourhood preservation" in answer
    assert answer.count(" ranks first ") == 1


@pytest.mark.parametrize(
    ("measures", "why"),
    [
        ({"occupancy": 0.01}, "most of its points coincide in a few specks"),
        ({"redundancy": 0.99}, "one of its coordinates is a function of the other"),
    ],
)
def test_a_suggested_method_that_shows_nothing_is_not_recommended(found, measures, why):
    _, answer = page_of(change(found, **measures))
    assert not answer.startswith("NeighborEmbedding")
    assert f"The properties of the data suggest {found.suggested.title}, but {why}" in answer


def test_a_suggested_method_that_failed_is_not_recommended(found):
    own = found.suggested
    failed = replace(own, failure="no luck", measures={}, embedding=None)
    trials = [trial for trial in found.comparison.trials if trial is not own]
    made = replace(found, comparison=replace(found.comparison, trials=_rank([*trials, failed])))
    page, answer = page_of(with_trust(made))
    assert "but it failed on these rows" in answer
    assert page.sections["Quality of the embeddings"].tables[-1][-1][-1] == "Failed: no luck."
