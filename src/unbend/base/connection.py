"""The connection stage of a fit: what to do when the graph falls apart."""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import IntArray
from unbend.graphs import bridge, components
from unbend.neighbors import GraphSpace, Neighbors, Space
from unbend.report import note, warn

CONNECT = ("bridge", "largest", "components", "error")


@dataclass(frozen=True, eq=False)
class Connected:
    """Neighbourhoods, the component each row was in, and the parts to embed, largest first."""

    neighbors: Neighbors
    component: IntArray
    parts: list[IntArray]


def connect(space: Space, neighbors: Neighbors, policy: str, local_blocks: bool) -> Connected:
    """Apply a policy to the components of the graph.

    For methods made of local blocks both ends of a bridge get the other's neighbourhood.
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
            f"{apart}: use more neighbours, or connect='bridge', 'largest' or 'components'"
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
    bridges = bridge(space, component)
    longest = float(bridges.lengths.max())
    note(bridges=len(bridges.lengths), longest_bridge=longest)
    bridged = "1 bridge was" if count == 2 else f"{count - 1} bridges were"
    warn(
        f"{apart}: {bridged} added, up to {longest:.4g} long (the longest "
        f"edge was {neighbors.distances.max(initial=0.0):.4g}); with more neighbours, or "
        "connect='components', none would be needed"
    )
    joined = (
        bridges.as_neighborhoods(neighbors, space) if local_blocks else bridges.as_edges(neighbors)
    )
    return Connected(joined, component, [everyone])
