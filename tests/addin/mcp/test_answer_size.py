"""An answer never takes more than a client accepts; it says what is left and how to go on."""

import csv
import json
import re
import time
from datetime import date, timedelta

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addin.mcp.answer_size import MAX_BYTES, MAX_TOKENS, fits, shortened, tokens_at_most
from addin.mcp.runner import ToolFailure
from addin.mcp.server import _described
from addin.mcp.texts import in_words_of_tools
from addin.mcp.tools import TOOLS
from addin.mcp.tools.rows import meaningful
from dataservice import errors
from dataservice.server import Store, import_directory, running, write_sample
from tests.addin.mcp.agents import client_of
from tests.addin.mcp.test_tools import runner
from tests.embedded import EmbeddedService
from udfs.errors import error_cell

CLIENTS_ACCEPT_TOKENS = 25_000
DAYS = 4_000


@pytest.fixture(scope="module")
def long_service(tmp_path_factory):
    """A service with a series of 4,000 days, 1,000 further signals, and a post as long as a book."""
    folder = tmp_path_factory.mktemp("long")
    write_sample(folder / "data", as_of=date(2026, 8, 18))
    first = date(2026, 8, 18) - timedelta(days=DAYS - 1)
    header = (folder / "data" / "signals.csv").read_text().splitlines()[0].split(",")
    with (folder / "data" / "signals.csv").open("a", newline="") as file:
        for slug in ["long", *(f"other-{number}" for number in range(1_000))]:
            row = {"slug": slug, "name": f"Signal {slug}", "category": "x", "signal_type": "x", "source": "x"}
            csv.DictWriter(file, header).writerow({**row, "is_premium": "false"})
    lines = [f"{first + timedelta(days=day)},{335.123 + day * 0.27}\n" for day in range(DAYS)]
    (folder / "data" / "observations" / "long.csv").write_text("observed_at,value\n" + "".join(lines))
    with (folder / "data" / "codex.jsonl").open() as file:
        post = json.loads(file.readline())
    with (folder / "data" / "codex.jsonl").open("a") as file:
        file.write(json.dumps({**post, "slug": "book", "body_md": "many words " * 20_000}) + "\n")
    with Store(folder / "service.db") as store:
        import_directory(store, folder / "data")
        with running(store) as service:
            yield EmbeddedService(service, store.create_key("pro"), "")


def size_in_tokens(result) -> float:
    """What a client measures: its text and its structured content, four bytes a token."""
    return 2 * len(orjson.dumps(result)) / 4


async def test_of_many_rows_the_newest_are_shown_and_the_others_follow_from_the_end_it_names(long_service):
    async with runner(long_service) as agent:
        found = await agent.ask("get_observations", slug="long", start="MAX", limit=10_000)
        seen = {day for day, _ in found["rows"]}
        assert (found["total"], found["rows"][-1][0]) == (DAYS, "2026-08-18")
        while "next" in found:
            assert size_in_tokens(found) < CLIENTS_ACCEPT_TOKENS
            found = await agent.ask("get_observations", **{"slug": "long", "limit": 10_000, **found["next"]})
            assert not seen & {day for day, _ in found["rows"]}
            seen |= {day for day, _ in found["rows"]}
        assert len(seen) == DAYS


async def test_of_many_records_the_first_are_shown_and_the_others_follow_from_the_offset_it_names(long_service):
    async with runner(long_service) as agent:
        seen, offset = set(), 0
        while True:
            found = await agent.ask("list_signals", limit=1_000, offset=offset, fields=["*"])
            assert size_in_tokens(found) < CLIENTS_ACCEPT_TOKENS
            seen |= {signal["slug"] for signal in found["signals"]}
            if "next" not in found:
                break
            offset = found["next"]["offset"]
        assert len(seen) == found["total"] > 1_000


async def test_a_text_that_is_too_long_comes_in_parts_and_each_says_where_the_next_begins(long_service):
    async with runner(long_service) as agent:
        whole, part = "", await agent.ask("list_posts", slug="book")
        while True:
            assert size_in_tokens(part) < CLIENTS_ACCEPT_TOKENS
            whole += part["posts"][0]["body_md"]
            if "next" not in part:
                break
            offset = part["next"]["text_offset"]
            assert offset == len(whole)
            part = await agent.ask("list_posts", slug="book", text_offset=offset)
            assert part["requests"] == 0
    assert len(whole) == 220_000
    assert whole.startswith("many words")


async def test_the_catalogue_resource_is_bounded_and_names_the_tool_that_finds_the_rest(
    long_service, tmp_path, monkeypatch
):
    monkeypatch.setenv("DATA_SERVICE_API_KEY", long_service.key)
    async with client_of(long_service, tmp_path) as client:
        (content,) = (await client.read_resource("dataservice://catalogue")).contents
    assert tokens_at_most(content.text.encode()) < CLIENTS_ACCEPT_TOKENS
    assert content.text.splitlines()[-1].endswith("more: find them with list_signals")


async def test_a_hundred_thousand_fields_are_refused_or_counted_once(shared_service):
    async with runner(shared_service) as agent:
        with pytest.raises(ToolFailure, match="fields takes at most 1,000 names, not 100,000"):
            await agent.ask("list_wire", fields=["*"] * 100_000)
        with pytest.raises(ToolFailure, match="fields has 1,000 names; at most 200 are allowed"):
            await agent.ask("list_wire", fields=["*"] * 1_000)
        before = time.process_time()
        found = await agent.ask("list_wire", fields=["*"] * 200, limit=200)
        assert found["items"]
        assert time.process_time() - before < 5


def test_what_a_model_reads_of_the_tools_takes_less_than_5000_tokens():
    listed = [_described(tool).model_dump(by_alias=True, exclude_none=True, mode="json") for tool in TOOLS]
    assert len(orjson.dumps(listed)) / 4 < 9_000
    read = [{name: each[name] for name in ("name", "description", "inputSchema")} for each in listed]
    assert len(orjson.dumps(read)) / 4 < 5_000


TEXT = st.text(max_size=300) | st.text(st.characters(), max_size=300).map(lambda text: text * 500)
VALUES = st.none() | st.floats(allow_nan=False) | TEXT | st.lists(TEXT, max_size=5)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES), max_size=30), st.integers(0, 1_000))
def test_whatever_the_records_hold_the_answer_fits_and_skips_none(records, offset):
    found = {"items": records, "total": len(records), "requests": 1}
    result = shortened(found, "items", lambda count: {"offset": offset + count})
    assert fits(result)
    shown = len(result["items"])
    if shown < len(records):
        assert shown > 0
        assert result["next"] == {"offset": offset + shown}


def test_of_many_rows_each_is_looked_at_once():
    rows = [[f"2026-01-01T{number:09}", 335.123 + number] for number in range(10_000)]

    def seconds(work, *given):
        began = time.process_time()
        work(*given)
        return time.process_time() - began

    whole = shortened({"rows": rows, "requests": 1}, "rows")
    once = min(seconds(fits, whole) for _ in range(9))
    assert min(seconds(shortened, {"rows": rows, "requests": 1}, "rows") for _ in range(9)) < 20 * once


@given(st.text(alphabet='abcXYZ0189 .,"{é€😀\n', max_size=40) | st.text(st.characters(codec="utf-8"), max_size=40))
def test_three_letters_three_digits_or_one_other_sign_count_for_one_and_what_is_not_ascii_for_two(text):
    pieces = re.findall(r"[a-zA-Z]{1,3}|[0-9]{1,3}|[^a-zA-Z0-9 ]", text)
    assert tokens_at_most(text.encode()) == len(pieces) + sum(not piece.isascii() for piece in pieces)


def test_tokens_are_counted_on_the_safe_side():
    assert tokens_at_most(b'["2026-05-01",335.123],') >= 14
    assert tokens_at_most(b"a plain sentence of seven words") >= 7
    assert MAX_TOKENS < CLIENTS_ACCEPT_TOKENS
    assert 2 * MAX_BYTES / 4 < CLIENTS_ACCEPT_TOKENS


@pytest.mark.parametrize(("raw", "shown"), [(0.27000000000001023, 0.27), (1e-9 / 3, 3.333333333e-10), (-5.0, -5.0)])
def test_computed_values_have_meaningful_digits_only(raw, shown):
    assert meaningful(raw) == shown


async def test_a_change_has_the_digits_of_its_values(long_service):
    async with runner(long_service) as agent:
        found = await agent.ask("get_signal", slug="long", history=2)
        rows = await agent.ask("get_observations", slug="long", limit=50, transform="diff")
    assert found["change"] == pytest.approx(0.27)
    assert len(repr(found["pct_change"])) <= 16
    assert max(len(repr(value)) for _, value in rows["rows"]) <= 13


CELL_WORDS = ("SIGNALS", "Refresh", "task pane", "cell", "formula", "Explain")


@pytest.mark.parametrize(
    "error",
    [
        errors.MissingKeyError("m"),
        errors.AuthenticationError("m"),
        errors.TierError("m", tier="free"),
        errors.QuotaExceededError("m"),
        errors.BudgetError("m"),
        errors.NotFoundError("m"),
        errors.ServerFailedError("m"),
        errors.InvalidRequestError("m"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_no_message_names_what_only_a_sheet_has(error):
    told = in_words_of_tools(error_cell(error, "list_wire").message)
    assert [word for word in CELL_WORDS if word in told] == []


async def test_an_unknown_signal_is_told_with_the_tool_that_finds_it(shared_service):
    async with runner(shared_service) as agent:
        with pytest.raises(ToolFailure, match="list_signals lists and searches those there are"):
            await agent.ask("get_observations", slug="zzzzqqqq")
