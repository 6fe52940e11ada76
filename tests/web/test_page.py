"""The page in a real browser: what it shows is what NumPy and the library say."""

import subprocess
import sys

import numpy as np
import pytest

import unbend
from tests.web.browsing import inside, needs_browser, screen_places
from tests.web.conftest import CLASSES, PIXELS, SNIPPET, N, write_rows

pytestmark = [needs_browser, pytest.mark.timeout(600)]


def place_of(visit, id):
    ids = [each.get_attribute("data-embedding") for each in visit.tab.locator(".map").all()]
    return ids.index(id)


def test_lassoed_rows_of_one_of_two_maps_are_those_inside_the_polygon(digits):
    first = digits.fit("pca")
    digits.fit("laplacian_eigenmaps")
    box = digits.host(place_of(digits, first)).bounding_box()
    points = screen_places(digits.array(first), box)
    center = points.mean(axis=0)
    polygon = center + np.array([[-60, -50], [70, -40], [50, 60], [-40, 70]]) + 0.3
    other = 1 - place_of(digits, first)
    before = digits.picture(other)
    digits.drag([*polygon.tolist(), polygon[0].tolist()], shift=True)
    rows = digits.selected_rows()
    # Points within a pixel of the edge may fall on either side.
    sure, possible = (inside(center + (polygon - center) * f, points) for f in (0.97, 1.03))
    assert np.count_nonzero(sure) > 20
    assert set(np.flatnonzero(sure)) <= set(rows) <= set(np.flatnonzero(possible))
    shown = digits.tab.locator("table.rows tbody tr td:first-child").all_text_contents()
    assert [int(text) - 1 for text in shown] == rows[:100]
    cells = digits.tab.locator("table.rows tbody tr").first.locator("td").all_text_contents()
    np.testing.assert_array_equal(
        np.array(cells[2:], dtype=float), [CLASSES[rows[0]], *PIXELS[rows[0]]]
    )
    assert digits.picture(other) != before, "the other map does not light the selection"


def test_wheel_zooms_drag_pans_and_double_click_resets(digits):
    digits.fit("pca")
    box = digits.host().bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    away = x, y + box["height"] / 2 + 60
    digits.tab.mouse.move(*away)
    start = digits.picture()
    digits.tab.mouse.move(x, y)
    digits.tab.mouse.wheel(0, -300)
    zoomed = digits.picture()
    digits.drag([(x, y), (x + 80, y + 40)])
    moved = digits.picture()
    digits.tab.mouse.dblclick(x, y)
    if digits.tab.locator("text=Clear").is_visible():
        digits.tab.click("text=Clear")
    digits.tab.mouse.move(*away)
    assert len({start, zoomed, moved}) == 3
    assert digits.picture() == start


def test_selections_and_errors_do_not_move_the_maps_and_a_bad_file_keeps_the_table(
    digits, tmp_path
):
    """A lasso would end elsewhere than it was drawn."""
    id = digits.fit("pca")
    digits.tab.locator(".legend .key").first.wait_for()
    box = digits.host().bounding_box()
    digits.tab.locator(".legend .key").first.click()
    digits.tab.locator("text=/[0-9]+ rows selected/").wait_for()
    assert digits.host().bounding_box() == box
    (tmp_path / "bad.csv").write_text('a,b\n1,"2\n')
    digits.tab.locator("[aria-label=Data] input[type=file]").set_input_files(tmp_path / "bad.csv")
    digits.tab.locator(".notices .notice").wait_for()
    digits.tab.locator(f".map[data-embedding='{id}'][data-drawn=true]").wait_for()
    assert digits.host().bounding_box() == box
    assert digits.tab.locator("[aria-label=Table]").input_value() == "digits.csv"


def test_the_chosen_label_colours_the_maps(digits):
    digits.fit("pca")
    color = digits.tab.locator("[aria-label='Colour by']")
    label = digits.tab.locator("label.field", has_text="Label").locator("select")
    label.select_option("pixel_40", timeout=10_000)
    assert color.input_value() == "column:pixel_40"
    label.select_option("", timeout=10_000)
    assert color.input_value() == "column:"


def test_what_has_the_focus_keeps_it_and_columns_stay_open(digits):
    digits.fit("pca")
    focused = "() => [document.activeElement.textContent, document.activeElement.ariaLabel]"
    digits.tab.locator(".segments button", has_text="Lasso").focus()
    digits.tab.keyboard.press("Enter")
    digits.tab.locator("[aria-pressed=true]", has_text="Lasso").wait_for()
    assert digits.tab.evaluate(focused)[0] == "Lasso"
    digits.tab.click(".columns summary")
    digits.tab.locator("[aria-label='Use pixel_40']").focus()
    digits.tab.keyboard.press("Space")
    digits.tab.locator("[aria-label='Use pixel_40']:not(:checked)").wait_for()
    assert digits.tab.evaluate(focused)[1] == "Use pixel_40"
    assert digits.tab.locator("[aria-label='Use pixel_40']").is_visible()


def test_a_brushed_region_of_a_diagram_lights_the_points_behind_it(digits):
    id = digits.fit("pca")
    digits.tab_named("quality")
    canvas = digits.tab.locator("#quality canvas.diagram").first
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    left, right, low, high = 0.3, 0.5, 0.1, 0.4
    before = digits.picture()
    digits.drag(
        [
            (box["x"] + a * box["width"], box["y"] + (1 - b) * box["height"])
            for a, b in ((left, low), (right, high))
        ]
    )
    rows = digits.selected_rows()
    pairs = digits.array(id, "pairs")
    x, y = (pairs[:, 2:] / pairs[:, 2:].max(axis=0)).T

    def behind(slack):
        within = (x > left - slack) & (x < right + slack) & (y > low - slack) & (y < high + slack)
        return set(np.unique(pairs[within, :2]).astype(int))

    assert behind(-0.01) <= set(rows) <= behind(0.01)
    assert 0 < len(rows) < N
    assert digits.picture() != before


def test_a_cell_of_the_co_ranking_is_lit_by_the_keyboard(digits):
    id = digits.fit("pca")
    digits.tab_named("quality")
    canvas = digits.tab.locator("#quality canvas.diagram").nth(1)
    canvas.focus()
    digits.tab.keyboard.press("Enter")
    ranks = digits.array(id, "ranks")
    # The first cell holds the pairs that are nearest in the data and on the map.
    first = ranks[(ranks[:, 2] == 1) & (ranks[:, 3] == 1), :2]
    assert set(digits.selected_rows()) == set(np.unique(first).astype(int))


def test_a_picked_point_shows_its_neighbours_in_the_data_and_on_the_map(digits):
    id = digits.fit("pca")
    points = screen_places(digits.array(id), digits.host().bounding_box())
    apart = np.linalg.norm(points[:, None] - points[None], axis=2) + 1e6 * np.eye(N)
    row = int(np.argmax(apart.min(axis=1)))
    before = digits.picture()
    digits.tab.mouse.click(*points[row].tolist())
    digits.tab_named("quality")
    digits.tab.locator(f"#quality h3:text-is('Row {row + 1}')").wait_for()
    lists = digits.tab.locator("#quality .row:has(.chip)")
    flat = digits.array(id).astype(float)
    for each, space in zip(lists.all(), (PIXELS, flat), strict=True):
        shown = [int(text) - 1 for text in each.locator(".chip").all_text_contents()]
        far = np.linalg.norm(space - space[row], axis=1)
        np.testing.assert_allclose(far[shown], np.sort(far)[1:11], rtol=1e-4)
    marks = digits.tab.locator(".map").get_attribute("data-marks")
    assert marks == "0 ellipses, 10 lines"
    assert digits.picture() != before


@pytest.mark.slow
def test_losses_colour_the_map_and_ellipses_show_how_far_points_move(digits):
    digits.fit("pca")
    pictures = [digits.picture()]
    for name, words in (
        ("trustworthiness", "Trustworthiness of each point"),
        ("continuity", "Continuity of each point"),
        ("stability", "How far a point moves"),
    ):
        digits.color_by(f"loss:{name}")
        digits.tab.locator(".legend", has_text=words).wait_for()
        pictures.append(digits.picture())
    assert len(set(pictures)) == 4
    digits.tab.locator(".map[data-marks='75 ellipses, 0 lines']").wait_for()
    digits.color_by("column:class")
    digits.tab.locator(".map[data-marks='0 ellipses, 0 lines']").wait_for()
    assert digits.picture() == pictures[0]


@pytest.mark.slow
def test_quality_shows_spectrum_residual_variance_and_curves_of_the_dimension(digits):
    digits.fit("pca")
    digits.tab.locator("#quality .curves", has_text="principal component").wait_for()
    digits.tab.locator("#quality .curves", has_text="Residual variance").wait_for()
    digits.tab.locator("#quality .curves", has_text="R_NX").wait_for()
    digits.tab.click("text=Estimate the intrinsic dimension")
    digits.tab.locator("text=Intrinsic dimension of the data").wait_for()
    shown = digits.tab.locator("#quality .curves figcaption").all_text_contents()
    features = unbend.io.read(PIXELS).values
    for method in (unbend.dimension.mle, unbend.dimension.correlation):
        assert any(text.startswith(str(method(features))) for text in shown)


@pytest.mark.slow
def test_selected_rows_have_thumbnails_and_what_distinguishes_them(digits):
    digits.fit("pca")
    digits.tab.locator(".legend .key").nth(3).click()
    rows = digits.selected_rows()
    assert rows == np.flatnonzero(CLASSES == 3).tolist()
    shades = digits.tab.locator("canvas.thumbnail").first.evaluate(
        "(c) => Array.from(c.getContext('2d').getImageData(0, 0, 8, 8).data)"
    )
    expected = 255 * (1 - PIXELS[rows[0]] / PIXELS.max())
    np.testing.assert_allclose(np.reshape(shades, (64, 4))[:, 0], expected, atol=0.51)
    effects = (PIXELS[rows].mean(axis=0) - np.delete(PIXELS, rows, axis=0).mean(axis=0)) / np.sqrt(
        (PIXELS[rows].var(axis=0) + np.delete(PIXELS, rows, axis=0).var(axis=0)) / 2 + 1e-300
    )
    listed = digits.tab.locator("#tab-rows .reasons li strong").all_text_contents()
    strongest = [f"pixel_{place}" for place in np.argsort(-np.abs(effects))[:3]]
    assert set(strongest) <= set(listed)


@pytest.mark.slow
def test_texts_are_snippets(visit):
    visit.open("notes.csv")
    visit.fit("pca")
    visit.lasso_all()
    visit.tab_named("rows")
    cell = visit.tab.locator("table.rows tbody tr").first.locator("td").nth(1)
    cell.wait_for()
    assert cell.get_attribute("title") == f"0: {SNIPPET}".strip()
    shown = cell.locator(".snippet").inner_text()
    assert shown == f"0: {SNIPPET}"[:240] + "…"


@pytest.mark.slow
def test_new_samples_appear_on_the_map(digits, tmp_path):
    digits.fit("pca")
    digits.tab_named("samples")
    names = [f"pixel_{number}" for number in range(64)]
    write_rows(tmp_path / "new.csv", names, PIXELS[:25].astype(int).tolist())
    digits.tab.locator("#tab-samples input[type=file]").set_input_files(tmp_path / "new.csv")
    digits.tab.locator("text=25 of 25 rows of new.csv are on the map").wait_for()
    assert digits.tab.locator("#tab-samples canvas").count() == 1
    write_rows(tmp_path / "less.csv", names[:9], PIXELS[:25, :9].astype(int).tolist())
    digits.tab.locator("#tab-samples input[type=file]").set_input_files(tmp_path / "less.csv")
    digits.tab.locator("#tab-samples .notice.bad", has_text="pixel_9").wait_for()


def test_the_code_shown_gives_the_coordinates_in_a_fresh_process(digits, served, tmp_path):
    id = digits.fit("isomap")
    digits.tab_named("export")
    with digits.tab.expect_download() as download:
        digits.tab.locator(".code", has_text="Python").locator("button", has_text="Save").click()
    (tmp_path / "digits.csv").write_bytes((served / "digits.csv").read_bytes())
    subprocess.run([sys.executable, download.value.path()], cwd=tmp_path, check=True)
    again = np.loadtxt(tmp_path / "coordinates.csv", delimiter=",")
    np.testing.assert_array_equal(again.astype("f4"), digits.array(id))


@pytest.mark.slow
def test_coordinates_model_picture_and_report_are_exported(digits, tmp_path):
    id = digits.fit("pca")
    digits.tab_named("export")
    files = {}
    for text in ("Coordinates", "Model", "Picture", "Report"):
        with digits.tab.expect_download(timeout=120_000) as download:
            digits.tab.locator(f"#tab-export >> text='{text}'").click()
        files[download.value.suggested_filename] = download.value.path().read_bytes()
    assert list(files) == ["coordinates.csv", "model.unbend", "picture.png", "report.html"]
    (tmp_path / "m.unbend").write_bytes(files["model.unbend"])
    loaded = unbend.load(tmp_path / "m.unbend").embedding_
    np.testing.assert_array_equal(loaded.astype("f4"), digits.array(id))
    table = np.loadtxt(files["coordinates.csv"].decode().splitlines(), delimiter=",", skiprows=1)
    np.testing.assert_array_equal(table[:, 1:], loaded)
    assert files["picture.png"].startswith(b"\x89PNG")
    assert b"digits.csv" in files["report.html"]


@pytest.mark.slow
def test_the_keyboard_alone_opens_fits_moves_and_selects(visit):
    tab = visit.tab
    tab.locator("[aria-label=Table]").focus()
    tab.keyboard.type("digits")
    tab.locator(".advice .primary").wait_for()
    summary = tab.locator("[data-method=pca] > summary")
    summary.focus()
    tab.keyboard.press("Enter")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    tab.locator(".map[data-drawn=true]").wait_for()
    before = visit.picture()
    visit.host().locator("canvas").first.focus()
    tab.keyboard.press("+")
    tab.keyboard.press("ArrowLeft")
    assert visit.picture() != before
    tab.keyboard.press("0")
    assert visit.picture() == before
    tab.locator(".legend .key").first.focus()
    tab.keyboard.press("Enter")
    tab.locator("#label-quality").focus()
    tab.keyboard.press("ArrowRight")
    assert visit.selected_rows() == np.flatnonzero(CLASSES == 0).tolist()
