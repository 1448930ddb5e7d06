"""The picture of Calc with the template: `python -m docs.generate.pictures.calc`.

Needs LibreOffice, Xvfb and xdotool. Run it when the template or Calc's menu looks different; nothing compares it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from matplotlib.image import imsave

from addin.calc.extension import Extension
from addin.cli.demo_server import running_demo
from docs.generate.pages import DOCS
from docs.generate.pictures.workbook import TEMPLATE
from tests.addin.calc.office import COMMAND, running_office

__all__ = ["draw_calc"]

WIDTH, HEIGHT = 1280, 800

MENU_X, MENU_Y = 424, 10
"""Where the menu Data Service stands in an English Calc."""

PAINTED_S = 2
"""The window is painted a moment after the menu was asked for, and tells nobody."""


def draw_calc(target: Path) -> None:
    """Write the template's dashboard in a Calc with the extension, after a refresh and with its menu open."""
    with TemporaryDirectory() as folder, running_demo() as demo, _display() as (display, frame):
        book = Path(shutil.copy(TEMPLATE, folder))
        with running_office(Extension(url=demo.url), display=display) as office:
            office.load_visible(book.as_uri())
            office.activate("Dashboard")
            office.wait_for_values()
            office.dispatch(f"{COMMAND}refresh")
            window = ["search", "--sync", "--onlyvisible", "--name", book.name]
            _press(display, *window, "windowmove", "0", "0", "windowsize", str(WIDTH), str(HEIGHT))
            _press(display, "mousemove", str(MENU_X), str(MENU_Y), "click", "1", "sleep", str(PAINTED_S))
            imsave(target, _pixels(frame.read_bytes()))


def _press(display: str, *keys: str) -> None:
    subprocess.run(["xdotool", *keys], env={**os.environ, "DISPLAY": display}, check=True)  # noqa: S603, S607 - our own


@contextmanager
def _display() -> Iterator[tuple[str, Path]]:
    """A screen without a monitor, and the file that holds what it shows."""
    read, write = os.pipe()
    with TemporaryDirectory() as folder:
        screen = ["-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-fbdir", folder]
        command = ["Xvfb", "-displayfd", str(write), *screen, "-nolisten", "tcp", "-noreset"]
        with subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL) as server:  # noqa: S603 - our own
            os.close(write)
            try:
                with os.fdopen(read) as answer:
                    number = answer.readline().strip()
                yield f":{number}", Path(folder) / "Xvfb_screen0"
            finally:
                server.terminate()


def _pixels(dump: bytes) -> np.ndarray:
    """The picture in an X window dump: a header, a table of colours, then four bytes a pixel, blue first."""
    header = np.frombuffer(dump, dtype=">u4", count=25)
    size, width, height, line_bytes, colours = (int(header[place]) for place in (0, 4, 5, 12, 19))
    rows = np.frombuffer(dump, dtype=np.uint8, offset=size + 12 * colours, count=height * line_bytes)
    return rows.reshape(height, line_bytes)[:, : 4 * width].reshape(height, width, 4)[:, :, 2::-1].copy()


if __name__ == "__main__":
    draw_calc(DOCS / "images" / "calc.png")
