"""Pictures of a turning object are put in their true order (book section 15.4.2)."""

import runpy
from pathlib import Path

from tests.loops import sampled

EXAMPLE = Path(__file__).parents[2] / "examples" / "sorting_pictures.py"


@sampled("seed", range(5))
def test_shuffled_pictures_come_in_the_true_order_up_to_reversal(seed):
    example = runpy.run_path(str(EXAMPLE))
    views = example["shuffled"](seed)
    for solver in example["SOLVERS"].values():
        assert example["is_true_order"](example["order"](views.points, solver), views.chart[:, 0])


def test_the_example_runs_and_draws(monkeypatch, capsys, tmp_path):
    picture = tmp_path / "sorted.png"
    monkeypatch.setattr("sys.argv", ["sorting_pictures.py", str(picture)])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed.count("the true order") == 3
    assert "NOT" not in printed
    assert picture.stat().st_size > 10_000
