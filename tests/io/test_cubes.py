"""ENVI and FITS cubes: hand-built bytes, and astropy as an oracle."""

import gzip
import io
import sys
from dataclasses import replace

import numpy as np
import pytest
from astropy.io import fits
from PIL import Image

import unbend

LINES, SAMPLES, BANDS = 3, 4, 5
TYPES = {1: "u1", 2: "i2", 3: "i4", 4: "f4", 5: "f8", 6: "c8", 9: "c16"} | {
    12: "u2",
    13: "u4",
    14: "i8",
    15: "u8",
}
# Which axes of (lines, samples, bands) come first in the file.
ORDERS = {"bsq": (2, 0, 1), "bil": (0, 2, 1), "bip": (0, 1, 2)}


def numbers(dtype):
    rng = np.random.default_rng(0)
    dtype = np.dtype(dtype)
    size = (LINES, SAMPLES, BANDS)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        native = dtype.newbyteorder("=")
        return rng.integers(limits.min, limits.max, size, native, endpoint=True)
    real = rng.standard_normal(size)
    return (real * (1 + 2j) if dtype.kind == "c" else real).astype(dtype)


def envi(folder, cube, number=5, interleave="bsq", order=0, more="", offset=0):
    header = folder / "scene.hdr"
    header.write_text(
        f"ENVI\ndescription = {{\n  samples = 99, of nothing}}\nsamples = {cube.shape[1]}\n"
        f"lines   = {cube.shape[0]}\nbands = {cube.shape[2]}\nheader offset = {offset}\n"
        f"data type = {number}\ninterleave = {interleave}\nbyte order = {order}\n{more}"
    )
    stored = cube.transpose(ORDERS[interleave]).astype(
        np.dtype(TYPES[number]).newbyteorder(">" if order else "<")
    )
    (folder / "scene.img").write_bytes(b"x" * offset + stored.tobytes())
    return header


@pytest.mark.parametrize("number", TYPES)
@pytest.mark.parametrize("interleave", ORDERS)
@pytest.mark.parametrize("order", [0, 1])
def test_every_sample_type_order_and_interleave_is_read(number, interleave, order, tmp_path):
    expected = numbers(TYPES[number])
    cube = unbend.io.read_cube(envi(tmp_path, expected, number, interleave, order, offset=7))
    assert np.array_equal(cube.data, expected)
    if expected.dtype.kind == "c":
        with pytest.raises(ValueError, match="complex numbers"):
            cube.pixels()
        cube, expected = replace(cube, data=np.abs(cube.data)), np.abs(expected)
    table = cube.pixels()
    small = number in (1, 2, 4, 12, 6)
    assert table.values.dtype == (np.float32 if small else np.float64)
    assert np.array_equal(table.values, expected.reshape(-1, BANDS).astype(table.values.dtype))
    assert np.array_equal(cube.bands().values, table.values.T)


def test_wavelengths_names_and_bad_bands(tmp_path):
    cube = numbers("f8")
    more = (
        "wavelength units = Nanometers\nwavelength = {400.5, 500,\n 600, 7e2, 800}\n"
        "band names = {a, b b,c, d, e}\nbbl = {1, 1, 0, 1, 1}\n"
    )
    read = unbend.io.read_cube(envi(tmp_path, cube, more=more))
    assert read.wavelengths.tolist() == [400.5, 500, 600, 700, 800]
    assert (read.unit, read.names) == ("Nanometers", ("a", "b b", "c", "d", "e"))
    assert read.pixels().columns == ("a", "b b", "d", "e")
    assert np.array_equal(read.pixels().values, cube[:, :, [0, 1, 3, 4]].reshape(-1, 4))
    assert read.bands().ids.tolist() == [400.5, 500, 700, 800]


def test_pixels_without_numbers_are_dropped_and_results_put_back(tmp_path):
    cube = numbers("i2")
    cube[0, 1, 2] = cube[2, 3] = -999
    read = unbend.io.read_cube(envi(tmp_path, cube, 2, "bil", more="data ignore value = -999\n"))
    kept = np.ones((LINES, SAMPLES), dtype=bool)
    kept[0, 1] = kept[2, 3] = False
    assert np.array_equal(read.kept, kept)
    table = read.pixels()
    assert np.array_equal(table.rows, np.flatnonzero(kept))
    assert np.array_equal(table.values, cube[kept])
    image = read.image(table.values[:, :3])
    assert np.array_equal(image[kept], cube[kept][:, :3])
    assert np.isnan(image[~kept]).all()
    labels = read.image(np.arange(10), fill=-1)
    assert (labels[~kept] == -1).all()
    assert labels.dtype.kind == "i"
    with pytest.raises(ValueError, match="one row for each of the 10 pixels"):
        read.image(np.zeros((12, 2)))


def test_batches_of_a_cube_are_its_pixels(tmp_path):
    cube = numbers("f4")
    cube[1, 1, 1] = np.nan
    read = unbend.io.read_cube(envi(tmp_path, cube, 4, "bip"))
    parts = list(unbend.io.batches(read, rows=5, missing="drop"))
    assert np.array_equal(np.vstack([part.values for part in parts]), read.pixels().values)
    assert np.array_equal(np.concatenate([part.rows for part in parts]), read.pixels().rows)


def test_header_and_data_find_each_other(tmp_path):
    cube = numbers("f8")
    header = envi(tmp_path, cube)
    for name in (header, tmp_path / "scene.img"):
        assert np.array_equal(unbend.io.read_cube(name).data, cube)
    (tmp_path / "scene.img").rename(tmp_path / "other")
    with pytest.raises(FileNotFoundError, match="no file of numbers beside"):
        unbend.io.read_cube(header)
    assert np.array_equal(unbend.io.read_cube(header, data=tmp_path / "other").data, cube)
    with pytest.raises(ValueError, match=r"neither FITS nor the header .*other\.hdr"):
        unbend.io.read_cube(tmp_path / "other")


def test_packed_data_are_unpacked(tmp_path):
    cube = numbers("f8")
    header = envi(tmp_path, cube, more="file compression = 1\n")
    data = tmp_path / "scene.img"
    data.write_bytes(gzip.compress(data.read_bytes()))
    assert np.array_equal(unbend.io.read_cube(header).data, cube)
    data.write_bytes(gzip.compress(b"x" * 100))
    with pytest.raises(ValueError, match="fewer than its header promises"):
        unbend.io.read_cube(header)


@pytest.mark.parametrize("type_", ["?", "u1", "i1", "i2", ">i4", "u8", "f2", "f4", ">f8", "c16"])
def test_what_is_written_as_envi_is_read(type_, tmp_path):
    image = numbers("f4" if type_ in "?f2" else type_).astype(type_)
    unbend.io.write_cube(
        tmp_path / "out.hdr",
        image,
        wavelengths=np.arange(5) + 0.1,
        names=["a", "b", "c", "d", "{e},"],
    )
    read = unbend.io.read_cube(tmp_path / "out.img")
    assert np.array_equal(read.data, image)
    assert np.array_equal(read.wavelengths, np.arange(5) + 0.1)
    assert read.names == ("a", "b", "c", "d", "e")


def test_results_become_pictures(tmp_path):
    ramp = np.linspace(-3, 5, 101).reshape(1, 101)
    unbend.io.write_cube(tmp_path / "one.png", ramp)
    grey = np.asarray(Image.open(tmp_path / "one.png"))
    assert np.array_equal(grey, np.rint(np.clip((np.arange(101.0) - 2) / 96, 0, 1) * 255)[None])
    three = np.dstack([ramp, -ramp, ramp])
    three[0, 50] = np.nan
    unbend.io.write_cube(tmp_path / "three.png", three)
    seen = np.asarray(Image.open(tmp_path / "three.png"))
    assert seen.shape == (1, 101, 4)
    assert np.array_equal(seen[0, :, 3] == 0, np.arange(101) == 50)
    exact = np.arange(12, dtype=np.uint8).reshape(3, 4)
    unbend.io.write_cube(tmp_path / "exact.png", exact)
    assert np.array_equal(np.asarray(Image.open(tmp_path / "exact.png")), exact)
    with pytest.raises(ValueError, match="one band or three and the image has 2"):
        unbend.io.write_cube(tmp_path / "two.png", np.zeros((3, 3, 2)))
    with pytest.raises(ValueError, match="extension that is not written"):
        unbend.io.write_cube(tmp_path / "two.jpg", np.zeros((3, 3)))


def fits_bytes(*parts):
    out = io.BytesIO()
    fits.HDUList(list(parts)).writeto(out)
    return out.getvalue()


@pytest.mark.parametrize("type_", ["u1", "i2", "i4", "i8", "f4", "f8", "u2", "u4", "u8"])
@pytest.mark.parametrize("packed", [False, True])
def test_cubes_that_astropy_writes_are_read(type_, packed, tmp_path):
    cube = numbers(type_)
    header = fits.Header({"CRVAL3": 400.0, "CDELT3": 2.5, "CRPIX3": 1.0, "CUNIT3": "nm"})
    content = fits_bytes(fits.PrimaryHDU(cube.transpose(2, 0, 1), header))
    path = tmp_path / "cube.fits"
    path.write_bytes(gzip.compress(content) if packed else content)
    read = unbend.io.read_cube(path)
    assert np.array_equal(read.pixels().values, cube.reshape(-1, BANDS).astype("f8"))
    assert read.wavelengths.tolist() == [400, 402.5, 405, 407.5, 410]
    assert read.unit == "nm"


def test_scaled_numbers_and_blanks_are_those_of_astropy(tmp_path):
    stored = np.arange(60, dtype=np.int16).reshape(BANDS, LINES, SAMPLES)
    part = fits.ImageHDU(stored)
    part.header["BLANK"] = 7
    part.header["BSCALE"], part.header["BZERO"] = 0.25, 3.0
    table = fits.BinTableHDU.from_columns([fits.Column("a", "D", array=np.arange(5000.0))])
    content = fits_bytes(fits.PrimaryHDU(), table, part)
    # astropy scales the array on writing; the bytes as they stand are then read by both.
    with fits.open(io.BytesIO(content)) as opened:
        expected = opened[2].data.transpose(1, 2, 0)
    cube = unbend.io.read_cube(io.BytesIO(content))
    assert np.array_equal(cube.kept, np.isfinite(expected).all(axis=2))
    assert np.allclose(cube.pixels().values, expected[cube.kept], rtol=1e-6)
    with pytest.raises(ValueError, match=r"part 1 of .* is not an image"):
        unbend.io.read_cube(io.BytesIO(content), part=1)
    with pytest.raises(ValueError, match="holds no part 9"):
        unbend.io.read_cube(io.BytesIO(content), part=9)


def test_one_image_is_a_cube_of_one_band_and_packed_images_are_refused():
    flat = np.arange(12.0).reshape(3, 4)
    assert unbend.io.read_cube(io.BytesIO(fits_bytes(fits.PrimaryHDU(flat)))).shape == (3, 4, 1)
    packed = fits.CompImageHDU(np.zeros((64, 64), dtype=np.int16))
    with pytest.raises(ValueError, match="packed image: unpack it with funpack"):
        unbend.io.read_cube(io.BytesIO(fits_bytes(fits.PrimaryHDU(), packed)))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("samples = 4", "", "does not say 'samples'"),
        ("samples = 4", "samples = -4", "samples = '-4' .* an integer of at least 1"),
        ("samples = 4", "samples = 0", "an integer of at least 1"),
        ("samples = 4", f"samples = {'9' * 5000}", "an integer"),
        ("samples = 4", "samples = 999999999999999999", "promises"),
        ("data type = 5", "data type = 7", "data type = '7' .* one of 1, 2"),
        ("interleave = bsq", "interleave = zip", "bsq, bil or bip"),
        ("header offset = 0", "header offset = 999", "promises"),
        ("ENVI", "IVNE", "is not an ENVI header"),
        ("byte order = 0", "byte order = 0\nwavelength = {1, x}", "2 entries under 'wavelength'"),
        ("byte order = 0", "byte order = 0\ndata ignore value = x", "must be a number"),
    ],
)
def test_a_malformed_header_is_refused_by_one_sentence(old, new, words, tmp_path):
    header = envi(tmp_path, numbers("f8"))
    header.write_text(header.read_text().replace(old, new, 1))
    with pytest.raises(ValueError, match=words) as refusal:
        unbend.io.read_cube(header)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 400


def test_unsigned_numbers_of_64_bits_keep_their_digits(tmp_path):
    stored = np.array([[[0, 5], [2**53 - 1, 2**64 - 1]]], dtype=np.uint64)
    fits.PrimaryHDU(stored).writeto(tmp_path / "u.fits")
    cube = unbend.io.read_cube(tmp_path / "u.fits")
    assert np.array_equal(cube.pixels().values.ravel(), stored.ravel().astype(float))


def test_a_packed_part_without_any_line_is_passed_over(tmp_path):
    held = np.arange(24.0).reshape(2, 3, 4)
    parts = [fits.PrimaryHDU(np.zeros(70 << 20, dtype=np.uint8)), fits.ImageHDU(held)]
    out = io.BytesIO()
    fits.HDUList(parts).writeto(out)
    cube = unbend.io.read_cube(io.BytesIO(gzip.compress(out.getvalue(), 1)))
    assert np.array_equal(cube.data, held.transpose(1, 2, 0))


def test_a_scale_that_is_no_number_is_refused():
    header = fits.Header({"NOTE": "much"})
    content = fits_bytes(fits.PrimaryHDU(numbers("i2"), header)).replace(b"NOTE  ", b"BSCALE")
    with pytest.raises(ValueError, match="BSCALE or BZERO is not a finite number"):
        unbend.io.read_cube(io.BytesIO(content))


def test_fits_without_astropy_names_the_extra(monkeypatch):
    content = fits_bytes(fits.PrimaryHDU(numbers("i2")))
    monkeypatch.setitem(sys.modules, "astropy.io.fits", None)
    with pytest.raises(ImportError, match=r"^reading FITS needs astropy: .*'unbend\[fits\]'$"):
        unbend.io.read_cube(io.BytesIO(content))


def test_a_byte_order_is_0_or_1(tmp_path):
    with pytest.raises(ValueError, match="byte order = '2' and it must be one of 0, 1"):
        unbend.io.read_cube(envi(tmp_path, numbers("f8"), order=2))


def test_a_header_that_may_be_of_two_files_is_not_guessed_at(tmp_path):
    first, second = numbers("f8"), numbers("f8") + 1
    unbend.io.write_cube(tmp_path / "scene.img", first)
    unbend.io.write_cube(tmp_path / "scene.dat", second)
    with pytest.raises(ValueError, match=r"scene\.img or of scene\.dat: name the data by data="):
        unbend.io.read_cube(tmp_path / "scene.hdr")
    cube = unbend.io.read_cube(tmp_path / "scene.hdr", data=tmp_path / "scene.dat")
    assert np.array_equal(cube.data, second)


@pytest.mark.parametrize(
    "lines",
    [
        ["400.5", "500", "600.25"],
        ["1 400.5", "2 500", "3 600.25"],
        ["400.5,", "500,", "", "600.25"],
    ],
)
def test_wavelengths_come_from_a_file_beside_the_header(lines, tmp_path):
    numbers = np.random.default_rng(0).random((2, 4, 3))
    unbend.io.write_cube(tmp_path / "scene.hdr", numbers)
    (tmp_path / "scene.wvl").write_text("\n".join(lines) + "\n")
    cube = unbend.io.read_cube(tmp_path / "scene.hdr")
    assert cube.wavelengths.tolist() == [400.5, 500.0, 600.25]
    assert cube.bands().ids.tolist() == [400.5, 500.0, 600.25]
    assert cube.names == ("400.5", "500", "600.25")
    unbend.io.write_cube(tmp_path / "own.hdr", numbers, wavelengths=[1.0, 2.0, 3.0])
    (tmp_path / "own.wvl").write_text("9\n9\n9\n")
    assert unbend.io.read_cube(tmp_path / "own.hdr").wavelengths.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("content", ["400\n500\n", "a\nb\nc\n", "400\n500\ninf\n"])
def test_a_wavelength_file_of_another_cube_is_refused(content, tmp_path):
    unbend.io.write_cube(tmp_path / "scene.hdr", np.ones((2, 4, 3)))
    (tmp_path / "scene.wvl").write_text(content)
    with pytest.raises(ValueError, match=r"scene.wvl has \d lines and needs 3 wavelengths"):
        unbend.io.read_cube(tmp_path / "scene.hdr")


def test_band_images_are_sums_of_virtual_band_images(tmp_path):
    """(5.13): P_l = P̄ + Σ w_il B_i, with the least error that d images can have."""
    rng = np.random.default_rng(1)
    mixture = rng.random((8, 9, 3)) @ rng.random((3, 12)) + 0.01 * rng.normal(size=(8, 9, 12))
    unbend.io.write_cube(tmp_path / "scene.hdr", mixture)
    cube = unbend.io.read_cube(tmp_path / "scene.hdr")
    model = unbend.PCA(n_components=3).fit(cube.bands().values)
    mean, images = model.mean_.reshape(8, 9), model.components_.reshape(3, 8, 9)
    sums = [mean + np.tensordot(weights, images, 1) for weights in model.embedding_]
    rebuilt = np.stack(sums, axis=2)
    bands = mixture.reshape(-1, 12).T
    left_out = np.linalg.svd(bands - bands.mean(axis=0), compute_uv=False)[3:]
    assert np.linalg.norm(rebuilt - mixture) == pytest.approx(np.linalg.norm(left_out), rel=1e-9)
    # As feature images, of pixels as rows: the scores put back where the pixels were.
    pixels = unbend.PCA(n_components=3).fit(cube.pixels().values)
    flat = mixture.reshape(-1, 12) - mixture.reshape(-1, 12).mean(axis=0)
    axes = np.linalg.svd(flat, full_matrices=False)[2][:3]
    axes *= np.sign(np.sum(axes * pixels.components_, axis=1))[:, None]
    expected = (flat @ axes.T).reshape(8, 9, 3)
    np.testing.assert_allclose(cube.image(pixels.embedding_), expected, atol=1e-10)
