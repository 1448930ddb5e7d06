"""The stand-in for Excel as one script: sheets that calculate, shown as Office shows them."""

from tests.project.files import PROJECT

OFFICE = "".join((PROJECT / "tests/node" / name).read_text(encoding="utf-8") for name in ("sheets.js", "excel.js"))
