"""The demo's first sight against pictures that were looked at, kept small, so that another font changes little.

`KEEP_PICTURES=yes` in the environment keeps those of now instead: look at them before you commit them.
"""

import base64
import os
from pathlib import Path

import pytest

from tests.addin.sheet.parts.pages import SETTLED, opened_sheet, sheet_server

pytestmark = pytest.mark.usefixtures("component")

KEPT = Path(__file__).parent / "pictures"
WIDTHS = {"light": 1440, "dark": 1440, "narrow": 400}
ACROSS = 120
"""Points of a kept picture across: letters become grey, what has a colour or is missing stays to be seen."""

MOST_DIFFERENT = 0.03
"""So much of a picture may differ by more than a shade: machines have other fonts."""

SMALL = """async ([picture, across]) => {
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${picture}`)).blob());
  const canvas = new OffscreenCanvas(across, Math.round((across * image.height) / image.width));
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
}"""
DIFFERENT = """async (pictures) => {
  const points = await Promise.all(pictures.map(async (picture) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${picture}`)).blob());
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height).data;
  }));
  const [one, other] = points;
  if (one.length !== other.length) return 1;
  let different = 0;
  for (let at = 0; at < one.length; at += 4) {
    if ([0, 1, 2].some((part) => Math.abs(one[at + part] - other[at + part]) > 48)) different += 1;
  }
  return (4 * different) / one.length;
}"""


def small_picture(chromium, url: str, name: str) -> str:
    """Return the demo's dashboard as a small PNG in Base64."""
    scheme = "dark" if name == "dark" else "light"
    with opened_sheet(chromium, url, width=WIDTHS[name], height=860, color_scheme=scheme) as page:
        page.until(f"{SETTLED} && document.querySelector('.o-figure canvas') !== null")
        page.settle()
        taken = base64.b64encode(page.run(lambda inner: inner.screenshot(animations="disabled"))).decode()
    with chromium.page() as blank:
        return blank.evaluate(SMALL, [taken, ACROSS])


@pytest.mark.parametrize("name", WIDTHS)
def test_the_dashboard_looks_as_it_did_when_it_was_looked_at(chromium, service, dashboard, tmp_path, name):
    with sheet_server(service, tmp_path, dashboard) as url:
        now = small_picture(chromium, url, name)
    if "KEEP_PICTURES" in os.environ:
        (KEPT / f"{name}.png").write_bytes(base64.b64decode(now))
    kept = base64.b64encode((KEPT / f"{name}.png").read_bytes()).decode()
    with chromium.page() as blank:
        assert blank.evaluate(DIFFERENT, [now, kept]) <= MOST_DIFFERENT
