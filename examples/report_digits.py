"""Dimension, method and quality of two data sets: `python examples/report_digits.py [folder]`.

The data come with scikit-learn: pictures of digits, and measurements of tumours. Each report ends
with what to do. With a folder, the script also writes pictures there.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import StandardScaler

import unbend
from unbend.quality import continuity, neighborhood_hit, trustworthiness

METHODS = ["PCA", "Isomap", "LaplacianEigenmaps", "DiffusionMaps", "LTSA", "MetricMDS"]
NEIGHBORS = 10


def data():
    """Points and classes by name; columns in different units are brought to one."""
    digits, tumours = load_digits(), load_breast_cancer()
    yield "digits", digits.data, digits.target
    yield "tumours", StandardScaler().fit_transform(tumours.data), tumours.target


def report(points, classes):
    """Answer the three questions, and return the comparison with the lines that sum it up."""
    dimension = unbend.choose_dimension(points)
    print("How many dimensions?", dimension, sep="\n")
    print("\nWhich method?", unbend.suggest(points), sep="\n")
    compared = unbend.compare(points, METHODS, labels=classes, n_neighbors=NEIGHBORS, n_jobs=2)
    print("\nSide by side, in two dimensions:", compared, sep="\n")
    return compared, list(advice(points, classes, dimension.high, compared.trials[0]))


def advice(points, classes, dimension, best):
    """What follows for somebody who wants a picture, and for somebody who wants features."""
    flat = best.embedding
    trust = trustworthiness(points, flat, n_neighbors=NEIGHBORS)
    torn = continuity(points, flat, n_neighbors=NEIGHBORS)
    yield f"Draw {best.title}: best by the mean of its ranks."
    if trust < 0.95:
        doubtful = np.mean(trust.local < 0.9)
        yield (
            f"Do not read single neighbours from it: trustworthiness {trust:.3f}, and "
            f"{doubtful:.0%} of the points have strangers for neighbours; trust.local tells which."
        )
    else:
        yield f"Neighbours in it are neighbours in the data: trustworthiness {trust:.3f}."
    word = "few" if torn >= 0.95 else "many"
    yield f"It tears {word} neighbours apart: continuity {torn:.3f}."
    before = neighborhood_hit(points, classes, n_neighbors=NEIGHBORS)
    after = neighborhood_hit(flat, classes, n_neighbors=NEIGHBORS)
    yield (
        f"Classes: {before:.1%} of the neighbours agree in the data, {after:.1%} in the picture; "
        f"{before - after:.1%} of what the data tell is lost in two dimensions."
    )
    moved = unbend.stability(best.estimator, points, n_resamples=5)
    kept = "the same" if moved < 0.05 else "much the same" if moved < 0.3 else "another"
    yield f"Another sample gives {kept} picture: points move by {moved:.2f} of its radius."
    if dimension > 2:
        yield f"For features rather than a picture, keep {dimension} coordinates."


def main():
    """Report on both sets."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    for name, points, classes in data():
        print(f"\n=== {name}: {points.shape[0]} rows, {points.shape[1]} columns\n")
        with warnings.catch_warnings():
            # What the graph lacks is said in the report of each method.
            warnings.simplefilter("ignore")
            compared, lines = report(points, classes)
        print("\nWhat to do:", *(f"- {line}" for line in lines), sep="\n")
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            unbend.plot.save(compared.contact_sheet(classes), folder / f"{name}.png")


if __name__ == "__main__":
    main()
