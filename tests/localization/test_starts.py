"""Starts of networks that are not convex, and layouts that fit as well."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import unbend
from tests.localization.networks import network, places, rigid_error
from tests.loops import sampled
from unbend.localization.multistart import equivalent_layouts, rival_distances
from unbend.localization.patches import from_patches, local_maps
from unbend.localization.springs import Springs, relative_weights
from unbend.mvu import graph_edges


@pytest.mark.parametrize("shape", ["square", "C", "hole"])
@sampled("seed", range(3))
def test_exact_distances_give_the_truth_and_maps_come_near(shape, seed):
    truth = places(200, seed, shape)
    graph = network(truth, 16, 0.0, seed)
    edges, _ = graph_edges(graph)
    reach = graph.data.max()
    assert rigid_error(truth, from_patches(edges, 2)) < reach / 4
    found = unbend.localize(graph)
    rigid = found.determined
    assert rigid.sum() > 0.95 * len(truth)
    assert rigid_error(truth[rigid], found.positions[rigid]) < 1e-9
    assert found.ambiguity[rigid].max() < 1e-6


def test_every_map_keeps_the_exact_distances_of_its_sensors():
    truth = np.random.default_rng(0).random((60, 3))
    edges, _ = graph_edges(network(truth, 25, 0.0))
    maps = local_maps(edges, 3)
    for members, found, kept in zip(maps.members, maps.places, maps.kept, strict=True):
        if kept.any():
            assert rigid_error(truth[members[kept]], found[kept]) < 0.02


@pytest.mark.slow
def test_cs_are_closed_where_shortest_paths_opened_them():
    """Paths around the gap make the ends of a C too far apart; maps do not see the gap."""
    errors = []
    for seed in range(5):
        truth = places(300, seed, "C")
        graph = network(truth, 16, 0.1, seed)
        by_paths, kept = unbend.localize(graph, start="isomap"), unbend.localize(graph)
        assert kept.stress < by_paths.stress + 3 * kept.noise**2
        errors.append([rigid_error(truth, found.positions) for found in (by_paths, kept)])
    by_paths, kept = np.median(errors, axis=0)
    assert kept < by_paths / 2


def hinged(n=40):
    """Two clouds that share two sensors only: one may be mirrored in the line through these."""
    rng = np.random.default_rng(0)
    shared = np.array([[0.0, -0.3], [0.0, 0.3]])
    points = np.vstack((shared, rng.random((n, 2)) - [1.0, 0.5], rng.random((n, 2)) - [0.0, 0.5]))
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    sides = np.sign(points[:, 0])
    known = (sides[:, None] * sides >= 0) & (apart < 0.6)
    noise = 1.0 + 0.05 * rng.standard_normal(apart.shape)
    return points, csr_array(
        np.where(known, apart * np.triu(noise, 1) + apart * np.triu(noise).T, 0)
    )


def test_warns_when_another_layout_fits_as_well_and_only_then():
    points, graph = hinged()
    edges, _ = graph_edges(graph)
    springs = Springs(edges, relative_weights(np.sqrt(edges.squares)), 2)
    straight = springs.refine(points)
    folded = springs.refine(np.where(points > [0.0, np.inf], points * [-1.0, 1.0], points))
    np.testing.assert_allclose(folded.stress, straight.stress, rtol=1e-6)
    everyone = np.ones(len(points), dtype=bool)
    assert equivalent_layouts(springs, [straight, folded]) == [0, 1]
    fold = rival_distances(straight, [folded], everyone)
    assert np.sqrt(np.square(fold).mean()) > 0.1
    worse = springs.refine(points, max_steps=0)
    assert worse.stress > straight.stress
    assert equivalent_layouts(springs, [worse, straight]) == [1]


def test_warns_when_noise_leaves_a_choice_around_a_hole():
    truth = places(300, 1, "hole")
    graph = network(truth, 16, 0.1, 1)
    with pytest.warns(UserWarning, match="Another layout of .* fits the distances as well"):
        found = unbend.localize(graph)
    stresses = [unbend.localize(graph, start=one).stress for one in ("isomap", "patches")]
    assert abs(stresses[1] - stresses[0]) < 3 * found.noise**2
    errors = [
        rigid_error(truth, unbend.localize(graph, start=start).positions)
        for start in ("isomap", "patches")
    ]
    # Only one of both is the network, and the other is as far from it as was said.
    assert min(errors) < 2 * found.expected_error
    apart = np.sqrt(np.square(found.ambiguity).mean())
    assert max(errors) == pytest.approx(apart, rel=0.2)


def test_a_tree_has_no_maps_and_is_placed_all_the_same():
    path = csr_array(np.diag(np.ones(9), 1) + np.diag(np.ones(9), -1))
    with pytest.warns(UserWarning, match="not determined"):
        found = unbend.localize(path, start="patches")
    lengths = np.linalg.norm(np.diff(found.positions, axis=0), axis=1)
    np.testing.assert_allclose(lengths, 1.0, atol=1e-6)
