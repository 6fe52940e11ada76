"""Every figure says in its docstring how to read it: what is good, and what it cannot see."""

import inspect
import re

from tests.loops import each
from unbend import dimension, quality

FIGURES = [
    function
    for module in (dimension, quality)
    for name in module.__all__
    if inspect.isfunction(function := getattr(module, name))
]
# A word of praise, or the number from which on it is deserved.
GOOD = re.compile(r"\b(good|fair|perfect)\b|\b(above|below) [\d.]+|\bit is [01]\b", re.IGNORECASE)


@each("function", FIGURES)
def test_a_figure_says_what_is_good_and_what_it_cannot_see(function):
    text = " ".join((inspect.getdoc(function) or "").split())
    explained = text.split(" Examples -----")[0]
    assert GOOD.search(explained), "what values are good?"
    assert re.search(r"\bcannot (see|detect)\b", explained), "what can it not see?"


def test_no_module_of_figures_is_without_them():
    assert len(FIGURES) > 20
