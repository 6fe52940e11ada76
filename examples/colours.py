"""Fourteen colours in a circle, from rated similarities: `python examples/colours.py`.

Ekman (J. Psychology 38, 1954) had 31 people rate how alike any two of fourteen spectral colours
are. Only the order of the ratings is used.
"""

import numpy as np

import unbend

NANOMETRES = (434, 445, 465, 472, 490, 504, 537, 555, 584, 600, 610, 628, 651, 674)
# Mean ratings, rows 445 to 674, columns 434 to 651.
RATINGS = """
.86
.42 .50
.42 .44 .81
.18 .22 .47 .54
.06 .09 .17 .25 .61
.07 .07 .10 .10 .31 .62
.04 .07 .08 .09 .26 .45 .73
.02 .02 .02 .02 .07 .14 .22 .33
.07 .04 .01 .01 .02 .08 .14 .19 .58
.09 .07 .02 .00 .02 .02 .05 .04 .37 .74
.12 .11 .01 .01 .01 .02 .02 .03 .27 .50 .76
.13 .13 .05 .02 .02 .02 .02 .02 .20 .41 .62 .85
.16 .14 .03 .04 .00 .01 .00 .02 .23 .28 .55 .68 .76
"""


def dissimilarities():
    """One minus the ratings."""
    below = [[float(word) for word in line.split()] for line in RATINGS.split("\n") if line]
    matrix = np.zeros((14, 14))
    for row, ratings in enumerate(below, 1):
        matrix[row, :row] = 1.0 - np.array(ratings)
    return matrix + matrix.T


def around(coordinates):
    """Colours in the order in which they lie around their centre, from the shortest wave on."""
    angle = np.arctan2(*(coordinates - coordinates.mean(axis=0)).T)
    order = np.argsort(angle)
    order = np.roll(order, -int(np.flatnonzero(order == 0)[0]))
    return order if order[1] < order[-1] else np.roll(order[::-1], 1)


def main():
    """Print the circle and the stress."""
    fitted = unbend.NonmetricMDS(metric="precomputed").fit(dissimilarities())
    print(f"stress-1 {fitted.stress_:.4f} after {fitted.n_iter_} iterations")
    print("around the circle:", *(NANOMETRES[color] for color in around(fitted.embedding_)))
    baseline = fitted.permutation_baseline(20)
    print(f"ratings dealt at random: stress-1 {baseline.random.min():.3f} at least")


if __name__ == "__main__":
    main()
