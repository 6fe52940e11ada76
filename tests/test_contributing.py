"""The worked examples of CONTRIBUTING run, and the laws in them hold."""

import re
from pathlib import Path

from unbend.neighbors.metrics.metric import METRICS

GUIDE = Path(__file__).parent.parent / "CONTRIBUTING.md"


def test_the_worked_examples_of_a_method_and_a_metric_run():
    names: dict[str, object] = {"__name__": "contributing"}
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) == 5
    try:
        for block in blocks:
            exec(compile(block, GUIDE.name, "exec"), names)
    finally:
        # The example adds a metric to the table; other tests must not see it.
        METRICS.pop("hellinger", None)
    assert {"CommuteTimes", "check_resistances", "fix_hellinger"} <= set(names)


def test_a_wrong_method_fails_the_law_of_the_example():
    names: dict[str, object] = {"__name__": "contributing"}
    law, method = re.findall(
        r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.M | re.S
    )[:2]
    exec(law, names)
    exec(method.replace("/ np.sqrt(spectrum.values)", "* 1.0"), names)
    try:
        names["check_resistances"](names["CommuteTimes"])
    except AssertionError:
        return
    raise AssertionError("unscaled eigenvectors pass the law")
