"""Reports say in plain words what was done, what it cost and what is not as it should be."""

from addin.calc.component.report import explained, in_one_line, refreshed, state
from addin.calc.component.response_cache import CachedAnswer


def status(used: int, remaining: int) -> dict:
    return {"quota": {"tier": "pro", "cap": 50_000, "remaining": remaining, "used_here": used}, "version": "1.2"}


def test_a_refresh_tells_what_it_spent():
    report = refreshed(1, status(11, 39_999), 0, [])
    assert report == "Refreshed: 1 request spent, 39,999 left this month."


def test_a_refresh_tells_of_tables_and_troubles():
    report = refreshed(2, status(12, 39_998), 1, ["no signal 'x'", "no API key"])
    assert "2 requests spent" in report
    assert "1 table got another size." in report
    assert report.endswith(" • no signal 'x'\n • no API key")


def test_a_refresh_without_a_known_allowance_tells_none():
    assert refreshed(4, {"quota": None}, 0, []) == "Refreshed: 4 requests spent."


def test_the_bar_shows_the_first_trouble_and_how_many_more_there_are():
    report = refreshed(0, status(1, 9), 0, ["no signal 'x'", "no API key"])
    assert in_one_line(report).endswith("Problems: no signal 'x' (and 1 more: see Status)")
    assert in_one_line("Refreshed: done.") == "Refreshed: done."


def test_the_state_tells_where_the_backend_is_and_whether_a_key_is_set():
    known = {**status(1, 412), "service": "https://api.example", "key": {"set": True, "source": "keychain"}}
    report = state("http://localhost:8765", known, ["no signal 'x'"])
    for part in ("http://localhost:8765", "https://api.example", "keychain", "412 of 50,000", "no signal 'x'"):
        assert part in report
    assert "none; set one" in state("http://localhost:8765", {"key": {"set": False}}, [])


def test_a_cell_is_explained_by_its_calls():
    table = CachedAnswer(((1.0, 2.0), (3.0, 4.0)), 0, "", ())
    calls = [
        (("SIGNAL", "x"), CachedAnswer(0.0, 0, "no signal 'x'", ())),
        (("SIGNAL_HISTORY", (("a",), ("b",)), "-1Y", None, 3.0), table),
        (("QUOTA",), None),
    ]
    assert explained("Sheet1.A1", "DS", calls).split("\n") == [
        "Sheet1.A1",
        "DS.SIGNAL(\"x\"): no signal 'x'",
        'DS.SIGNAL_HISTORY(2 × 1 cells, "-1Y", , 3): a table of 2 rows and 2 columns',
        "DS.QUOTA(): not asked yet",
    ]
    assert explained("Sheet1.A1", "DS", []) == "Sheet1.A1 calls none of the DS functions."
