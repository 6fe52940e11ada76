"""Surfaces, noises, heights, lengths and numbers of neighbours of figures 5.1–14.12."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import unbend
from unbend.datasets import SURFACES, Surface

# Methods as the book names them.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "PCA": ("PCA", {}),
    "Isomap": ("Isomap", {}),
    "LLE": ("LLE", {}),
    "LTSA": ("LTSA", {}),
    "HLLE": ("HessianLLE", {}),
    "Leigs": ("LaplacianEigenmaps", {}),
    "GL-Dmaps": ("DiffusionMaps", {"kind": "graph_laplacian"}),
    "LB-Dmaps": ("DiffusionMaps", {"kind": "laplace_beltrami"}),
    "ST-Dmaps": ("DiffusionMaps", {"kind": "self_tuning"}),
}
COMPARED = tuple(METHODS)
# Unfolding, which the book tries with few neighbours only: bridged as we do, and not, as it does.
METHODS |= {
    "MVU": ("MVU", {}),
    "MVU without bridges": ("MVU", {"connect": "error"}),
    "LMVU": ("LandmarkMVU", {"n_landmarks": 61, "landmarks": "random"}),
}
NAMES = {
    "square": "square",
    "clusters_3d": "3-D cluster",
    "punched_sphere": "punched sphere",
    "swiss_roll": "Swiss roll",
    "s_curve": "S-curve",
    "swiss_hole": "Swiss roll with a hole",
}
CURVED = ("clusters_3d", "punched_sphere", "swiss_roll", "s_curve")


@dataclass(frozen=True)
class Setting:
    """One surface, and the methods that are run on it."""

    group: str
    title: str
    surface: str
    figures: str
    options: dict[str, Any] = field(default_factory=dict)
    methods: tuple[str, ...] = COMPARED
    neighbors: int = 10
    parameters: dict[str, Any] = field(default_factory=dict)
    n: int = 1000

    @property
    def name(self) -> str:
        """What tells it from all others."""
        return f"{self.group}: {self.title}"

    def drawn(self, seed: int) -> tuple[Surface, Any]:
        """Points, and the colours that they had before noise."""
        made = SURFACES[self.surface](self.n, random_state=seed, **self.options)
        if made.isometric:
            return made, made.chart
        # No chart of a sphere is true: its colours are the three coordinates in space.
        clean = {**self.options, "noise": 0.0}
        return made, SURFACES[self.surface](self.n, random_state=seed, **clean).points

    def estimators(self) -> dict[str, Any]:
        """Methods by their names in the book."""
        made = {}
        for title in self.methods:
            name, parameters = METHODS[title]
            size = {} if name == "PCA" else {"n_neighbors": self.neighbors}
            made[title] = getattr(unbend, name)(**size, **parameters, **self.parameters)
        return made


def settings() -> Iterator[Setting]:
    """All experiments."""
    plain = "5.1–5.2, 8.2–8.3, 10.1, 11.2, 12.1, 13.1, 14.1, 14.8, 14.12"
    for surface in ("square", *CURVED):
        yield Setting("surfaces", NAMES[surface], surface, plain)
    law = {"sampling": "parameter"}
    for surface in ("swiss_roll", "s_curve"):
        yield Setting("sampling", NAMES[surface], surface, plain, law)
    for noise in (0.1, 0.2, 0.4):
        for surface in CURVED:
            title = f"{NAMES[surface]}, noise {noise}"
            seen = "10.2–10.3, 11.3, 12.2–12.3, 13.2–13.3, 14.2–14.3"
            yield Setting("noise", title, surface, seen, {"noise": noise})
    for height in (0.5, 0.75, 0.9):
        seen = "8.4, 11.5, 12.4, 13.4, 14.4, 14.9"
        yield Setting(
            "height", f"punched sphere, {height}", "punched_sphere", seen, {"height": height}
        )
    for length in (21, 51, 81):
        seen = "5.3, 10.5, 11.6, 12.5, 13.5"
        yield Setting("length", f"Swiss roll, {length}", "swiss_roll", seen, {"length": length})
    for length in (5, 10, 30):
        seen = "5.3, 11.7, 12.6, 13.6, 14.5"
        yield Setting("length", f"S-curve, {length}", "s_curve", seen, {"length": length})
    yield from _neighborhoods()
    yield from _unfoldings()
    yield from _bandwidths()
    yield from _holes()


def _neighborhoods() -> Iterator[Setting]:
    tried = [
        ("Isomap", "swiss_roll", "8.5", (5, 10, 15)),
        ("LLE", "s_curve", "10.4", (4, 8, 12, 15, 30, 60)),
        ("LTSA", "swiss_roll", "11.4", (6, 8, 10, 12, 15, 30, 60)),
        ("HLLE", "swiss_roll", "13.7", (6, 8, 10, 12, 15, 30, 60)),
        ("GL-Dmaps", "s_curve", "14.6", (5, 8, 10, 15, 30, 60)),
        ("LB-Dmaps", "s_curve", "14.10", (5, 8, 10, 15, 30, 60)),
    ]
    for method, surface, figure, sizes in tried:
        for k in sizes:
            title = f"{method}, {NAMES[surface]}, k = {k}"
            yield Setting("neighbours", title, surface, figure, methods=(method,), neighbors=k)


def _unfoldings() -> Iterator[Setting]:
    tried = [("MVU", "9.4–9.5", (5, 3)), ("MVU without bridges", "9.5", (3,))]
    for surface in CURVED:
        for method, figure, sizes in tried:
            for k in sizes:
                title = f"{method}, {NAMES[surface]}, k = {k}"
                yield Setting("neighbours", title, surface, figure, methods=(method,), neighbors=k)
    yield Setting(
        "neighbours",
        f"LMVU, {NAMES['swiss_roll']}, k = 3",
        "swiss_roll",
        "9.9",
        methods=("LMVU",),
        neighbors=3,
        n=2000,
    )


def _bandwidths() -> Iterator[Setting]:
    for method, figure in (("GL-Dmaps", "14.7"), ("LB-Dmaps", "14.11")):
        for t in (1.0, 2.0, 5.0, 10.0, 12.0, np.inf):
            title = f"{method}, S-curve, t = {t:g}"
            width = {"bandwidth": t}
            yield Setting(
                "bandwidth", title, "s_curve", figure, methods=(method,), parameters=width
            )


def _holes() -> Iterator[Setting]:
    compared = ("Isomap", "LLE", "LTSA", "HLLE")
    for n, k in ((600, 12), (600, 8), (1500, 8)):
        title = f"Swiss roll with a hole, n = {n}, k = {k}"
        yield Setting("hole", title, "swiss_hole", "13.8", methods=compared, neighbors=k, n=n)
