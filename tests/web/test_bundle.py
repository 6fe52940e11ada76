"""What the page is built of: lock file, size and licences; what a clone without it says."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.program import unbend as program
from unbend.web import launch
from unbend.web.server import BUNDLE, PAGE

SOURCES = Path(__file__).parents[2] / "page"
needs_sources = pytest.mark.skipif(not SOURCES.exists(), reason="needs a clone")
needs_bundle = pytest.mark.skipif(not BUNDLE.exists(), reason="needs make page")


@needs_sources
def test_the_lock_file_pins_every_package_and_names_no_registry():
    text = (SOURCES / "package-lock.json").read_text()
    assert "resolved" not in text
    assert "registry" not in text
    packages = json.loads(text)["packages"]
    pinned = {name: each for name, each in packages.items() if name}
    assert len(pinned) > 5
    assert all(each["version"] and each["integrity"] for each in pinned.values())


@needs_sources
def test_every_colour_stands_once_for_light_and_once_for_dark():
    style = (SOURCES / "src" / "style.css").read_text()
    declared = re.findall(r"^ *(--[a-z-]+): (#[0-9a-f]{6});$", style, re.MULTILINE)
    names = [name for name, _ in declared]
    assert names
    assert {names.count(name) for name in names} == {2}
    assert "prefers-color-scheme" not in style


@needs_bundle
def test_the_bundle_is_complete_and_small():
    files = {path.name for path in BUNDLE.iterdir()}
    assert files == {name for name, _ in PAGE.values()}
    assert sum(path.stat().st_size for path in BUNDLE.iterdir()) <= 500_000


@needs_bundle
@needs_sources
def test_the_licences_of_everything_in_the_bundle_are_beside_it():
    text = (BUNDLE / "licenses.txt").read_text()
    wanted = json.loads((SOURCES / "package.json").read_text())["dependencies"]
    for name in wanted:
        assert re.search(rf"^{re.escape(name)} [0-9.]+ \(MIT\)$", text, re.MULTILINE), name
    assert text.count("Permission is hereby granted") >= len(wanted)


@needs_bundle
def test_the_page_names_no_other_host():
    for name in ("index.html", "frame.html", "app.css", "frame.css"):
        assert "//" not in (BUNDLE / name).read_text().replace("http://www.w3.org", "")


def test_without_the_bundle_it_says_how_to_build_the_page(monkeypatch, tmp_path):
    monkeypatch.setattr(launch, "BUNDLE", tmp_path / "bundle")
    with pytest.raises(FileNotFoundError, match="run make page, which needs npm"):
        launch.serve(None, 0, browser=False, announce=pytest.fail)
    done = program("serve", "--no-browser", str(tmp_path), code=1)
    assert "run make page, which needs npm" in str(done.stderr)
