"""A short run over formulas with Excel's own results; the long one is a command of its own."""

from pathlib import Path

import pytest

from tests.attack.workbooks.excel_lines.lines import LINES, Way, is_right, read_lines
from tests.attack.workbooks.excel_lines.measure import measure, sample
from udfs.errors import CellError, ErrorCode


@pytest.mark.skipif(not LINES.exists(), reason="Excel's own results are not there")
@pytest.mark.parametrize("way", list(Way))
async def test_what_is_written_is_what_excel_shows(tmp_path: Path, way: Way):
    lines = sample(read_lines(), 60)
    found = await measure(lines, way, tmp_path)
    assert sum(found.counts[name] for name in ("right", "left", "written wrong")) == len(lines)
    assert found.wrong == []
    assert found.counts["right"] >= 0.9 * len(lines)


def test_values_are_compared_as_a_sheet_shows_them():
    assert is_right(0.30000000000000004, 0.3)
    assert is_right(12.34564, 12.3456)
    assert is_right(CellError(ErrorCode.NA, "#DIV/0!"), {"error": "#DIV/0!"})
    assert is_right(None, 0.0)
    assert not is_right(1.0, True)  # noqa: FBT003
    assert not is_right("1", 1.0)
