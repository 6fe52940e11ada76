"""Sheets of images show the pixels they were given, and reconstructions those of the formula."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA as ScikitPCA

import unbend
from tests.loops import each

DIGITS = load_digits()
MODEL = unbend.PCA(n_components=20).fit(DIGITS.data)


def shown(figure):
    return [np.asarray(axes.images[0].get_array()) for axes in figure.axes]


def test_a_sheet_shows_every_image_in_order_and_on_one_scale():
    figure = unbend.plot.image_sheet(DIGITS.images[:23], names=DIGITS.target[:23], columns=8)
    assert np.array_equal(shown(figure), DIGITS.images[:23])
    assert [axes.get_title() for axes in figure.axes] == [str(t) for t in DIGITS.target[:23]]
    assert {axes.images[0].get_clim() for axes in figure.axes} == {(0.0, 16.0)}
    rows = {round(axes.get_position().y0, 3) for axes in figure.axes}
    assert len(rows) == 3
    own = unbend.plot.image_sheet([np.eye(3), 5 * np.eye(3)], scale="each")
    assert [axes.images[0].get_clim() for axes in own.axes] == [(0, 1), (0, 5)]


def test_colour_images_keep_their_colours():
    images = np.random.default_rng(0).random((4, 5, 7, 3))
    assert np.array_equal(shown(unbend.plot.image_sheet(images)), images)


def test_eigenimages_are_the_mean_and_the_axes():
    figure = unbend.plot.eigenimages(MODEL, (8, 8), count=5)
    expected = np.vstack([MODEL.mean_, MODEL.components_[:5]]).reshape(-1, 8, 8)
    assert np.array_equal(shown(figure), expected)
    projection = unbend.RandomProjection(n_components=3).fit(DIGITS.data)
    assert np.array_equal(
        shown(unbend.plot.eigenimages(projection, (8, 8))),
        projection.components_.reshape(-1, 8, 8),
    )


def test_reconstructions_are_those_of_the_first_axes():
    figure = unbend.plot.reconstructions(MODEL, DIGITS.images[:6], [3, 20])
    found = np.array(shown(figure)).reshape(3, 6, 64)
    assert np.array_equal(found[0], DIGITS.data[:6])
    for row, count in ((1, 3), (2, 20)):
        peer = ScikitPCA(count, svd_solver="full").fit(DIGITS.data)
        expected = peer.inverse_transform(peer.transform(DIGITS.data[:6]))
        np.testing.assert_allclose(found[row], expected, atol=1e-9)


@each(
    ("draw", "sentence"),
    [
        (lambda: unbend.plot.image_sheet([]), "0 images"),
        (lambda: unbend.plot.image_sheet(np.zeros((401, 2, 2))), "select some"),
        (lambda: unbend.plot.image_sheet(DIGITS.images[:3], names=["a"]), "1 names and 3 images"),
        (lambda: unbend.plot.image_sheet(DIGITS.images[:3], scale="row"), "scale='row'"),
        (lambda: unbend.plot.image_sheet(np.zeros((3, 4))), r"image 0 has the shape \(4,\)"),
        (lambda: unbend.plot.eigenimages(MODEL, (9, 9)), "64 features and an image 81 pixels"),
        (lambda: unbend.plot.eigenimages(unbend.PCA(), (8, 8)), "no components_"),
        (lambda: unbend.plot.reconstructions(MODEL, DIGITS.images[0]), "pass 1 to 20"),
        (lambda: unbend.plot.reconstructions(MODEL, np.zeros((2, 3, 3))), "9 pixels"),
        (lambda: unbend.plot.reconstructions(MODEL, DIGITS.images[:2], [21]), "at most 20"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, sentence):
    with pytest.raises(ValueError, match=sentence):
        draw()
