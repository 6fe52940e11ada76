"""Memory of large inputs, measured in processes of their own."""

import subprocess
import sys

import numpy as np
import pytest

PEAK = """
import resource, sys
import numpy as np
import unbend
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = peak()
{work}
print(peak() - before)
"""


def peak_of(work: str) -> int:
    command = [sys.executable, "-c", PEAK.format(work=work)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.slow
def test_ten_thousand_images_take_little_more_than_their_table(tmp_path):
    from PIL import Image

    rng = np.random.default_rng(0)
    for place in range(10_000):
        Image.fromarray(rng.integers(0, 256, (64, 64), dtype=np.uint8)).save(
            tmp_path / f"{place}.png"
        )
    table = 10_000 * 64 * 64 * 4
    assert peak_of(f"images = unbend.io.read_images({str(tmp_path)!r})") < 1.3 * table + 50e6


@pytest.mark.slow
@pytest.mark.parametrize("order", [(2, 0, 1), (0, 2, 1), (0, 1, 2)])
def test_a_cube_of_a_gigabyte_takes_no_more_than_its_table_and_its_file(order, tmp_path):
    lines, samples, bands = 1000, 1000, 500
    name = {(2, 0, 1): "bsq", (0, 2, 1): "bil", (0, 1, 2): "bip"}[order]
    (tmp_path / "scene.hdr").write_text(
        f"ENVI\nsamples = {samples}\nlines = {lines}\nbands = {bands}\ndata type = 2\n"
        f"interleave = {name}\n"
    )
    stored = np.memmap(tmp_path / "scene.img", "<i2", "w+", shape=(lines * samples * bands,))
    for start in range(0, len(stored), 10_000_000):
        stored[start : start + 10_000_000] = np.arange(10_000_000) % 1000
    del stored
    work = f"table = unbend.io.read_cube({str(tmp_path / 'scene.hdr')!r}).pixels()"
    # Pages of the mapped file count as well, though the system may take them back.
    assert peak_of(work) < (2 + 1) * 1e9 + 400e6
