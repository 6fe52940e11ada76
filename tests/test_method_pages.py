"""Every method has its page: what it keeps, when to use it and when not, and its parameters."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

import unbend
from unbend.glossary import explain, read_terms
from unbend.registry import CLASSIFIERS, CLUSTERINGS, METHODS, SEVERAL

ENTRIES = (*METHODS, *SEVERAL, *CLUSTERINGS, *CLASSIFIERS)
ROOT = Path(__file__).parent.parent
PAGES = tomllib.loads((ROOT / "docs" / "methods.toml").read_text(encoding="utf-8"))
# Nothing of these can be varied that changes a picture in the plane.
WITHOUT_VALUES = ("pca", "classical_mds", "replicated_mds", "weighted_mds", "subspace_recognizer")


def test_every_method_has_a_page_and_nothing_else_has():
    assert set(PAGES) == {entry.name for entry in ENTRIES}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_page_says_when_to_use_the_method_and_names_its_parameters(entry):
    page = PAGES[entry.name]
    assert all(page[part] for part in ("keeps", "formula", "explain", "use", "avoid", "new"))
    parameters = entry.load()().get_params()
    drawn = [page[kind]["params"] for kind in ("works", "fails") if kind in page]
    assert len(drawn) == 2
    assert ("vary" in page) == (entry.name not in WITHOUT_VALUES)
    named = {*page["matters"], *(name for params in drawn for name in params)}
    if "vary" in page:
        named.add(page["vary"]["parameter"])
    assert named <= set(parameters)


def test_the_glossary_finds_terms_whatever_the_case_and_plural():
    for asked, term in {
        "Trustworthiness": "trustworthiness",
        "landmark": "landmarks",
        "neighborhood graph": "neighbourhood graph",
        "standardize": "standardise",
        "NYSTRÖM formula": "Nyström formula",
    }.items():
        assert explain(asked) == (term, read_terms()[term])
    with pytest.raises(KeyError, match="horseshoe"):
        explain("horsesho")


def test_the_glossary_has_the_terms_of_the_report_on_denoising_and_searches_in_order():
    roll = unbend.datasets.swiss_roll(2500, noise=0.4, random_state=0).points
    noise = np.random.default_rng(0).normal(scale=0.4, size=(2500, 17))
    options = {"denoise": "auto", "neighbors_algorithm": "approximate"}
    stage = unbend.LTSA(**options).fit(np.hstack((roll, noise))).report_.stage("denoise")
    for name in (stage.name, "displacement", "evenness", "landmarks", "patch_size", "recall"):
        assert name == stage.name or name in stage.facts
        assert explain(name.removesuffix("_size"))[1]
    terms = [term.lower() for term in read_terms()]
    assert terms == sorted(terms)
    assert list(read_terms()) == sorted(read_terms(), key=str.lower)


def test_measured_costs_cover_every_method_and_grow():
    costs = json.loads((ROOT / "benchmarks" / "method_cost.json").read_text())["methods"]
    assert set(costs) == {entry.name for entry in ENTRIES}
    for name, cost in costs.items():
        assert len(cost["rows"]) == len(cost["seconds"]) >= 2, name
        assert cost["seconds"][-1] > cost["seconds"][0], name
