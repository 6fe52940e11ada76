"""Render every kind of picture once, small, for the page on plots.

Run as ``python docs/plots/make.py`` in the root of the repository.
"""

from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits

import unbend

FOLDER = Path(__file__).parent
DPI = 75


def figures():
    """Yield the name and the figure of every picture."""
    roll = unbend.datasets.swiss_roll(800, random_state=0)
    isomap = unbend.Isomap(n_neighbors=8).fit(roll.points)
    digits = load_digits()
    some = digits.data[:800], digits.target[:800]
    of_digits = unbend.Isomap(n_components=4, n_neighbors=8).fit(some[0])
    draw = unbend.plot
    yield "label", draw.scatter(of_digits.embedding_[:, :2], some[1], method="isomap")
    yield "value", draw.scatter(isomap, roll.chart[:, 0], graph=isomap, title="Values and edges")
    yield "chart", draw.scatter(isomap, roll, title="A chart of two columns")
    yield "space", draw.scatter(of_digits.embedding_[:, :3], some[1], method="isomap")
    yield "line", draw.scatter(of_digits.embedding_[:, :1], some[1], method="isomap")
    yield "pairs", draw.scatter(of_digits, some[1])
    rows = np.arange(0, 800, 20)
    names = [f"row {row}" for row in rows]
    yield "names", draw.scatter(isomap.embedding_[rows], names=names, method="isomap")
    longer = unbend.Isomap(n_components=8, n_neighbors=8).fit(roll.points)
    yield "spectrum", draw.spectrum(longer, d=2)
    geodesics = {"metric": "precomputed", "d": 2, "title": "Against geodesic distances"}
    both = {"PCA": unbend.PCA(n_components=3).fit(roll.points), "Isomap": longer}
    yield "residual_variance", draw.residual_variance(both, longer.geodesics_, **geodesics)
    methods = (unbend.PCA, unbend.Isomap, unbend.LLE, unbend.LTSA, unbend.LaplacianEigenmaps)
    sheet = {"in space": roll} | {m.__name__: m().fit(roll.points) for m in methods}
    yield "contact_sheet", draw.contact_sheet(sheet, roll.chart[:, 0], title="Swiss roll")
    yield from judgements(roll, isomap)
    yield from images(digits)


def judgements(roll, isomap):
    """Yield the pictures that say how far to believe an embedding."""
    draw, points = unbend.plot, roll.points
    flat = unbend.PCA().fit(points)
    estimators = (unbend.dimension.mle, unbend.dimension.correlation, unbend.dimension.two_nn)
    yield "dimension_fits", draw.dimension_fits([estimate(points) for estimate in estimators])
    geodesics = {"metric": "precomputed", "max_rows": 200}
    yield "shepard", draw.shepard(isomap.geodesics_, isomap, **geodesics)
    yield "coranking_matrix", draw.coranking_matrix(points, flat, max_rows=400)
    yield "quality_curves", draw.quality_curves(points, {"PCA": flat, "Isomap": isomap})
    trust = unbend.quality.trustworthiness(points, flat.embedding_, n_neighbors=10)
    yield "point_quality", draw.point_quality(flat, trust, name="trustworthiness")
    moved = unbend.selection.resample(isomap, points)
    # Of all rows the ellipses would cover each other.
    few = np.arange(0, len(points), 8)
    ellipses = draw.stability_ellipses(isomap.embedding_[few], moved[:, few], method="isomap")
    yield "stability_ellipses", ellipses
    colors = roll.chart[:, 0]
    yield "before_after", draw.before_after(roll, {"PCA": flat, "Isomap": isomap}, colors)


def images(digits):
    """Yield the pictures that hold images."""
    flat = unbend.Isomap(n_neighbors=8).fit(digits.data[:800])
    yield "thumbnails", unbend.plot.thumbnails(flat, digits.images[:800], digits.target[:800])
    across, up = np.meshgrid(np.linspace(0, 1, 40), np.linspace(0, 1, 30))
    shares = np.stack([across, up * across, (across - 0.5) ** 2 + (up - 0.5) ** 2], axis=-1)
    spectra = np.random.default_rng(0).random((3, 20))
    cube = shares @ spectra
    model = unbend.PCA(n_components=3).fit(cube.reshape(-1, 20))
    yield "feature_images", unbend.plot.feature_images(model, (30, 40))
    x, line = np.random.default_rng(0).normal(size=500), np.linspace(-2.5, 2.5, 200)
    gauss = [np.exp(-2.0 * np.subtract.outer(a, x) ** 2) for a in (x, line)]
    functions = unbend.lowrank.Eigenfunctions.of(gauss[0], 4)
    drawn = {"eigenvalues": functions.values}
    yield "eigenfunctions", unbend.plot.eigenfunctions(line, functions(gauss[1]), **drawn)
    axes = unbend.PCA(n_components=15).fit(digits.data)
    yield "image_sheet", unbend.plot.image_sheet(digits.images[:40], columns=10)
    yield "eigenimages", unbend.plot.eigenimages(axes, (8, 8))
    yield "reconstructions", unbend.plot.reconstructions(axes, digits.images[:10], [3, 15])


if __name__ == "__main__":
    for name, figure in figures():
        figure.set_dpi(DPI)
        path = unbend.plot.save(figure, FOLDER / f"{name}.png")
        # A palette in place of full colour: a third of the size.
        Image.open(path).convert("RGB").quantize(96).save(path, optimize=True)
