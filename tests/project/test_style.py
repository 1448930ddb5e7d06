"""The sizes and habits of `CONTRIBUTING.md` that no linter holds."""

import statistics

from tests.project.files import files_ending, functions, length, lines_matching, read, text_files

PYTHON = files_ending(".py")
CODE = files_ending(".py", ".js")
REAL_TIME = ("tests/attack", "tests/road")
"""Programs that wait for other processes in real time, and what stands for distance; their short tests do not sleep."""
TESTS = tuple(
    path
    for path in PYTHON
    if path.parts[0] == "tests" and (path.name.startswith("test_") or not path.as_posix().startswith(REAL_TIME))
)
MAX_LINES = 500
"""One idea may need as many. Most files are far shorter, and a class is never cut to fit."""
USUAL_LINES = 400
MAX_FUNCTION_LINES = 50


def test_no_file_has_more_than_500_lines():
    assert {str(path): lines for path in CODE if (lines := len(read(path).splitlines())) > MAX_LINES} == {}


def test_99_files_of_100_have_at_most_400_lines():
    longer = [path for path in CODE if len(read(path).splitlines()) > USUAL_LINES]
    assert len(longer) <= len(CODE) / 100


def test_a_function_fits_on_one_screen():
    long = {f"{path}:{f.name}": length(f) for path in PYTHON for f in functions(path) if length(f) > MAX_FUNCTION_LINES}
    assert long == {}


def test_half_of_all_functions_have_at_most_ten_lines():
    assert statistics.median(length(f) for path in PYTHON for f in functions(path)) <= 10


def test_half_of_all_files_have_at_most_150_lines():
    assert statistics.median(len(read(path).splitlines()) for path in CODE) <= 150


def test_nothing_is_left_unfinished():
    # The classes in brackets keep this line itself from matching.
    assert lines_matching(r"\bTO[D]O\b|\bFIX[M]E\b|\bXX[X]\b|raise NotImplemented[E]rror", text_files()) == []


def test_no_test_sleeps():
    assert lines_matching(r"\btime\.slee[p]\(|\basyncio\.slee[p]\((?!0\))", TESTS) == []


def test_no_test_patches_what_is_not_ours():
    foreign = r"asyncio|cachetools|httpx|lxml|openpyxl|orjson|os|pandas|redis|sqlalchemy|sqlite3|time|xlwings"
    assert lines_matching(rf"mock\.patc[h]|monkeypatch\.setattr\(\W*({foreign})\b", TESTS) == []
