"""The made-up data set: clearly made up, the same for everyone, and rich enough for a demo."""

import csv
import json
from datetime import date
from pathlib import Path

import pytest

from dataservice.server import Store, import_directory, write_sample
from tests.embedded import SAMPLE_AS_OF


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.*")}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_same_day_gives_the_same_files(sample_data, tmp_path):
    write_sample(tmp_path, as_of=SAMPLE_AS_OF)
    assert files(tmp_path) == files(sample_data)


def test_another_day_gives_data_up_to_that_day(tmp_path):
    write_sample(tmp_path, as_of=date(2024, 2, 29))
    assert rows(tmp_path / "observations/btc-usd.csv")[-1]["observed_at"] == "2024-02-29T00:00:00Z"
    assert rows(tmp_path / "observations/us-cpi.csv")[-1]["observed_at"] == "2024-02-01T00:00:00Z"


@pytest.mark.parametrize("as_of", [date(2026, 1, 1), date(2026, 8, 29), date(2028, 12, 31)])
def test_it_can_be_imported_whatever_the_day(tmp_path, as_of):
    write_sample(tmp_path / "data", as_of=as_of)
    with Store(tmp_path / "service.db") as store:
        summary = import_directory(store, tmp_path / "data")
    assert (summary.signals, summary.indices, summary.currents) == (15, 4, 6)
    assert (summary.wire_items, summary.posts, summary.ignored) == (152, 12, [])


def test_everything_says_that_it_is_made_up(sample_data):
    named = rows(sample_data / "signals.csv") + json.loads((sample_data / "indices.json").read_bytes())
    named += json.loads((sample_data / "currents.json").read_bytes())
    assert all(record["name"].endswith("(made up)") for record in named)
    assert {signal["source"] for signal in rows(sample_data / "signals.csv")} == {"Made-up data"}
    assert all(
        "(made up)" in item["headline"] and "Made-up" in item["source"] for item in lines(sample_data / "wire.jsonl")
    )
    assert all("(made up)" in post["title"] for post in lines(sample_data / "codex.jsonl"))


def test_it_has_the_names_that_everyone_tries_first(sample_data):
    slugs = {signal["slug"] for signal in rows(sample_data / "signals.csv")}
    assert {"us-cpi", "eia.wti.spot", "us-10y", "fx.eur-usd", "cboe.vix", "btc-usd"} <= slugs


def test_it_has_every_category_frequency_and_a_premium_signal(sample_data):
    signals = rows(sample_data / "signals.csv")
    assert len({signal["category"] for signal in signals}) == 8
    assert {signal["is_premium"] for signal in signals} == {"true", "false"}
    lengths = {len(rows(path)) for path in (sample_data / "observations").iterdir()}
    assert min(lengths) == 241  # monthly
    assert max(lengths) > 2_000  # daily, more than two pages


def test_values_stay_plausible(sample_data):
    for signal in rows(sample_data / "signals.csv"):
        values = [float(row["value"]) for row in rows(sample_data / f"observations/{signal['slug']}.csv")]
        assert min(values) > 0
        assert max(values) / min(values) < 15


def test_the_wire_has_every_kind_with_and_without_payload_ticker_and_link(sample_data):
    items = lines(sample_data / "wire.jsonl")
    kinds = [item["kind"] for item in items]
    assert {kinds.count(kind) for kind in kinds} == {19}
    for name in ("payload", "tickers", "primary_url", "image_url", "summary", "current_slugs"):
        assert {bool(item[name]) for item in items} == {True, False}


def test_links_between_records_lead_somewhere(sample_data):
    slugs = {signal["slug"] for signal in rows(sample_data / "signals.csv")}
    currents = {current["slug"] for current in json.loads((sample_data / "currents.json").read_bytes())}
    items = {item["id"]: item for item in lines(sample_data / "wire.jsonl")}
    for item in items.values():
        assert set(item["signal_slugs"]) <= slugs
        assert set(item["current_slugs"]) <= currents
    for post in lines(sample_data / "codex.jsonl"):
        assert len(post["citations"]) == 3
        assert all(items[c["wire_item_id"]]["published_at"] <= post["published_at"] for c in post["citations"])
    for index in json.loads((sample_data / "indices.json").read_bytes()):
        assert {component["signal_slug"] for component in index["components"]} <= slugs
        assert sum(component["weight"] for component in index["components"]) == pytest.approx(1)


def test_one_current_is_unknown_in_every_read(sample_data):
    currents = {current["slug"]: current for current in json.loads((sample_data / "currents.json").read_bytes())}
    unknown = currents.pop("undecided")
    assert {name for name, value in unknown.items() if value is not None} == {"slug", "name"}
    assert len({current["family"] for current in currents.values()}) == 5
    assert len({current["maturity_stage"] for current in currents.values()}) == 5
