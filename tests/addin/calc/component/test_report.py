"""Reports say in plain words what was done, what it cost and what is not as it should be."""

from addin.calc.component.report import explained, filled, in_one_line, revised_in, signals_in, state
from addin.calc.component.response_cache import CachedAnswer


def status(used: int, remaining: int) -> dict:
    return {"quota": {"tier": "pro", "cap": 50_000, "remaining": remaining, "used_here": used}, "version": "1.2"}


def test_a_refresh_tells_what_it_spent():
    report = filled("Refreshed", 1, status(11, 39_999), 0, [])
    assert report == "Refreshed: 1 request spent, 39,999 left this month."


def test_a_refresh_tells_of_tables_and_troubles():
    report = filled("Refreshed", 2, status(12, 39_998), 1, ["no signal 'x'", "no API key"])
    assert "2 requests spent" in report
    assert "1 table got another size." in report
    assert report.endswith(" • no signal 'x'\n • no API key")


def test_a_refresh_without_a_known_allowance_tells_none():
    assert filled("Refreshed", 4, {"quota": None}, 0, []) == "Refreshed: 4 requests spent."


def test_the_bar_shows_the_first_trouble_and_how_many_more_there_are():
    report = filled("Refreshed", 0, status(1, 9), 0, ["no signal 'x'", "no API key"])
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


def test_the_signals_of_a_cell_are_those_that_its_calls_name_as_text():
    calls = [("SIGNAL_HISTORY", "us-cpi, wb.gold", "-1Y"), ("SIGNAL", "us-cpi"), ("SIGNAL", (("x",),)), ("INDEX", "y")]
    assert signals_in(calls) == ["us-cpi", "wb.gold"]


def table(*rows):
    return {"columns": [{"type": "any", "values": list(column)} for column in zip(*rows, strict=True)]}


def test_the_revision_seen_last_is_told_with_its_looks():
    older, newer, new = (
        (46204, 1.5, 2.0, 46270.5, 46260.5),
        (46235, 104.2, 104.5, 46280.5, 46270.5),
        (46266, None, 1.0, 46290, 46280),
    )
    told = "us-cpi of 2026-08-01: 104.2 → 104.5 (+0.3), seen 2026-09-15, not before 2026-09-05"
    assert revised_in("us-cpi", table(newer, older, new)) == told
    vanished = (46235, 104.2, None, 46280.5, 46270.5)
    assert "104.2 vanished, seen 2026-09-15" in revised_in("us-cpi", table(vanished))
    assert revised_in("us-cpi", table(new)) is None
    assert revised_in("us-cpi", {"error": "#N/A", "message": "nobody looked"}) is None
    assert explained("A1", "DS", [(("SIGNAL", "us-cpi"), None)], [told]).split("\n")[-1] == f"Revised: {told}"
