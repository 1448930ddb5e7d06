"""Importing a directory: all of it or nothing, and a refusal that says where."""

import json
import shutil
from pathlib import Path

import orjson
import pytest

from dataservice.server import ImportRefusedError, Store, import_directory
from dataservice.server.timestamps import parse_instant

SIGNALS = "slug,shortcode,name,category,signal_type,source,description,unit,is_premium\n"
ROW = "us-cpi,CPI,Consumer prices,macro,index,Us,,,false\n"
WIRE = {
    "id": "9943d0e7-eb32-412a-8cac-2caa4bf59cfe",
    "source": "Us",
    "kind": "news",
    "headline": "h",
    "published_at": "2026-08-01T10:00:00+02:00",
    "tickers": ["CPI", "CPI"],
    "signal_slugs": [],
    "current_slugs": [],
    "importance_score": 7,
}
POST = {
    "slug": "p",
    "url": "https://example.org/p",
    "title": "t",
    "body_md": "",
    "published_at": "2026-08-01T10:00:00Z",
    "story_type": "alert",
    "view_count": 0,
    "byline": {"handle": "a", "display_name": "A"},
    "citations": [],
}


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "service.db") as store:
        yield store


@pytest.fixture
def folder(tmp_path):
    """A directory with one signal of two observations."""
    folder = tmp_path / "data"
    write(folder, "signals.csv", SIGNALS + ROW)
    write(folder, "observations/us-cpi.csv", "observed_at,value\n2026-07-01,100\n2026-06-01T00:00:00Z,99.5\n")
    return folder


def write(folder: Path, name: str, content: str | bytes) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def refusal(store: Store, folder: Path) -> str:
    """Why the directory is refused, without the path of the directory."""
    with pytest.raises(ImportRefusedError) as refused:
        import_directory(store, folder)
    return str(refused.value).removeprefix(f"{folder}/")


def values(store: Store, slug: str = "us-cpi") -> list[float]:
    page = store.observations(slug, start=None, before=None, limit=1_000, offset=0)
    return [observation["value"] for observation in page.items]


def test_a_catalogue_and_observations_are_all_that_is_needed(store, folder):
    summary = import_directory(store, folder)
    assert (summary.signals, summary.observations, summary.wire_items) == (1, 2, 0)
    assert values(store) == [99.5, 100.0]


def test_a_signal_may_have_no_observation_yet(store, folder):
    (folder / "observations/us-cpi.csv").unlink()
    import_directory(store, folder)
    detail = store.signal("us-cpi", history=30)
    assert (detail.latest, detail.history) == (None, [])


def test_importing_again_replaces_adds_and_revises(store, folder):
    import_directory(store, folder)
    write(folder, "observations/us-cpi.csv", "observed_at,value\n2026-06-01,99.4\n2026-07-01,100\n2026-08-01,101\n")
    import_directory(store, folder)
    assert values(store) == [99.4, 100.0, 101.0]


def test_what_a_directory_no_longer_holds_is_gone_after_an_import(store, folder):
    write(folder, "wire.jsonl", json.dumps(WIRE))
    import_directory(store, folder)
    (folder / "wire.jsonl").unlink()
    write(folder, "signals.csv", SIGNALS + ROW.replace("us-cpi", "uk-cpi"))
    shutil.rmtree(folder / "observations")
    assert import_directory(store, folder).wire_items == 0
    assert store.signal("us-cpi", history=1) is None


def test_keys_and_counts_stay_when_data_are_replaced(store, folder):
    key = store.create_key()
    store.keys.count(store.keys.find(key))
    import_directory(store, folder)
    assert store.usage(key) == 1


def test_nothing_half_imported_stays_after_a_refusal(store, folder):
    import_directory(store, folder)
    write(folder, "observations/us-cpi.csv", "observed_at,value\n2026-06-01,1\n2026-07-01,x\n")
    assert refusal(store, folder).startswith("observations/us-cpi.csv:3: value: must be a finite number")
    assert values(store) == [99.5, 100.0]


def test_fields_the_contract_does_not_name_are_kept(store, folder):
    write(folder, "signals.csv", SIGNALS.replace("\n", ",region\n") + ROW.replace("\n", ",EU\n"))
    write(folder, "wire.jsonl", json.dumps({**WIRE, "mood": {"calm": True}}))
    import_directory(store, folder)
    assert store.signal("us-cpi", history=1).record["region"] == "EU"
    [item] = wire(store)
    assert item["mood"] == {"calm": True}


def test_nullable_fields_left_out_are_null_and_times_are_in_utc(store, folder):
    write(folder, "wire.jsonl", json.dumps(WIRE))
    write(folder, "codex.jsonl", json.dumps(POST))
    import_directory(store, folder)
    [item] = wire(store)
    assert (item["summary"], item["payload"], item["published_at"]) == (None, None, "2026-08-01T08:00:00Z")
    [post] = loaded(store.posts(handle="a", limit=1))
    assert post["byline"]["agent_role"] is None


def test_a_byte_order_mark_and_windows_line_ends_are_read(store, folder):
    write(folder, "signals.csv", b"\xef\xbb\xbf" + (SIGNALS + ROW).replace("\n", "\r\n").encode())
    import_directory(store, folder)
    assert store.signal("us-cpi", history=1).record["name"] == "Consumer prices"


def test_blank_lines_are_skipped(store, folder):
    write(folder, "signals.csv", SIGNALS + "\n" + ROW + "\n\n")
    write(folder, "wire.jsonl", "\n" + json.dumps(WIRE) + "\n\n")
    assert import_directory(store, folder).wire_items == 1


def test_data_files_without_a_place_in_the_layout_are_told(store, folder):
    write(folder, "currents.jsonl", "")
    write(folder, "README.md", "")
    assert import_directory(store, folder).ignored == ["currents.jsonl"]


def test_progress_goes_from_nothing_to_all(store, folder):
    seen = []
    import_directory(store, folder, on_progress=lambda *progress: seen.append(progress))
    size = sum(path.stat().st_size for path in folder.rglob("*.csv"))
    assert [step[1:] for step in seen if step[0] == "reading"][-1] == (size, size)
    assert seen[-1] == ("writing", 2, 2)


def test_readers_see_the_old_data_until_the_new_are_complete(store, folder):
    import_directory(store, folder)
    seen = []
    write(folder, "observations/us-cpi.csv", "observed_at,value\n2026-06-01,1\n")
    import_directory(store, folder, on_progress=lambda *_: seen.append(values(store)))
    assert seen == [[99.5, 100.0]] * len(seen)
    assert values(store) == [1.0]


@pytest.mark.usefixtures("shared_data")
def test_the_real_series_arrive_whole(shared_data, store):
    summary = import_directory(store, shared_data)
    assert (summary.signals, summary.observations) == (20, 33_774)
    oil = {o["observed_at"].date().isoformat(): o["value"] for o in window(store, "eia.wti.spot", "2020-04-20")}
    assert oil["2020-04-20"] < 0
    assert window(store, "wb.gold", "1700-01-01")[0]["observed_at"].year == 1833


def window(store, slug, start):
    from_ = parse_instant(start)
    return store.observations(slug, start=from_, before=None, limit=1_000, offset=0).items


def wire(store):
    return loaded(store.wire(ticker="CPI", limit=10))


def loaded(records):
    return orjson.loads(orjson.dumps(records))
