"""A small renderer of ellipsoids: orthographic projection under one distant light.

Rays meet an ellipsoid at a root of a quadratic equation. Every step, including the coverage of
pixels, is continuous in the view and in the light: pictures of nearby views are close.
"""

from dataclasses import dataclass

import numpy as np

from unbend.arrays import FloatArray

# Pixels of the raster per pixel of the picture, along each side.
SUPERSAMPLING = 2
# Half the side of the visible square.
REACH = 1.15
# Difference in depth over which one ellipsoid is blended into another.
BLEND = 0.06
# Ambient and diffuse reflection of albedo 1.
AMBIENT, DIFFUSE = 0.25, 0.75


@dataclass(frozen=True)
class Ellipsoid:
    """One part of a figure: x to the viewer's right, y up, z towards the viewer.

    `tilt` turns the part about the z-axis, counterclockwise, in degrees.
    """

    center: tuple[float, float, float]
    radii: tuple[float, float, float]
    albedo: float = 1.0
    tilt: float = 0.0
    # Shares of red, green and blue that are reflected, in colour pictures.
    tint: tuple[float, float, float] = (1.0, 1.0, 1.0)

    def squared_axes(self) -> FloatArray:
        """Return the matrix C such that the surface is (p - centre)' inv(C) (p - centre) = 1."""
        c, s = np.cos(np.radians(self.tilt)), np.sin(np.radians(self.tilt))
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        axes: FloatArray = (turn * np.square(self.radii)) @ turn.T
        return axes


Figure = tuple[Ellipsoid, ...]


def render(
    figure: Figure,
    views: FloatArray,
    lights: FloatArray,
    size: tuple[int, int],
    color: bool = False,
) -> FloatArray:
    """Pictures of the figure, one for each rotation in `views` (n, 3, 3) and unit light (n, 3).

    The shorter side of a picture shows the visible square, the longer one more background.
    """
    down, across = (
        REACH * (2 * np.arange(side) + 1 - side) / (SUPERSAMPLING * min(size))
        for side in (SUPERSAMPLING * length for length in size)
    )
    channels = 3 if color else 1
    centers = np.array([part.center for part in figure]) @ views.transpose(0, 2, 1)
    turns = views[:, None]
    axes = turns @ np.array([part.squared_axes() for part in figure]) @ turns.swapaxes(2, 3)
    pictures = np.empty((len(views), *size, channels))
    blocks = (size[0], SUPERSAMPLING, size[1], SUPERSAMPLING, channels)
    for picture, places, matrices, light in zip(pictures, centers, axes, lights, strict=True):
        fine = _fine(figure, places, matrices, light, (down, across), channels)
        picture[:] = fine.reshape(blocks).mean(axis=(1, 3))
    return pictures if color else pictures[..., 0]


def _fine(
    figure: Figure,
    centers: FloatArray,
    axes: FloatArray,
    light: FloatArray,
    raster: tuple[FloatArray, FloatArray],
    channels: int,
) -> FloatArray:
    """One picture on the raster, the -y of its rows and the x of its columns."""
    down, across = raster
    # Coverage of each pixel; depth and shade, weighted by it.
    covered, depth = np.zeros((2, len(down), len(across)))
    shade = np.zeros((len(down), len(across), channels))
    halves = np.sqrt(np.diagonal(axes, axis1=1, axis2=2))
    pixel = across[1] - across[0]
    for part, center, half, form in zip(figure, centers, halves, np.linalg.inv(axes), strict=True):
        box = _span(down, -center[1], half[1]), _span(across, center[0], half[0])
        x, y = across[None, box[1]] - center[0], -down[box[0], None] - center[1]
        cover, own_depth, cosine = _cast(form, x, y, light, pixel)
        own_depth += center[2]
        own_shade = part.albedo * (AMBIENT + DIFFUSE * np.maximum(cosine, 0))
        tinted = own_shade[..., None] * (np.array(part.tint) if channels == 3 else 1.0)
        above = own_depth - depth[box] / np.maximum(covered[box], 1e-9)
        front = np.clip(0.5 + above / BLEND, 0, 1)
        # In front it occludes; behind, it fills the rest.
        gain, loss = cover * (1 - covered[box] * (1 - front)), cover * front
        for layer, own in ((covered, 1.0), (depth, own_depth)):
            layer[box] += gain * own - loss * layer[box]
        shade[box] += gain[..., None] * tinted - loss[..., None] * shade[box]
    return shade


def _span(across: FloatArray, center: float, half: float) -> slice:
    """Range of `across` within `half` of the centre, with a margin of one pixel."""
    first, last = np.searchsorted(across, (center - half, center + half))
    return slice(max(int(first) - 1, 0), int(last) + 1)


def _cast(
    form: FloatArray, x: FloatArray, y: FloatArray, light: FloatArray, pixel: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Intersect rays with the surface d'Fd = 1: coverage of each pixel, depth, cosine to the light.

    With F split as [[P, q], [q', f]] the outline is the ellipse e'Se = 1, S = P - qq'/f.
    """
    q, f = form[:2, 2], form[2, 2]
    outline = form[:2, :2] - np.outer(q, q) / f
    slope_x = outline[0, 0] * x + outline[0, 1] * y
    slope_y = outline[1, 0] * x + outline[1, 1] * y
    inside = 1 - (x * slope_x + y * slope_y)
    # Distance to the outline in pixels, to first order.
    steepness = 2 * pixel * np.hypot(slope_x, slope_y)
    cover = np.clip(0.5 + inside / np.maximum(steepness, 1e-9), 0, 1)
    root = np.sqrt(f * np.maximum(inside, 0))
    depth = (root - q[0] * x - q[1] * y) / f
    # The normal is Fd, and d = (x, y, depth): its last entry is the root.
    normal_x, normal_y = slope_x + (q[0] / f) * root, slope_y + (q[1] / f) * root
    length = np.sqrt(normal_x**2 + normal_y**2 + root**2)
    cosine = (light[0] * normal_x + light[1] * normal_y + light[2] * root) / length
    return cover, depth, cosine


SKIN, HAIR, LIPS = (1.0, 0.8, 0.66), (0.75, 0.5, 0.3), (1.0, 0.35, 0.35)
IRIS, FUR = (0.5, 0.7, 1.0), (0.9, 0.75, 0.55)

HEAD: Figure = (
    Ellipsoid((0.0, -1.0, -0.15), (0.28, 0.65, 0.28), 0.8, tint=SKIN),  # neck
    Ellipsoid((0.0, 0.12, -0.06), (0.58, 0.66, 0.66), 0.85, tint=SKIN),  # skull
    Ellipsoid((0.0, -0.20, 0.03), (0.51, 0.57, 0.52), 0.85, tint=SKIN),  # jaw
    Ellipsoid((0.0, 0.29, -0.19), (0.65, 0.64, 0.66), 0.35, tint=HAIR),  # hair
    Ellipsoid((-0.60, 0.0, -0.08), (0.09, 0.19, 0.13), 0.85, tint=SKIN),  # ears
    Ellipsoid((0.60, 0.0, -0.08), (0.09, 0.19, 0.13), 0.85, tint=SKIN),
    Ellipsoid((-0.22, 0.05, 0.50), (0.12, 0.09, 0.08), 1.0),  # eyes
    Ellipsoid((0.22, 0.05, 0.50), (0.12, 0.09, 0.08), 1.0),
    Ellipsoid((-0.22, 0.05, 0.56), (0.055, 0.06, 0.045), 0.1, tint=IRIS),  # pupils
    Ellipsoid((0.22, 0.05, 0.56), (0.055, 0.06, 0.045), 0.1, tint=IRIS),
    Ellipsoid((-0.23, 0.20, 0.52), (0.15, 0.035, 0.06), 0.3, tint=HAIR),  # brows
    Ellipsoid((0.23, 0.20, 0.52), (0.15, 0.035, 0.06), 0.3, tint=HAIR),
    Ellipsoid((0.0, -0.38, 0.55), (0.17, 0.045, 0.06), 0.35, tint=LIPS),  # mouth
    Ellipsoid((0.0, -0.10, 0.60), (0.085, 0.17, 0.14), 0.9, tint=SKIN),  # nose
)

RABBIT: Figure = (
    Ellipsoid((0.0, -0.45, -0.15), (0.48, 0.50, 0.55), 0.5, tint=FUR),  # body
    Ellipsoid((0.0, -0.50, 0.12), (0.34, 0.38, 0.34), 0.9),  # belly
    Ellipsoid((0.0, 0.22, 0.12), (0.40, 0.36, 0.42), 0.5, tint=FUR),  # head
    Ellipsoid((-0.20, 0.72, 0.0), (0.12, 0.38, 0.09), 0.5, 10.0, tint=FUR),  # ears
    Ellipsoid((0.20, 0.72, 0.0), (0.12, 0.38, 0.09), 0.5, -10.0, tint=FUR),
    Ellipsoid((-0.20, 0.72, 0.06), (0.07, 0.30, 0.07), 1.0, 10.0, tint=LIPS),
    Ellipsoid((0.20, 0.72, 0.06), (0.07, 0.30, 0.07), 1.0, -10.0, tint=LIPS),
    Ellipsoid((-0.25, -0.88, 0.25), (0.19, 0.12, 0.34), 0.8),  # feet
    Ellipsoid((0.25, -0.88, 0.25), (0.19, 0.12, 0.34), 0.8),
    Ellipsoid((0.0, 0.10, 0.48), (0.21, 0.12, 0.11), 1.0),  # muzzle
    Ellipsoid((0.0, 0.19, 0.57), (0.07, 0.05, 0.06), 0.15, tint=LIPS),  # nose
    Ellipsoid((-0.23, 0.30, 0.42), (0.07, 0.09, 0.08), 0.1),  # eyes
    Ellipsoid((0.23, 0.30, 0.42), (0.07, 0.09, 0.08), 0.1),
    Ellipsoid((0.0, -0.60, -0.72), (0.18, 0.18, 0.16), 1.0),  # tail
)

FIGURES: dict[str, Figure] = {"head": HEAD, "rabbit": RABBIT}
