"""The long examples of the gallery on fetched data print the figures that their text states."""

import re
import runpy
import subprocess
from pathlib import Path

import pytest

from unbend import quality

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
GALLERY = EXAMPLES / "gallery"


def figures(said):
    """Numbers at the end of each line that has some, by the words before them."""
    found = {}
    for line in said.splitlines():
        words = line.removeprefix("#").split()
        numbers = [word for word in words if re.fullmatch(r"[01]\.\d{3}", word)]
        if numbers and words[-len(numbers) :] == numbers:
            found[" ".join(words[: -len(numbers)])] = [float(number) for number in numbers]
    return found


def run(path, monkeypatch):
    """Run an example, or skip where its data cannot be fetched."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    try:
        return runpy.run_path(str(GALLERY / path))
    except (FileNotFoundError, subprocess.SubprocessError) as error:
        pytest.skip(str(error))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_packages_lie_near_those_of_their_section(monkeypatch, capsys):
    path = "tables/long_packages.py"
    stated = figures((GALLERY / path).read_text(encoding="utf-8").split("code-block:: text")[1])
    run(path, monkeypatch)
    found = figures(capsys.readouterr().out)
    assert len(stated) == 6
    assert found.keys() == stated.keys()
    for line, numbers in stated.items():
        # The lists of packages change with every update of Debian.
        assert found[line] == pytest.approx(numbers, abs=0.03), line


@pytest.mark.slow
def test_coordinates_of_spectra_are_smooth_images(monkeypatch):
    path = "tables/long_galaxy.py"
    rough = run(path, monkeypatch)["rough"]
    text = " ".join((GALLERY / path).read_text(encoding="utf-8").replace("#", " ").split())
    assert f"{rough['spectra']:.3f} for the spectra and {rough['PCA']:.2f} for PCA" in text


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_ten_thousand_pictures_of_clothes_keep_their_kinds(monkeypatch):
    path = "images/long_clothes.py"
    names = run(path, monkeypatch)
    if names["pictures"].shape[1] != 28:
        pytest.skip("Fashion-MNIST cannot be fetched here")
    text = (GALLERY / path).read_text(encoding="utf-8")
    for trial in names["compared"].trials:
        row = re.findall(r"- (\d\.\d+)", text.split(f"* - {trial.title}\n")[1])[:5]
        measures = ("trustworthiness", "continuity", "r_nx_auc", "redundancy", "neighborhood_hit")
        stated = dict(zip(measures, map(float, row), strict=True))
        found = {name: trial.measures[name] for name in measures}
        assert found == pytest.approx(stated, abs=0.01), trial.title
    assert f"is {names['before']:.3f} among the pixels" in text


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_faces_of_a_person_stay_together(monkeypatch):
    path = "images/long_orl_faces.py"
    names = run(path, monkeypatch)
    if names["pictures"].shape[1:] != (112, 92):
        pytest.skip("the ORL faces cannot be fetched here")
    found = {
        "pixels": quality.neighborhood_hit(names["points"], names["people"], n_neighbors=5),
        "PCA": names["hits"]["PCA"],
        "t-SNE": names["hits"]["NeighborEmbedding"],
    }
    text = " ".join((GALLERY / path).read_text(encoding="utf-8").replace("#", " ").split())
    stated = re.search(r"it is (\S+) in the pixels, (\S+) in the plane of PCA and (\S+) in", text)
    assert stated is not None
    assert list(found.values()) == pytest.approx([float(one) for one in stated.groups()], abs=0.002)


@pytest.mark.parametrize(
    ("call", "advice"),
    [("descriptions", "install apt"), ("cube_file", "pip download .* mpdaf==")],
)
def test_missing_data_give_one_message(call, advice, monkeypatch, tmp_path):
    def absent(command, **_):
        raise FileNotFoundError(command[0])

    monkeypatch.setattr(subprocess, "run", absent)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    names = runpy.run_path(str(EXAMPLES / "real_data.py"))
    with pytest.raises(FileNotFoundError, match=advice) as stopped:
        names[call]()
    assert "\n" not in str(stopped.value)
