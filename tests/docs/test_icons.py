"""The icons that are kept are the ones described."""

import struct
import zlib

import pytest

from docs.generate.pictures.icons import FILES, ICONS, png


def pixels(content: bytes) -> tuple[tuple[int, int], bytes]:
    """Width and height of a PNG with one data chunk, and its unpacked lines."""
    size = struct.unpack(">II", content[16:24])
    start = content.index(b"IDAT")
    (length,) = struct.unpack(">I", content[start - 4 : start])
    return size, zlib.decompress(content[start + 4 : start + 4 + length])


@pytest.mark.parametrize("icon", ICONS)
@pytest.mark.parametrize(("folder", "size"), FILES)
def test_the_kept_file_shows_what_is_described(icon, folder, size):
    kept = (folder / f"{icon}-{size}.png").read_bytes()
    assert pixels(kept) == pixels(png(icon, size))
    assert pixels(kept)[0] == (size, size)


@pytest.mark.parametrize("icon", ICONS)
def test_an_icon_is_clear_in_its_corners_and_covered_in_its_middle(icon):
    _, lines = pixels(png(icon, 64))
    stride = 1 + 4 * 64
    alpha = [[lines[row * stride + 1 + 4 * column + 3] for column in range(64)] for row in range(64)]
    assert {alpha[0][0], alpha[0][63], alpha[63][0], alpha[63][63]} == {0}
    assert alpha[32][32] == 255
