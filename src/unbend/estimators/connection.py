"""The connection stage of a fit: what to do when the graph falls apart."""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import IntArray
from unbend.graphs import bridge, components, enlarge
from unbend.neighbors import GraphSpace, Neighbors, Space
from unbend.report import note, warn

CONNECT = ("bridge", "enlarge", "largest", "components", "error")


@dataclass(frozen=True, eq=False)
class Connected:
    """Neighbourhoods, the component each row was in, and the parts to embed, largest first."""

    neighbors: Neighbors
    component: IntArray
    parts: list[IntArray]


def connect(space: Space, neighbors: Neighbors, policy: str, local_blocks: bool) -> Connected:
    """Apply a policy to the components of the graph.

    For methods made of local blocks both ends of a bridge, or of an edge by which a larger
    neighbourhood reaches another component, get the other's neighbourhood.
    """
    component = components(neighbors.graph())
    count = int(component.max()) + 1
    everyone = np.arange(space.n)
    note(components=count)
    if count == 1:
        return Connected(neighbors, component, [everyone])
    sizes = np.bincount(component)
    note(policy=policy, largest=int(sizes[0]))
    apart = f"the neighbourhood graph has {count} components (the largest holds {sizes[0]} rows)"
    if policy == "error":
        raise ValueError(
            f"{apart}: use more neighbours, or connect='bridge', 'enlarge', 'largest' or "
            "'components'"
        )
    if policy == "largest":
        if isinstance(space, GraphSpace):
            raise ValueError(
                f"{apart} and a given graph has no distances to place the other rows by: use "
                "connect='components'"
            )
        warn(f"{apart}: the largest was fitted and the other rows were placed by its extension")
        return Connected(neighbors, component, [everyone[component == 0]])
    if policy == "components":
        warn(
            f"{apart}: each was embedded on its own, side by side; distances between them mean "
            "nothing"
        )
        return Connected(neighbors, component, [everyone[component == c] for c in range(count)])
    if isinstance(space, GraphSpace):
        raise ValueError(
            f"{apart} and a given graph has no distances to bridge them with: use "
            "connect='components', or give points or a dense distance matrix"
        )
    join = _enlarged if policy == "enlarge" else _bridged
    return Connected(join(space, neighbors, component, apart, local_blocks), component, [everyone])


def _bridged(
    space: Space, neighbors: Neighbors, component: IntArray, apart: str, local_blocks: bool
) -> Neighbors:
    bridges = bridge(space, component)
    count, longest = len(bridges.lengths), float(bridges.lengths.max())
    note(bridges=count, longest_bridge=longest)
    bridged = "1 bridge was" if count == 1 else f"{count} bridges were"
    warn(
        f"{apart}: {bridged} added, up to {longest:.4g} long (the longest "
        f"edge was {neighbors.distances.max(initial=0.0):.4g}); with more neighbours, or "
        "connect='components', none would be needed"
    )
    if local_blocks:
        return bridges.as_neighborhoods(neighbors, space)
    return bridges.as_edges(neighbors)


def _enlarged(
    space: Space, neighbors: Neighbors, component: IntArray, apart: str, local_blocks: bool
) -> Neighbors:
    enlarged = enlarge(space, neighbors)
    rows = int(np.sum(enlarged.counts > neighbors.counts))
    most, longest = int(enlarged.counts.max()), float(enlarged.links.lengths.max())
    note(enlarged=rows, most_neighbors=most, added_edges=enlarged.added, longest_link=longest)
    warn(
        f"{apart}: {rows} rows got more neighbours, up to {most}, which added {enlarged.added} "
        f"edges; those between components are up to {longest:.4g} long (the longest edge was "
        f"{neighbors.distances.max(initial=0.0):.4g})"
    )
    if local_blocks:
        return enlarged.links.as_neighborhoods(enlarged.neighbors, space)
    return enlarged.neighbors
