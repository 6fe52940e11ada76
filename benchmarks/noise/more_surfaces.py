"""Further families of surfaces, which no constant of the library was chosen on.

Curves by arc length and cones are isometric to their charts, torus patches and saddles are not.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from benchmarks.noise.surfaces import Array, Ball, Box, Surface

# Points of a curve that its spline goes through, and how far it continues beyond both ends.
KNOTS, BEYOND = 8001, 0.3
# Points of a curved part whose pairs show how far noise may reach.
PAIRS = 1500

Curve = Callable[[Array], Array]


def gap_of(embed: Callable[[Array], Array], jacobian: Callable[[Array], Array], u: Array) -> float:
    """Twice the reach: the least |q − p|² over twice the normal part of q − p (Federer, 1959)."""
    points, tangents = embed(u), np.linalg.qr(jacobian(u))[0]
    least = np.inf
    for point, tangent in zip(points, tangents, strict=True):
        away = points - point
        far = np.square(away).sum(axis=1)
        normal = np.sqrt(np.maximum(far - np.square(away @ tangent).sum(axis=1), 0.0))
        # Of near pairs the normal part is rounding.
        apart = normal > 1e-7 * np.sqrt(far.max())
        least = min(least, float((far[apart] / (2 * normal[apart])).min(initial=np.inf)))
    return 2.0 * least


def by_arc_length(curve: Curve, end: float) -> tuple[CubicSpline, float]:
    """Spline of a curve by arc length from its parameter 0 to `end`, and its length."""
    t = np.linspace(-BEYOND * end, (1 + BEYOND) * end, KNOTS)
    velocity = CubicSpline(t, curve(t)).derivative()(t)
    lengths = CubicSpline(t, np.linalg.norm(velocity, axis=1)).antiderivative()
    s = lengths(t) - lengths(0.0)
    return CubicSpline(s, curve(t)), float(lengths(end) - lengths(0.0))


def product_of_curves(
    family: str, curves: list[tuple[CubicSpline, float]], sides: Array
) -> Surface:
    """Product of curves by arc length and of intervals."""
    widths = [spline(0.0).shape[0] for spline, _ in curves]
    d, flat = len(curves) + len(sides), len(sides)

    def embed(u: Array) -> Array:
        bent = [spline(u[:, place]) for place, (spline, _) in enumerate(curves)]
        return np.column_stack((*bent, u[:, len(curves) :]))

    def jacobian(u: Array) -> Array:
        result = np.zeros((len(u), sum(widths) + flat, d))
        row = 0
        for place, (spline, _) in enumerate(curves):
            result[:, row : row + widths[place], place] = spline(u[:, place], 1)
            row += widths[place]
        result[:, row:, len(curves) :] = np.eye(flat)
        return result

    gaps = []
    for spline, length in curves:
        s = np.linspace(0, length, PAIRS)[:, None]
        gaps.append(
            gap_of(
                lambda u, spline=spline: spline(u[:, 0]),  # type: ignore[misc]
                lambda u, spline=spline: spline(u[:, 0], 1)[:, :, None],  # type: ignore[misc]
                s,
            )
        )
    high = np.array([*(length for _, length in curves), *sides])
    return Surface(family, Box(np.zeros(d), high), min(gaps), embed, jacobian)


def sides_of(rng: np.random.Generator, length: float, count: int) -> Array:
    """Draw sides of intervals, relative to a length."""
    return np.asarray(length * rng.uniform(0.2, 0.8, size=count))


def clothoid(rng: np.random.Generator, d: int) -> Surface:
    """Make a curve whose curvature grows with its length, times intervals."""
    first, last, end = rng.uniform(0.1, 0.4), rng.uniform(0.8, 1.4), rng.uniform(5.0, 9.0)

    def curve(t: Array) -> Array:
        fine = np.linspace(t[0], t[-1], 8 * len(t))
        angle = first * fine + (last - first) * fine**2 / (2 * end)
        heading = np.column_stack((np.cos(angle), np.sin(angle)))
        return np.asarray(CubicSpline(fine, heading).antiderivative()(t))

    spline, length = by_arc_length(curve, end)
    return product_of_curves("clothoid", [(spline, length)], sides_of(rng, length, d - 1))


def helix(rng: np.random.Generator, d: int) -> Surface:
    """Make a helix, times intervals."""
    slope, end = rng.uniform(0.2, 0.6), rng.uniform(1.5, 5.0) * np.pi

    def curve(t: Array) -> Array:
        return np.column_stack((np.cos(t), np.sin(t), slope * t))

    spline, length = by_arc_length(curve, end)
    return product_of_curves("helix", [(spline, length)], sides_of(rng, length, d - 1))


def ellipses(rng: np.random.Generator, d: int) -> Surface:
    """Make a product of d arcs of ellipses."""
    curves = []
    for _ in range(d):
        start, axis = rng.uniform(0, 2 * np.pi), rng.uniform(1.0, 2.2)

        def curve(t: Array, start: float = start, axis: float = axis) -> Array:
            return np.column_stack((axis * np.cos(start + t), np.sin(start + t)))

        curves.append(by_arc_length(curve, rng.uniform(0.5, 1.4) * np.pi))
    return product_of_curves("ellipses", curves, np.empty(0))


def cone(rng: np.random.Generator, d: int) -> Surface:
    """Make a rectangle wound around a cone, times intervals; of dimension 1 one of its lines."""
    narrow = rng.uniform(0.35, 0.7)
    near, far = 1.0, rng.uniform(1.8, 3.5)
    reach = near * np.tan(rng.uniform(0.6, 0.95) * min(1.5, np.pi * narrow))

    def polar(u: Array) -> tuple[Array, Array, Array]:
        x, y = (np.full(len(u), near), u[:, 0]) if d == 1 else (u[:, 0], u[:, 1])
        return np.hypot(x, y), np.arctan2(y, x) / narrow, np.column_stack((x, y))

    def embed(u: Array) -> Array:
        r, turn, _ = polar(u)
        ring = narrow * r[:, None] * np.column_stack((np.cos(turn), np.sin(turn)))
        return np.column_stack((ring, np.sqrt(1 - narrow**2) * r, u[:, 2:]))

    def jacobian(u: Array) -> Array:
        r, turn, at = polar(u)
        outward = np.column_stack(
            (narrow * np.cos(turn), narrow * np.sin(turn), np.full(len(u), np.sqrt(1 - narrow**2)))
        )
        around = np.column_stack((-np.sin(turn), np.cos(turn), np.zeros(len(u))))
        c, s = (at / r[:, None]).T
        by_x = c[:, None] * outward - s[:, None] * around
        by_y = s[:, None] * outward + c[:, None] * around
        if d == 1:
            return np.asarray(by_y[:, :, None])
        return _with_intervals(np.stack((by_x, by_y), axis=2), d)

    low, high = np.array([near, -reach]), np.array([far, reach])
    if d == 1:
        low, high = low[1:], high[1:]
    return _times_intervals(rng, "cone", low, high, embed, jacobian, d)


def torus(rng: np.random.Generator, d: int) -> Surface:
    """Make a patch of a torus, times intervals; of dimension 1 a coil on it."""
    big, around = rng.uniform(2.0, 4.0), rng.uniform(0.7, 1.6) * np.pi
    if d == 1:
        coils = rng.uniform(1.5, 3.0)

        def curve(t: Array) -> Array:
            ring = big + np.cos(coils * t)
            return np.column_stack((ring * np.cos(t), ring * np.sin(t), np.sin(coils * t)))

        return product_of_curves("torus", [by_arc_length(curve, around)], np.empty(0))
    start, tube = rng.uniform(0, 2 * np.pi), rng.uniform(0.4, 1.0) * np.pi

    def embed(u: Array) -> Array:
        a, b = u[:, 0] / big, start + u[:, 1]
        ring = big + np.cos(b)
        return np.column_stack((ring * np.cos(a), ring * np.sin(a), np.sin(b), u[:, 2:]))

    def jacobian(u: Array) -> Array:
        a, b = u[:, 0] / big, start + u[:, 1]
        ring, zero = (big + np.cos(b)) / big, np.zeros(len(u))
        along = np.column_stack((-ring * np.sin(a), ring * np.cos(a), zero))
        across = np.column_stack((-np.sin(b) * np.cos(a), -np.sin(b) * np.sin(a), np.cos(b)))
        return _with_intervals(np.stack((along, across), axis=2), d)

    high = np.array([big * around, tube])
    return _times_intervals(rng, "torus", 0 * high, high, embed, jacobian, d)


def saddle(rng: np.random.Generator, d: int) -> Surface:
    """Make the graph of a random quadratic form over a ball."""
    form = np.linalg.qr(rng.normal(size=(d, d)))[0]
    bends = rng.choice((-1.0, 1.0), size=d) * rng.uniform(0.3, 1.0, size=d)
    radius = 3.0
    # The mean square of the radius is d/(d + 2) of the largest.
    slope = rng.uniform(0.25, 0.5)
    bends *= slope / (np.sqrt(np.mean(bends**2) * d / (d + 2)) * radius)
    form = (form * bends) @ form.T

    def embed(u: Array) -> Array:
        return np.column_stack((u, np.einsum("ni,ij,nj->n", u, form, u) / 2))

    def jacobian(u: Array) -> Array:
        flat = np.broadcast_to(np.eye(d), (len(u), d, d))
        return np.concatenate((flat, (u @ form)[:, None, :]), axis=1)

    domain = Ball(radius, d, np.empty((0, d)), np.empty(0))
    return Surface("saddle", domain, 2.0 / float(np.abs(bends).max()), embed, jacobian)


def _with_intervals(bent: Array, d: int) -> Array:
    """Jacobian (n, a, 2) of a surface, times intervals."""
    n, a = bent.shape[:2]
    result = np.zeros((n, a + d - 2, d))
    result[:, :a, :2] = bent
    result[:, a:, 2:] = np.eye(d - 2)
    return result


def _times_intervals(
    rng: np.random.Generator,
    family: str,
    low: Array,
    high: Array,
    embed: Any,
    jacobian: Any,
    d: int,
) -> Surface:
    """Multiply a surface over a box by intervals, which leave its gap as it is."""
    sides = sides_of(rng, float((high - low).max()), max(d - 2, 0))
    u = np.zeros((PAIRS, d))
    u[:, : len(low)] = rng.uniform(low, high, size=(PAIRS, len(low)))
    gap = gap_of(embed, jacobian, u)
    domain = Box(np.concatenate((low, 0 * sides)), np.concatenate((high, sides)))
    return Surface(family, domain, gap, embed, jacobian)


MORE_FAMILIES: dict[str, Callable[[np.random.Generator, int], Surface]] = {
    "clothoid": clothoid,
    "helix": helix,
    "ellipses": ellipses,
    "cone": cone,
    "torus": torus,
    "saddle": saddle,
}
