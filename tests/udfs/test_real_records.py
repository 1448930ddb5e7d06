"""Every record of the real series can be shown, field by field, in every table."""

import pytest

from tests.udfs.parts.asking import cells, records, session_on

WHOLE_TABLES = {
    "INDICES": ("indices.json", ["*"]),
    "CURRENTS": ("currents.json", [None, "*"]),
    "CODEX": ("codex.jsonl", [None, None, None, 200, None, "*"]),
}


@pytest.mark.parametrize("function_id", WHOLE_TABLES)
async def test_all_fields_of_all_records_are_shown(function_id, shared_service, shared_data):
    name, args = WHOLE_TABLES[function_id]
    known = records(shared_data, name)
    async with session_on(shared_service) as session:
        header, *rows = await cells(session, function_id, *args)
    assert sorted(row[header.index("slug")] for row in rows) == sorted(known)
    for row in rows:
        shown = dict(zip(header, row, strict=True))
        plain = {field: raw for field, raw in known[shown["slug"]].items() if isinstance(raw, int | float | None)}
        assert {field: shown[field] for field in plain} == plain


async def test_a_page_of_the_wire_holds_the_newest_items_with_their_payloads(shared_service, shared_data):
    known = records(shared_data, "wire.jsonl")
    async with session_on(shared_service) as session:
        rows = await cells(session, "WIRE", None, None, None, None, 200, None, None, "id, headline, payload.value")
    newest = sorted(known.values(), key=lambda item: item["published_at"], reverse=True)[:200]
    oldest_shown = newest[-1]["published_at"]
    assert {row[0] for row in rows[1:]} >= {item["id"] for item in newest if item["published_at"] > oldest_shown}
    for item, headline, value in rows[1:]:
        assert headline == known[item]["headline"]
        assert value == (known[item]["payload"] or {}).get("value")


async def test_every_component_of_every_index_has_its_weight(shared_service, shared_data):
    async with session_on(shared_service) as session:
        for slug, index in records(shared_data, "indices.json").items():
            for component in index["components"]:
                shown = await cells(session, "INDEX", slug, f"weight:{component['signal_slug']}")
                assert shown == component["weight"]
