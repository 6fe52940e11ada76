"""Tables that need care, in a real browser: gaps and words, units, and text that is code."""

import numpy as np
import pytest

import unbend
from tests.web.browsing import needs_browser, screen_places
from tests.web.conftest import HOSTILE, HOSTILE_FILE, write_rows

pytestmark = [needs_browser, pytest.mark.timeout(600)]


def test_strings_and_missing_values_are_no_dead_end(visit):
    visit.open("mixed.csv")
    policy = visit.tab.locator("label.field", has_text="Missing (9)").locator("select")
    assert policy.input_value() == "median"
    first = visit.array(visit.fit("pca"))
    assert not np.isnan(first).any()
    policy.select_option("drop")
    second = visit.array(visit.fit("pca"))
    assert np.flatnonzero(np.isnan(second[:, 0])).tolist() == list(range(0, 60, 7))


def test_a_column_with_most_of_the_variance_is_standardised(visit, served):
    visit.open("units.csv")
    notice = visit.tab.locator(".notice", has_text="salary")
    assert "99.9 % of the variance" in notice.inner_text()
    frame = unbend.io.read_frame(served / "units.csv")
    reference = unbend.PCA().fit_transform(unbend.Prepare(scale="standard").fit_transform(frame))
    np.testing.assert_array_equal(visit.array(visit.fit("pca")), reference.astype("f4"))
    scale = visit.tab.locator("label.field", has_text="Scale").locator("select")
    scale.select_option("none")
    assert "the map would show little else" in notice.inner_text()
    notice.locator("button").click()
    assert scale.input_value() == "standard"
    np.testing.assert_array_equal(visit.array(visit.fit("pca")), reference.astype("f4"))


def test_code_in_cells_columns_file_names_and_labels_is_inert(visit):
    """Dialogs and errors are checked by the fixture."""
    visit.open(HOSTILE_FILE)
    visit.fit("pca")
    visit.color_by(f"column:{HOSTILE}")
    visit.lasso_all()
    visit.tab_named("rows")
    cell = visit.tab.locator("table.rows tbody tr").first.locator("td").nth(1)
    cell.wait_for()
    assert cell.get_attribute("title") == HOSTILE
    visit.color_by("column:class")
    visit.tab.locator(".legend .key", has_text="<script>").wait_for()
    assert visit.tab.locator("img").count() == 0
    assert visit.tab.locator("script").count() == 1
    visit.tab_named("export")
    visit.tab.locator("pre[data-code='map.py']").wait_for()


def test_the_class_of_a_point_is_its_own_where_colours_repeat(visit, served):
    """Thirty classes share twelve colours; a hovered row still shows its own class."""
    rng = np.random.default_rng(3)
    rows = [[*row, f"k{place % 30:02d}"] for place, row in enumerate(rng.normal(size=(60, 2)))]
    write_rows(served / "thirty.csv", ["x", "y", "class"], rows)
    visit.tab.reload()
    visit.open("thirty.csv")
    points = screen_places(visit.array(visit.fit("pca")), visit.host().bounding_box())
    apart = np.linalg.norm(points[:, None] - points[None], axis=2) + 1e6 * np.eye(60)
    lonely = [row for row in np.argsort(-apart.min(axis=1)) if row % 30 >= 12]
    visit.tab.mouse.move(*points[lonely[0]].tolist())
    visit.tab.locator(f"text=row {lonely[0] + 1} · class: k{lonely[0] % 30:02d}").wait_for()
    visit.tab.locator("text=colours repeat after 12 classes").wait_for()
