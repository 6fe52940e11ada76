"""Images of different sizes and depths, and arrays of images by name."""

import io
import struct
import warnings
import zlib

import h5py
import numpy as np
import pytest
import scipy.io
from PIL import Image

import unbend
from tests.io.test_images import GREY, save


def chunk(name: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(name + content))
    return struct.pack(">I", len(content)) + name + content + check


def deep_png(pixels) -> bytes:
    """Write 16 bits for each colour, which Pillow does not."""
    height, width, bands = pixels.shape
    head = struct.pack(">2I5B", width, height, 16, {3: 2, 4: 6}[bands], 0, 0, 0)
    lines = b"".join(b"\0" + line.astype(">u2").tobytes() for line in pixels)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


DEEP = np.random.default_rng(0).integers(0, 65536, (5, 7, 3)).astype(np.uint16)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.png", deep_png(DEEP)),
        ("b.png", deep_png(np.dstack([DEEP, DEEP[..., :1]]))),
        ("c.ppm", b"P6\n7 5\n65535\n" + DEEP.astype(">u2").tobytes()),
    ],
)
def test_sixteen_bit_colours_that_are_cut_give_a_warning(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.warns(UserWarning, match=f"{name} in 16 bits for each colour were read in 8"):
        images = unbend.io.read_images(tmp_path)
    assert np.abs(images.pictures[0] - DEEP / 257).max() <= 1
    assert np.array_equal(unbend.io.read_images(DEEP[None]).pictures[0], DEEP)


def test_colours_of_eight_bits_and_grey_of_sixteen_are_read_without_a_word(tmp_path):
    save(tmp_path / "colours", [(DEEP >> 8).astype(np.uint8)])
    save(tmp_path / "plain", [(DEEP >> 8).astype(np.uint8)], ".ppm")
    save(tmp_path / "grey", [DEEP[..., 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for folder in ("colours", "plain", "grey"):
            unbend.io.read_images(tmp_path / folder)


def mixed(folder):
    save(folder, GREY[:3])
    rng = np.random.default_rng(1)
    for place, shape in enumerate([(11, 9), (30, 42), (5, 7)]):
        pixels = rng.integers(0, 256, shape, dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"other{place}.png")
    return folder


def test_images_of_different_sizes_are_brought_to_one_as_pillow_does(tmp_path):
    folder = mixed(tmp_path / "set")
    with pytest.raises(ValueError, match=r"other0\.png is 9 x 11 and im0\.png.* by size="):
        unbend.io.read_images(folder)
    images = unbend.io.read_images(folder, size=(4, 6))
    assert images.size == (4, 6)
    for name, pixels in zip(images.table.ids, images.pictures, strict=True):
        expected = Image.open(folder / name).resize((6, 4), Image.Resampling.BILINEAR)
        # Of grey images Pillow rounds the numbers twice: along the lines, and then across.
        assert np.abs(np.asarray(expected, dtype=float) - pixels).max() <= 1


def test_an_image_of_the_size_asked_for_is_left_as_it_is(tmp_path):
    images = unbend.io.read_images(save(tmp_path / "set", GREY), size=(5, 7))
    assert np.array_equal(images.pictures, GREY)


def test_smaller_images_are_means_and_keep_constants_and_ramps():
    flat = np.full((2, 12, 9), 7.25)
    assert np.allclose(unbend.io.read_images(flat, size=(5, 4)).pictures, 7.25)
    ramp = np.broadcast_to(np.arange(64.0), (2, 8, 64))
    small = unbend.io.read_images(ramp, size=(8, 16)).pictures
    # Of a ramp, away from the border, a mean with even weights is the middle.
    assert np.allclose(small[..., 2:-2], np.arange(16)[2:-2] * 4 + 1.5, atol=1e-4)


def test_lists_and_colours_and_deep_images_are_resampled(tmp_path):
    rng = np.random.default_rng(0)
    listed = [rng.random((5, 7, 3)), rng.random((9, 4, 3))]
    with pytest.raises(ValueError, match=r"different sizes: bring all to one .* by size="):
        unbend.io.read_images(listed)
    images = unbend.io.read_images(listed, size=(6, 6))
    assert images.size == (6, 6, 3)
    alone = unbend.io.read_images([item[..., 1] for item in listed], size=(6, 6))
    assert np.array_equal(images.pictures[..., 1], alone.pictures)
    deep = [rng.integers(0, 65536, shape).astype(np.uint16) for shape in [(5, 7), (6, 6)]]
    found = unbend.io.read_images(save(tmp_path / "deep", deep), size=(6, 6))
    assert np.array_equal(found.pictures[1], deep[1])


def test_scans_are_inverted_before_they_are_grey(tmp_path):
    writing = np.full((6, 16, 16), 255, dtype=np.uint8)
    writing[:, 7] = 0
    folder = save(tmp_path / "set", writing)
    with pytest.warns(UserWarning, match="black and white were inverted"):
        images = unbend.io.read_images(folder, size=(5, 5))
    assert images.inverted
    assert images.turned == 255
    assert images.pictures[0, 0].max() == 0 < images.pictures[0, 2].min()


def test_new_images_are_brought_to_the_size_of_those_before_where_that_was_asked_for():
    before = unbend.io.read_images(GREY, size=(4, 4))
    other = np.random.default_rng(0).random((2, 9, 9))
    for like in (before, before.kind()):
        new = unbend.io.read_images(other, like=like)
        assert np.array_equal(new.values, unbend.io.read_images(other, size=(4, 4)).values)
        assert new.resampled
    with pytest.raises(ValueError, match=r"those before are 7 x 5: resize them, or .* with size="):
        unbend.io.read_images(other, like=unbend.io.read_images(GREY))


@pytest.mark.parametrize("size", [5, (5,), (0, 4), (2.5, 3), "5x7", (True, 3)])
def test_a_size_is_two_integers(size):
    with pytest.raises(ValueError, match=r"must be \(height, width\)"):
        unbend.io.read_images(GREY, size=size)


def test_a_huge_size_is_refused():
    with unbend.memory_limit(10**7), pytest.raises(MemoryError, match="by size="):
        unbend.io.read_images(GREY, size=(30_000, 30_000))


def written(kind, arrays):
    out = io.BytesIO()
    if kind == "npz":
        np.savez(out, **arrays)
    elif kind == "mat":
        scipy.io.savemat(out, arrays)
    else:
        with h5py.File(out, "w") as file:
            for name, array in arrays.items():
                file[name] = array
    return io.BytesIO(out.getvalue())


@pytest.mark.parametrize("kind", ["npz", "mat", "hdf5"])
def test_arrays_of_images_are_named(kind):
    other = GREY[::-1].copy()
    images = unbend.io.read_images(written(kind, {"a": GREY, "y": np.arange(12.0)}))
    assert np.array_equal(images.pictures, GREY)
    both = {"a": GREY, "b": other}
    with pytest.raises(ValueError, match=r"a 12 x 5 x 7, b 12 x 5 x 7\): name one by array="):
        unbend.io.read_images(written(kind, both))
    images = unbend.io.read_images(written(kind, both), array="b")
    assert np.array_equal(images.pictures, other)
    with pytest.raises(ValueError, match="no array 'c': it holds a 12 x 5 x 7"):
        unbend.io.read_images(written(kind, both), array="c")
    with pytest.raises(ValueError, match="holds no array of images"):
        unbend.io.read_images(written(kind, {"a": GREY[0]}))


def test_an_array_of_what_has_none_is_refused(tmp_path):
    with pytest.raises(ValueError, match="files were given"):
        unbend.io.read_images(save(tmp_path / "set", GREY), array="a")
    with pytest.raises(ValueError, match="no file was given"):
        unbend.io.read_images(GREY, array="a")
    np.save(tmp_path / "a.npy", GREY)
    with pytest.raises(ValueError, match=r"a\.npy is none"):
        unbend.io.read_images(tmp_path / "a.npy", array="a")


@pytest.mark.parametrize("kind", ["npz", "mat", "hdf5"])
def test_matrices_are_named(kind):
    stack = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0))) * np.ones((3, 1, 1))
    held = {"near": stack, "far": 2 * stack[0]}
    found = unbend.io.read_matrices(written(kind, held), array="near")
    assert np.array_equal(np.stack(found.values), stack)
    assert len(unbend.io.read_matrices(written(kind, held))) == 4
    with pytest.raises(ValueError, match="no array 'x': it holds"):
        unbend.io.read_matrices(written(kind, held), array="x")
    with pytest.raises(ValueError, match="no file was given"):
        unbend.io.read_matrices(stack, array="near")
