"""Images from folders, lists and arrays."""

import gzip
import io
import json
import os
import warnings

import numpy as np
import pytest
from PIL import Image

import unbend

GREY = np.random.default_rng(0).integers(0, 256, (12, 5, 7), dtype=np.uint8)
COLORS = np.random.default_rng(1).integers(0, 256, (4, 5, 7, 3), dtype=np.uint8)


def save(folder, pictures, suffix=".png"):
    folder.mkdir(exist_ok=True, parents=True)
    for place, pixels in enumerate(pictures):
        Image.fromarray(pixels).save(folder / f"im{place}{suffix}")
    return folder


@pytest.mark.parametrize("suffix", [".png", ".bmp", ".tif", ".pgm", ".gif"])
def test_a_folder_gives_every_pixel_in_the_order_of_the_numbers(suffix, tmp_path):
    images = unbend.io.read_images(save(tmp_path / "set", GREY, suffix), color=False)
    assert np.array_equal(images.pictures, GREY)
    assert images.values.dtype == np.float32
    assert images.table.ids.tolist() == [f"im{place}{suffix}" for place in range(12)]
    assert images.table.columns[:8] == (*(f"y0x{x}" for x in range(7)), "y1x0")


def test_colours_stay_together_and_become_grey_as_pillow_makes_them(tmp_path):
    folder = save(tmp_path / "set", COLORS)
    images = unbend.io.read_images(folder)
    assert images.size == (5, 7, 3)
    assert np.array_equal(images.pictures, COLORS)
    grey = unbend.io.read_images(folder, color=False)
    expected = np.stack([np.asarray(Image.fromarray(pixels).convert("L")) for pixels in COLORS])
    assert np.array_equal(grey.pictures, expected)
    assert np.abs(unbend.io.read_images(COLORS, color=False).pictures - expected).max() <= 1


def test_grey_files_get_three_equal_colours_when_asked(tmp_path):
    images = unbend.io.read_images(save(tmp_path / "set", GREY), color=True)
    assert np.array_equal(images.pictures, np.repeat(GREY[..., None], 3, axis=3))


def test_subfolders_are_the_label_and_other_files_are_left_alone(tmp_path):
    save(tmp_path / "ada", GREY[:2])
    save(tmp_path / "bo", GREY[2:4])
    (tmp_path / "ada" / "notes.txt").write_text("not an image")
    (tmp_path / ".hidden.png").write_bytes(b"not an image")
    images = unbend.io.read_images(tmp_path)
    assert images.table.label.tolist() == ["ada", "ada", "bo", "bo"]
    assert images.table.ids[0] == "ada/im0.png"


def test_a_mismatch_names_the_file(tmp_path):
    folder = save(tmp_path / "set", GREY)
    Image.fromarray(GREY[0].T).save(folder / "im3.png")
    with pytest.raises(ValueError, match=r"im3\.png is 5 x 7 and im0\.png, the first .* is 7 x 5"):
        unbend.io.read_images(folder)
    Image.fromarray(COLORS[0]).save(folder / "im3.png")
    with pytest.raises(ValueError, match=r"im3\.png is in colour and im0\.png, the first .*grey"):
        unbend.io.read_images(folder)
    Image.fromarray(GREY[0].astype(np.uint16)).save(folder / "im3.png")
    with pytest.raises(ValueError, match=r"im3\.png has 16 bits .* im0\.png, .* has 8"):
        unbend.io.read_images(folder)


def test_sixteen_bits_are_kept(tmp_path):
    deep = np.random.default_rng(0).integers(0, 65536, (3, 5, 7), dtype=np.uint16)
    assert np.array_equal(unbend.io.read_images(save(tmp_path / "set", deep)).pictures, deep)


def strokes():
    writing = np.full((6, 8, 8), 255, dtype=np.uint8)
    writing[np.arange(6), np.arange(6)] = 0
    return writing


def test_mostly_white_drawings_are_inverted_with_a_warning(tmp_path):
    folder = save(tmp_path / "set", strokes())
    for source in (folder, strokes(), strokes() > 0):
        with pytest.warns(UserWarning, match="mostly white: black and white were inverted"):
            images = unbend.io.read_images(source)
        assert images.inverted
        assert np.array_equal(images.pictures > 0, strokes() == 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not unbend.io.read_images(folder, invert=False).inverted
        assert not unbend.io.read_images(255 - strokes()).inverted
        assert not unbend.io.read_images(GREY).inverted


def test_an_image_that_a_camera_marked_as_turned_is_turned(tmp_path):
    exif = Image.Exif()
    exif[274] = 6
    Image.fromarray(GREY[0]).save(tmp_path / "a.png", exif=exif)
    images = unbend.io.read_images([tmp_path / "a.png"])
    assert np.array_equal(images.pictures[0], np.rot90(GREY[0], -1))


def idx(array):
    head = bytes([0, 0, 8, array.ndim])
    return head + np.array(array.shape, ">u4").tobytes() + array.tobytes()


def test_arrays_come_from_memory_npy_npz_and_idx(tmp_path):
    npy, npz = io.BytesIO(), io.BytesIO()
    np.save(npy, GREY)
    np.savez(npz, images=GREY, labels=np.arange(12))
    packed = gzip.compress(idx(GREY))
    for content in (npy.getvalue(), npz.getvalue(), idx(GREY), packed):
        assert np.array_equal(unbend.io.read_images(io.BytesIO(content)).pictures, GREY)
    with pytest.raises(ValueError, match="damaged or cut off IDX"):
        unbend.io.read_images(io.BytesIO(idx(GREY)[:-1]))
    with pytest.raises(ValueError, match=r"shape \(3, 3\)"):
        unbend.io.read_images(np.eye(3))


def test_estimators_take_images():
    flat = unbend.PCA(n_components=2).fit_transform(unbend.io.read_images(GREY))
    expected = unbend.PCA(n_components=2).fit_transform(GREY.reshape(12, -1).astype(np.float32))
    assert np.array_equal(flat, expected)


def test_what_is_no_folder_or_image_is_refused(tmp_path):
    (tmp_path / "a.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n")
    with pytest.raises(ValueError, match=r"a\.png is damaged, or no image"):
        unbend.io.read_images(tmp_path)
    (tmp_path / "a.png").unlink()
    os.mkfifo(tmp_path / "b.png")
    with pytest.raises(ValueError, match="holds no images"):
        unbend.io.read_images(tmp_path)
    with pytest.raises(FileNotFoundError, match="no file"):
        unbend.io.read_images(tmp_path / "absent")


def test_new_images_are_inverted_as_those_before_whatever_they_hold():
    before = unbend.io.read_images(np.array([[[0, 100], [200, 255]]], dtype=np.uint8), invert=True)
    kept = json.loads(json.dumps(before.kind()))
    new = np.array([[[10, 20], [30, 40]]], dtype=np.uint8)
    for like in (before, kept):
        again = unbend.io.read_images(new, like=like)
        assert again.values.tolist() == [[245, 235, 225, 215]]
        assert again.inverted
    colored = unbend.io.read_images(np.zeros((2, 2, 2, 3), dtype=np.uint8))
    assert unbend.io.read_images(new, like=colored).size == (2, 2, 3)
    with pytest.raises(ValueError, match="new images are 3 x 2 and those before are 2 x 2"):
        unbend.io.read_images(np.zeros((1, 2, 3)), like=before)


@pytest.mark.parametrize("mode", ["1", "P", "RGB"])
def test_scans_are_inverted_however_black_and_white_are_stored(mode, tmp_path):
    strokes = np.full((3, 8, 8), 255, dtype=np.uint8)
    for place in range(3):
        strokes[place, place] = 0
        Image.fromarray(strokes[place]).convert(mode).save(tmp_path / f"{place}.png")
    with pytest.warns(UserWarning, match="were inverted"):
        images = unbend.io.read_images(tmp_path)
    assert images.inverted
    assert np.array_equal(images.pictures.reshape(3, 8, 8, -1)[..., 0], 255 - strokes)


def test_colours_of_two_values_are_no_scans():
    red = np.zeros((2, 4, 4, 3), dtype=np.uint8) + np.array([255, 255, 0], dtype=np.uint8)
    assert not unbend.io.read_images(red).inverted


def test_digits_of_other_scripts_are_letters_of_a_name(tmp_path):
    for name in ("10.png", "2.png", "\u0663.png", "\u00b2a.png", "9" * 30 + ".png"):
        Image.fromarray(GREY[0]).save(tmp_path / name)
    ids = unbend.io.read_images(tmp_path).table.ids.tolist()
    assert ids[:3] == ["2.png", "10.png", "9" * 30 + ".png"]


def test_lists_may_mix_paths_and_names_but_not_sizes(tmp_path):
    save(tmp_path, GREY)
    paths = [tmp_path / "im0.png", str(tmp_path / "im1.png")]
    assert np.array_equal(unbend.io.read_images(paths).pictures, GREY[:2])
    with pytest.raises(ValueError, match="different sizes"):
        unbend.io.read_images([GREY[0], GREY[1, :3]])
