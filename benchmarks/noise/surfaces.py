"""Random smooth surfaces in closed form, and the points of them nearest to given points."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import KDTree

Array = np.ndarray[Any, np.dtype[np.float64]]

# Gauss–Newton steps towards a foot point inside, and projected gradient steps along the boundary.
INNER, ALONG = 30, 300
# Points of a surface among which one near a given point is looked for.
MESH = 20_000


@dataclass(frozen=True)
class Box:
    """Parameters between two corners."""

    low: Array
    high: Array

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw parameters uniformly."""
        return rng.uniform(self.low, self.high, size=(n, len(self.low)))

    def nearest(self, u: Array) -> Array:
        """Move parameters outside to the nearest inside."""
        return np.clip(u, self.low, self.high)

    def depth(self, u: Array) -> Array:
        """Distance to the boundary."""
        return np.minimum(u - self.low, self.high - u).min(axis=1)


@dataclass(frozen=True)
class Ball:
    """Parameters within a radius, outside of balls that are left out."""

    radius: float
    d: int
    centers: Array
    radii: Array

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw parameters uniformly."""
        kept = np.empty((0, self.d))
        while len(kept) < n:
            u = rng.normal(size=(2 * n, self.d))
            u *= self.radius * rng.uniform(size=(2 * n, 1)) ** (1 / self.d) / _norms(u)
            kept = np.concatenate((kept, u[self.depth(u) > 0]))
        return kept[:n]

    def nearest(self, u: Array) -> Array:
        """Move parameters outside to the nearest inside."""
        u = u * np.minimum(1.0, self.radius / np.maximum(_norms(u), 1e-300))
        for center, radius in zip(self.centers, self.radii, strict=True):
            away = u - center
            u = center + away * np.maximum(1.0, radius / np.maximum(_norms(away), 1e-300))
        return u

    def depth(self, u: Array) -> Array:
        """Distance to the boundary."""
        depth = self.radius - _norms(u)[:, 0]
        for center, radius in zip(self.centers, self.radii, strict=True):
            depth = np.minimum(depth, _norms(u - center)[:, 0] - radius)
        return np.asarray(depth)


def _norms(u: Array) -> Array:
    return np.linalg.norm(u, axis=1, keepdims=True)


@dataclass(frozen=True)
class Surface:
    """A surface of dimension d, its parametrisation, and how far noise may reach.

    `gap` is the least of the distance between sheets and twice the least radius of curvature:
    from half of it on, foot points are not unique.
    """

    family: str
    domain: Box | Ball
    gap: float
    embed: Callable[[Array], Array]
    jacobian: Callable[[Array], Array]

    def feet(self, points: Array, start: Array) -> Array:
        """Parameters of the points of the surface nearest to `points`, searched from `start`."""
        u = self.domain.nearest(start)
        for _ in range(INNER):
            u = self._descend(points, u, newton=True)
        outside = np.flatnonzero(self.domain.depth(u) < 0)
        if len(outside):
            u[outside] = self._edge_feet(points[outside], u[outside])
        return u

    def _edge_feet(self, points: Array, u: Array) -> Array:
        """Foot points on the boundary: across a hole the far side may be the nearer one."""
        mesh = self.domain.sample(MESH, np.random.default_rng(0))
        starts = self.domain.nearest(u), mesh[KDTree(self.embed(mesh)).query(points)[1]]
        ends = []
        for edge in starts:
            for _ in range(ALONG):
                edge = self.domain.nearest(self._descend(points, edge, newton=False))
            ends.append(edge)
        far = [np.linalg.norm(self.embed(end) - points, axis=1) for end in ends]
        return np.where((far[0] <= far[1])[:, None], *ends)

    def _descend(self, points: Array, u: Array, newton: bool) -> Array:
        """One step of the squared distance downhill."""
        residual = points - self.embed(u)
        jacobian = self.jacobian(u)
        slope = np.einsum("nai,na->ni", jacobian, residual)
        metric = np.einsum("nai,naj->nij", jacobian, jacobian)
        if newton:
            step = np.linalg.solve(metric, slope[..., None])[..., 0]
            # Never beyond what a parabola of the surface would allow.
            longest = 0.25 * self.gap / np.maximum(_norms(step), 1e-300)
            return u + np.minimum(1.0, longest) * step
        size = np.trace(metric, axis1=1, axis2=2)[:, None]
        return u + 0.5 * slope / size


def roll(rng: np.random.Generator, d: int) -> Surface:
    """Make an Archimedean spiral times intervals, by arc length."""
    turns, first = rng.uniform(0.75, 2.0), rng.uniform(1.0, 1.6) * np.pi
    pitch = 1.0
    angles = np.linspace(first, first + 2 * np.pi * turns, 20001)
    lengths = pitch * (angles * np.hypot(1, angles) + np.arcsinh(angles)) / 2
    lengths -= lengths[0]

    def angle_at(s: Array) -> Array:
        # A quadratic beyond the table: the spiral goes on.
        inside = np.interp(s, lengths, angles)
        over = np.where(s > lengths[-1], s - lengths[-1], np.minimum(s, 0.0))
        theta = inside + over / (pitch * np.hypot(1, inside))
        for _ in range(3):
            at = pitch * (theta * np.hypot(1, theta) + np.arcsinh(theta)) / 2
            begin = pitch * (first * np.hypot(1, first) + np.arcsinh(first)) / 2
            theta = theta - (at - begin - s) / (pitch * np.hypot(1, theta))
        return np.asarray(theta)

    def embed(u: Array) -> Array:
        theta = angle_at(u[:, 0])
        plane = pitch * theta[:, None] * np.column_stack((np.cos(theta), np.sin(theta)))
        return np.column_stack((plane, u[:, 1:]))

    def jacobian(u: Array) -> Array:
        theta = angle_at(u[:, 0])
        c, s = np.cos(theta), np.sin(theta)
        along = np.column_stack((c - theta * s, s + theta * c)) / np.hypot(1, theta)[:, None]
        return _with_flat(along, u.shape[1])

    sides = lengths[-1] * rng.uniform(0.15, 0.8, size=d - 1)
    domain = Box(np.zeros(d), np.array([lengths[-1], *sides]))
    radius = (pitch * (1 + first**2) ** 1.5) / (2 + first**2)
    return Surface("roll", domain, min(2 * np.pi * pitch, 2 * radius), embed, jacobian)


def s_curve(rng: np.random.Generator, d: int) -> Surface:
    """Two arcs of a circle, bent opposite ways, times intervals, by arc length."""
    half = rng.uniform(0.6, 1.5) * np.pi

    def embed(u: Array) -> Array:
        t = u[:, 0]
        plane = np.column_stack((np.sin(t), np.sign(t) * (np.cos(t) - 1)))
        return np.column_stack((plane, u[:, 1:]))

    def jacobian(u: Array) -> Array:
        t = u[:, 0]
        return _with_flat(np.column_stack((np.cos(t), -np.sign(t) * np.sin(t))), u.shape[1])

    sides = rng.uniform(0.3, 1.2, size=d - 1) * half
    domain = Box(np.array([-half, *(0 * sides)]), np.array([half, *sides]))
    # The end of one arc is nearest to the other arc, from which its distance is known.
    end = np.array([np.sin(half), np.cos(half) - 1])
    sheets = abs(float(np.hypot(end[0], end[1] - 1)) - 1.0) if half > np.pi else 2.0
    return Surface("s_curve", domain, min(2.0, sheets), embed, jacobian)


def cylinder(rng: np.random.Generator, d: int) -> Surface:
    """Make an arc of a circle times intervals, by arc length."""
    arc = rng.uniform(0.5, 1.6) * np.pi

    def embed(u: Array) -> Array:
        return np.column_stack((np.cos(u[:, 0]), np.sin(u[:, 0]), u[:, 1:]))

    def jacobian(u: Array) -> Array:
        along = np.column_stack((-np.sin(u[:, 0]), np.cos(u[:, 0])))
        return _with_flat(along, u.shape[1])

    sides = rng.uniform(0.3, 1.2, size=d - 1) * arc
    domain = Box(np.zeros(d), np.array([arc, *sides]))
    ends = 2 * np.sin(np.pi - arc / 2) if arc > np.pi else 2.0
    return Surface("cylinder", domain, float(min(2.0, ends)), embed, jacobian)


def cap(rng: np.random.Generator, d: int) -> Surface:
    """Part of a sphere around its pole, by geodesics from the pole."""
    opening = rng.uniform(0.4, 1.2)

    def embed(u: Array) -> Array:
        r = _norms(u)
        return np.column_stack((np.sinc(r / np.pi) * u, np.cos(r)))

    def jacobian(u: Array) -> Array:
        r = np.maximum(_norms(u), 1e-9)
        away, sinc = u / r, np.sinc(r / np.pi)
        outer = away[:, :, None] * away[:, None, :]
        across = sinc[:, :, None] * (np.eye(u.shape[1]) - outer)
        inner = across + np.cos(r)[:, :, None] * outer
        return np.concatenate((inner, (-np.sin(r) * away)[:, None, :]), axis=1)

    domain = Ball(opening, d, np.empty((0, d)), np.empty(0))
    return Surface("cap", domain, 2.0, embed, jacobian)


def graph_of_function(rng: np.random.Generator, d: int, family: str) -> Surface:
    """Random waves over a cube, or over a ball with holes."""
    normals, count = int(rng.integers(1, 3)), 4
    waves = rng.normal(size=(normals, count, d))
    waves *= rng.uniform(0.5, 1.5, size=(normals, count, 1)) / np.linalg.norm(
        waves, axis=2, keepdims=True
    )
    heights = rng.normal(size=(normals, count))
    phases = rng.uniform(0, 2 * np.pi, size=(normals, count))
    if family == "graph_square":
        domain: Box | Ball = Box(np.zeros(d), np.full(d, rng.uniform(4.0, 8.0)))
    else:
        radius = rng.uniform(2.5, 5.0)
        domain = _ball_with_holes(rng, d, radius)
    inside = domain.sample(4000, rng)

    def slopes(u: Array) -> Array:
        turn = np.cos(np.einsum("cwi,ni->ncw", waves, u) + phases)
        return np.asarray(np.einsum("cw,ncw,cwi->nci", heights, turn, waves))

    # A root mean square slope of 0.2 to 0.45: the chart is that of the ground.
    steepness = np.sqrt(np.square(slopes(inside)).sum(axis=(1, 2)).mean())
    heights *= rng.uniform(0.2, 0.45) / steepness

    def embed(u: Array) -> Array:
        rise = np.sin(np.einsum("cwi,ni->ncw", waves, u) + phases)
        return np.column_stack((u, np.einsum("cw,ncw->nc", heights, rise)))

    def jacobian(u: Array) -> Array:
        flat = np.broadcast_to(np.eye(d), (len(u), d, d))
        return np.concatenate((flat, slopes(u)), axis=1)

    turn = np.sin(np.einsum("cwi,ni->ncw", waves, inside) + phases)
    hessians = np.einsum("cw,ncw,cwi,cwj->ncij", heights, turn, waves, waves)
    bend = np.sqrt(np.square(np.linalg.norm(hessians, ord=2, axis=(2, 3))).sum(axis=1).max())
    return Surface(family, domain, 2.0 / float(bend), embed, jacobian)


def _ball_with_holes(rng: np.random.Generator, d: int, radius: float) -> Ball:
    """Make a ball with one to three holes that do not touch each other."""
    while True:
        middles = rng.normal(size=(int(rng.integers(1, 4)), d))
        middles *= 0.55 * radius / _norms(middles)
        radii = radius * rng.uniform(0.1, 0.2, size=len(middles))
        apart = np.linalg.norm(middles[:, None] - middles, axis=2)
        np.fill_diagonal(apart, np.inf)
        if np.all(apart > 1.2 * (radii[:, None] + radii)):
            return Ball(radius, d, middles, radii)


def _with_flat(along: Array, d: int) -> Array:
    """Jacobian of a plane curve times an interval for each other parameter."""
    jacobian = np.zeros((len(along), 1 + d, d))
    jacobian[:, :2, 0] = along
    jacobian[:, 2:, 1:] = np.eye(d - 1)
    return jacobian


FAMILIES: dict[str, Callable[[np.random.Generator, int], Surface]] = {
    "roll": roll,
    "s_curve": s_curve,
    "cylinder": cylinder,
    "cap": cap,
    "graph_square": lambda rng, d: graph_of_function(rng, d, "graph_square"),
    "graph_holes": lambda rng, d: graph_of_function(rng, d, "graph_holes"),
}
