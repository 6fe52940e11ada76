"""The maps of cities and the circle of colours that the examples promise."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

import unbend

EXAMPLES = Path(__file__).parent.parent / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("loss", ["raw", "stress1", "sstress", "sammon"])
@pytest.mark.parametrize("region", ["Europe", "United States"])
def test_distances_between_cities_recover_the_map(region, loss):
    cities = example("cities")
    places = cities.REGIONS[region]
    fitted = cities.recovered(places, loss=loss)
    assert unbend.quality.procrustes(cities.azimuthal_map(places), fitted.embedding_) <= 0.01


def test_the_order_of_the_distances_between_cities_is_enough():
    cities = example("cities")
    ranks = pdist(cities.on_the_sphere(cities.EUROPE)).argsort().argsort() + 1.0
    fitted = unbend.NonmetricMDS(metric="precomputed").fit(squareform(ranks))
    assert unbend.quality.procrustes(cities.azimuthal_map(cities.EUROPE), fitted.embedding_) <= 0.01


@pytest.mark.parametrize("ties", ["primary", "secondary"])
def test_the_colours_lie_in_a_circle_in_the_order_of_their_waves(ties):
    colors = example("colours")
    fitted = unbend.NonmetricMDS(metric="precomputed", ties=ties).fit(colors.dissimilarities())
    assert list(colors.around(fitted.embedding_)) == list(range(14))
    radius = np.linalg.norm(fitted.embedding_, axis=1)
    assert radius.min() > 0.6 * radius.max()
    if ties == "primary":
        assert fitted.stress_ < 0.025  # what Kruskal calls excellent


@pytest.mark.parametrize("name", ["cities", "colours"])
def test_an_example_prints_its_result(name, capsys):
    example(name).main()
    assert "stress-1" in capsys.readouterr().out
