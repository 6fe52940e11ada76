"""Colours of the page: contrast with its backgrounds, and what colour-blind people see of them."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

SOURCES = Path(__file__).parents[2] / "page" / "src"
pytestmark = pytest.mark.skipif(not SOURCES.exists(), reason="needs the sources of the page")
# Machado, Oliveira and Fernandes (2009), full severity, on linear RGB.
VISIONS = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def linear(color):
    parts = np.array([int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(first, second):
    """Contrast of WCAG 2."""
    low, high = sorted(TO_XYZ[1] @ linear(color) for color in (first, second))
    return (high + 0.05) / (low + 0.05)


def lab(rgb):
    share = np.clip(rgb, 0, 1) @ TO_XYZ.T / [0.95047, 1, 1.08883]
    x, y, z = np.where(share > 216 / 24389, np.cbrt(share), (24389 / 27 * share + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def colors_of(theme):
    script = (SOURCES / "colors.js").read_text()
    listed = re.search(rf"const CLASSES = {{.*?{theme}: \[(.*?)\]", script, re.S)[1]
    return re.findall("#[0-9a-f]{6}", listed)


def backgrounds_of(theme):
    style = (SOURCES / "style.css").read_text()
    rules = style.split("}")
    (rule,) = (rule for rule in rules if f"color-scheme: {theme};" in rule)
    return {name: re.search(f"--{name}: (#[0-9a-f]{{6}})", rule)[1] for name in ("map", "paper")}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_class_has_a_contrast_of_three_with_the_map_and_the_page(theme):
    colors = colors_of(theme)
    assert len(set(colors)) == 12
    for background in backgrounds_of(theme).values():
        assert min(contrast(color, background) for color in colors) >= 3


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("vision", VISIONS)
def test_classes_are_told_apart_by_everyone(theme, vision):
    """Differences of 2 are just seen side by side; points of a map are small and apart."""
    seen = [lab(np.asarray(VISIONS[vision]) @ linear(color)) for color in colors_of(theme)]
    for count, least in ((8, 15), (12, 11)):
        found = min(np.linalg.norm(a - b) for a, b in combinations(seen[:count], 2))
        assert found >= least


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_and_marks_of_the_page_are_readable(theme):
    style = (SOURCES / "style.css").read_text()
    (rule,) = (rule for rule in style.split("}") if f"color-scheme: {theme};" in rule)
    of = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", rule))
    for surface in ("map", "paper", "card"):
        for text in ("ink", "quiet", "accent"):
            assert contrast(of[text], of[surface]) >= 4.5
        assert contrast(of["strong"], of[surface]) >= 3
    for surface in ("warn", "bad"):
        assert contrast(of["ink"], of[surface]) >= 4.5
    assert contrast(of["accent-ink"], of["accent"]) >= 4.5
