"""The demo: its table, contact sheet and page hold every surface and method, failures included."""

import json
import subprocess
import sys
import warnings
from html.parser import HTMLParser

import matplotlib.image
import numpy as np
import pytest

from unbend.apps import demo
from unbend.apps.gallery.panels import embed
from unbend.apps.gallery.summary import WIDTH, draw_sheet, table_text
from unbend.apps.gallery.viewer import in_unit_box, page_html
from unbend.datasets import SURFACES
from unbend.methods.ltsa import LTSA
from unbend.registry import METHODS

ROWS = 150
CHOSEN = tuple(method for method in METHODS if method.name in ("pca", "isomap", "ltsa"))
NAMES = ("swiss_roll", "clusters_3d", "toroidal_helix")
SENTENCE = "there is no <b>chart</b> & no atlas: draw one"


def embedded():
    return [embed(name, ROWS, seed=0, methods=CHOSEN) for name in NAMES]


@pytest.fixture(scope="module")
def rows():
    return embedded()


@pytest.fixture
def rows_where_ltsa_fails(monkeypatch):
    def fail(self, X, y=None):
        raise ValueError(SENTENCE)

    monkeypatch.setattr(LTSA, "fit", fail)
    return embedded()


class Page(HTMLParser):
    """What the tests look for in a page."""

    VOID = ("meta", "br")

    def __init__(self, text):
        super().__init__()
        self.open, self.references, self.panels, self.data, self.text = [], [], [], "", ""
        self.surface = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.references += [given[name] for name in ("src", "href") if name in given]
        self.surface = given.get("data-surface", self.surface)
        if "data-method" in given:
            self.panels.append((self.surface, given["data-method"]))
        if tag not in self.VOID:
            self.open.append((tag, given.get("id")))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, text):
        self.text += text
        if self.open and self.open[-1] == ("script", "data"):
            self.data += text


def test_the_table_names_every_method_and_surface_and_fits_the_terminal(rows):
    text = table_text(rows)
    assert all(method.class_name in text for method in CHOSEN)
    assert all(word in text for name in NAMES for word in name.split("_"))
    assert max(map(len, text.splitlines())) <= WIDTH


def test_only_surfaces_with_an_isometric_chart_have_an_error(rows):
    for row in rows:
        assert all((panel.fit.error is not None) == row.surface.isometric for panel in row.panels)
        assert all(0.5 < panel.fit.trust <= 1 for panel in row.panels)


def test_methods_are_judged_up_to_the_maps_they_leave_open(rows):
    assert [panel.fit.kind for panel in rows[0].panels] == ["similarity", "similarity", "affine"]


def test_all_surfaces_and_methods_are_shown_without_being_listed_by_the_demo():
    row = embed("square", ROWS, seed=0)
    assert [panel.method for panel in row.panels] == list(METHODS)
    assert not any(panel.failure for panel in row.panels)


def test_the_same_seed_gives_the_same_row():
    first, second = (embed("s_curve", ROWS, seed=3, methods=CHOSEN) for _ in range(2))
    assert np.array_equal(first.surface.points, second.surface.points)
    assert np.array_equal(first.panels[1].fit.coordinates, second.panels[1].fit.coordinates)


def test_warnings_are_kept_for_the_page_and_not_spilled(monkeypatch, recwarn):
    fit = LTSA.fit

    def warn_and_fit(self, X, y=None):
        warnings.warn("thin <ice>", stacklevel=1)
        warnings.warn("thin <ice>", stacklevel=1)
        return fit(self, X, y)

    monkeypatch.setattr(LTSA, "fit", warn_and_fit)
    row = embed("square", ROWS, seed=0, methods=CHOSEN)
    assert [panel.warnings for panel in row.panels] == [(), (), ("thin <ice>",)]
    assert not recwarn.list
    assert Page(page_html([row])).text.count("thin <ice>") == 1


def test_the_contact_sheet_shows_points_in_every_panel(rows, tmp_path):
    draw_sheet(rows, tmp_path / "sheet.png")
    image = matplotlib.image.imread(tmp_path / "sheet.png")[..., :3]
    columns = len(CHOSEN) + 1
    assert image.shape[1] == 300 * columns
    body = image[-300 * len(rows) :]
    for line in np.split(body, len(rows)):
        for panel in np.split(line, columns, axis=1):
            # Away from the frame and the title, colour differs from channel to channel.
            assert np.ptp(panel[40:-40, 20:-20], axis=2).max() > 0.3


def test_the_page_is_well_formed_and_asks_nothing_of_the_network(rows):
    text = page_html(rows)
    page = Page(text)
    assert page.open == []
    assert page.references == []
    assert not any(word in text for word in ("http://", "https://", "@import", "url("))


def test_the_page_holds_every_panel_with_all_its_points(rows):
    page = Page(page_html(rows))
    assert page.panels == [(name, method.name) for name in NAMES for method in CHOSEN]
    data = json.loads(page.data)
    assert list(data) == list(NAMES)
    for surface in data.values():
        assert len(surface["colors"]) == ROWS
        assert len(surface["space"]) == 3 * ROWS
        assert list(surface["panels"]) == [method.name for method in CHOSEN]
        for flat in surface["panels"].values():
            assert len(flat) == 2 * ROWS
            assert min(flat) == 0
            assert max(flat) == 1


def test_the_page_holds_the_report_of_every_fit(rows):
    text = Page(page_html(rows)).text
    assert all(panel.fit.report in text for row in rows for panel in row.panels)


def test_points_that_all_coincide_are_shown_in_the_middle():
    assert in_unit_box(np.full((2, 2), 7.0), equal=True) == [0.5] * 4


def test_a_method_that_raises_is_reported_and_does_not_stop_the_others(
    rows_where_ltsa_fails, tmp_path
):
    for row in rows_where_ltsa_fails:
        assert [bool(panel.failure) for panel in row.panels] == [False, False, True]
    text = table_text(rows_where_ltsa_fails)
    assert SENTENCE in " ".join(text.split())
    assert "[3]" in text
    page = Page(page_html(rows_where_ltsa_fails))
    assert page.open == []
    # In the table and in the panel of each surface, and none of it taken for markup.
    assert page.text.count(SENTENCE) == 2 * len(NAMES)
    draw_sheet(rows_where_ltsa_fails, tmp_path / "sheet.png")


def test_the_program_writes_both_files_and_prints_the_table(tmp_path, capsys):
    assert demo.main(["--output", str(tmp_path / "made"), "--rows", "60"]) == 0
    written = sorted(path.name for path in (tmp_path / "made").iterdir())
    assert written == [demo.SHEET, demo.PAGE]
    printed = capsys.readouterr().out
    assert all(method.class_name in printed for method in METHODS)
    page = Page((tmp_path / "made" / demo.PAGE).read_text(encoding="utf-8"))
    assert page.panels == [(name, method.name) for name in SURFACES for method in METHODS]


def test_without_matplotlib_the_program_says_what_to_install(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert demo.main(["--output", str(tmp_path)]) == 1
    assert "unbend[plot]" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_nothing_but_drawing_imports_matplotlib():
    code = "import sys, unbend.apps.demo; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("wrong", [["--rows", "3"], ["--seed", "-1"]])
def test_impossible_arguments_raise_a_clear_error(wrong, tmp_path, capsys):
    with pytest.raises(SystemExit):
        demo.main(["--output", str(tmp_path), *wrong])
    assert "but it is" in capsys.readouterr().err
