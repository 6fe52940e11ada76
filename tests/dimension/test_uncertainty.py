"""The uncertainty of every estimator is the spread of its estimates over fresh samples."""

import numpy as np
import pytest

from tests.dimension import manifolds
from tests.loops import each, sampled
from unbend import dimension
from unbend.datasets import swiss_roll
from unbend.dimension.value import integer_error

# From this many samples the standard deviation of a normal variable is known to 11 %, and that of
# a binary one about as well unless one value is rare.
SAMPLES = 40
# What claims may differ from the spread by, either way. Those of integer estimates come from
# one sample each: where both values are equally likely, p is uniform over samples, and the mean
# of p(1 − p) is 1/6 instead of 1/4.
FACTOR = 2.0


def gaussian(n, variances, seed):
    return np.random.default_rng(seed).normal(size=(n, len(variances))) * np.sqrt(variances)


def long_tailed(n, variances, seed):
    tails = np.random.default_rng(seed).standard_t(7, size=(n, len(variances)))
    return tails * np.sqrt(np.multiply(variances, 5 / 7))


def roll(n, noise, seed):
    return swiss_roll(n, noise=noise, random_state=seed).points


def noisy_sphere(n, d, noise, seed):
    return manifolds.sphere(n, d, d + 3, seed) + noise * gaussian(n, np.ones(d + 3), seed + 1)


DRAWN = {
    "plane": lambda seed: manifolds.affine(400, 2, 4, seed),
    "cube": lambda seed: manifolds.affine(400, 5, 6, seed),
    "noisy sphere": lambda seed: noisy_sphere(400, 3, 0.02, seed),
    "bell": lambda seed: gaussian(400, np.ones(4), seed),
    "roll": lambda seed: roll(400, 0.0, seed),
}


def claimed_and_true(name, drawn, first, **options):
    """Root mean square of the uncertainties, and the standard deviation of the estimates."""
    seeds = range(1000 * first, 1000 * first + 10 * SAMPLES, 10)
    found = [getattr(dimension, name)(drawn(seed), **options) for seed in seeds]
    claim = np.sqrt(np.mean([one.uncertainty**2 for one in found]))
    return claim, np.std([one.dimension for one in found], ddof=1)


@each("surface", ["plane", "noisy sphere", "bell"], keep=1)
@each("name", ["mle", "two_nn", "correlation", "entropic_graph", "capacity"])
def test_the_uncertainty_is_the_spread_over_samples(name, surface):
    claim, spread = claimed_and_true(name, DRAWN[surface], 0)
    assert 1 / FACTOR < claim / spread < FACTOR


@sampled("surface", ["plane", "roll"])
@pytest.mark.parametrize("name", ["pca", "local_pca", "multiscale_svd", "u_statistic"])
def test_integer_estimates_that_do_not_vary_get_a_wide_interval(name, surface):
    claim, spread = claimed_and_true(name, DRAWN[surface], 0)
    # One sample might have differed.
    assert claim < FACTOR * max(spread, SAMPLES**-0.5)


WAVERING = {
    "one eigenvalue": ("pca", lambda seed: gaussian(400, [1, 1, 0.052], seed), {}),
    "eigenvalues together": ("pca", lambda seed: gaussian(400, [1] + 12 * [0.05], seed), {}),
    "long tails": ("pca", lambda seed: long_tailed(400, [1, 0.5, 0.05, 0.05], seed), {}),
    "classical scaling": (
        "pca",
        lambda seed: gaussian(200, [1, 1, 0.05], seed),
        {"metric": "manhattan", "threshold": 0.07},
    ),
    "few neighbours": ("local_pca", DRAWN["cube"], {"n_neighbors": 8}),
    "shared neighbours": (
        "local_pca",
        lambda seed: gaussian(400, np.ones(4), seed),
        {"n_neighbors": 25, "threshold": 0.34},
    ),
    "few scales": ("multiscale_svd", lambda seed: manifolds.affine(300, 5, 6, seed), {}),
    "five dimensions": ("u_statistic", lambda seed: manifolds.affine(300, 5, 6, seed), {}),
    "ten dimensions": ("u_statistic", lambda seed: manifolds.affine(300, 10, 12, seed), {}),
}


@pytest.mark.parametrize("case", WAVERING)
def test_integer_estimates_that_vary_report_it(case):
    name, drawn, options = WAVERING[case]
    claim, spread = claimed_and_true(name, drawn, 0, **options)
    assert spread > 0.2
    assert 1 / FACTOR < claim / spread < FACTOR


@pytest.mark.parametrize("shift", [0, 1, 30])
def test_the_spread_of_an_integer_estimate_is_that_of_its_distribution(shift):
    chances = np.random.default_rng(shift).dirichlet(np.ones(6))
    values = np.arange(6.0) + shift
    exceeds = np.append(np.ones(shift), 1 - np.cumsum(chances))
    mean = chances @ values
    expected = np.sqrt(chances @ np.square(values - mean))
    assert integer_error(exceeds) == pytest.approx(expected)
    assert integer_error(np.append(np.ones(shift), 0.0)) == 0
