"""A table that every test of a command may read."""

import numpy as np
import pytest

from unbend.datasets import swiss_roll

NAMES = np.array(["in", "between", "out"])


@pytest.fixture(scope="session")
def roll():
    return swiss_roll(300, random_state=0)


@pytest.fixture(scope="session")
def kinds(roll):
    """Words that follow the first true coordinate."""
    first = roll.chart[:, 0]
    return NAMES[np.digitize(first, np.quantile(first, [1 / 3, 2 / 3]))]


@pytest.fixture
def folder(tmp_path, roll, kinds):
    """Make a folder with roll.csv: an id, three numbers and a label."""
    lines = ["row,x,y,z,kind"]
    lines += [
        f"r{number},{x!r},{y!r},{z!r},{kind}"
        for number, ((x, y, z), kind) in enumerate(zip(roll.points.tolist(), kinds, strict=True))
    ]
    (tmp_path / "roll.csv").write_text("\n".join(lines) + "\n")
    return tmp_path
