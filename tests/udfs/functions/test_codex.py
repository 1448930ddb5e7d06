"""CODEX and CODEX_POST: posts, and what they cite as far as the key may read it."""

from tests.udfs.parts.asking import Canned, cells, records, session_on
from udfs.cells import CellError, ErrorCode

CITED = {"wire_item_id": "w2", "citation_number": 2, "quoted_text": None, "page": 7}
POSTS = [
    {
        "slug": "first",
        "url": "https://example.org/codex/first",
        "title": "=1+1",
        "body_md": "b" * 40_000,
        "published_at": "2026-08-02T00:00:00Z",
        "story_type": "podcast",
        "byline": {"handle": "meridian", "mood": "calm"},
        "citations": [CITED, {"wire_item_id": "w1", "citation_number": 1, "quoted_text": "“so”"}, {"odd": 1}],
        "region": "EU",
    },
    {"slug": "second", "title": "Second", "published_at": "2026-08-03T00:00:00Z", "citations": [], "byline": {}},
]
WIRE = [{"id": "w1", "headline": "Seen", "primary_url": None, "published_at": "2026-08-01T00:00:00Z"}]
FULL_PAGE = [{"slug": f"new-{n}", "published_at": "2026-08-01T00:00:00Z"} for n in range(200)]


def newest(folder):
    """Return the posts of a data set, newest first."""
    return sorted(records(folder, "codex.jsonl").values(), key=lambda post: post["published_at"], reverse=True)


async def test_the_newest_posts_come_first_and_limit_and_fields_are_cut_on_the_spot(service, sample_data):
    async with session_on(service) as session:
        shown = await cells(session, "CODEX", None, None, None, 2, None, "slug, story_type, handle")
        await cells(session, "CODEX")
    posts = newest(sample_data)[:2]
    assert shown[0] == ("slug", "story_type", "handle")
    assert shown[1:] == [(post["slug"], post["story_type"], post["byline"]["handle"]) for post in posts]
    assert service.running.requests == ["/v1/codex?limit=200"]


async def test_type_author_and_day_are_sent_to_the_service_and_a_topic_asks_the_almanac(service):
    async with session_on(service) as session:
        await cells(session, "CODEX", "Report", "@ballast", "2026-08-01")
        await cells(session, "CODEX", None, None, "2026-08-01", None, "macro")
    assert service.running.requests == [
        "/v1/codex?limit=200&since=2026-08-01T00%3A00%3A00Z&handle=ballast&story_type=report",
        "/v1/almanac?limit=200&since=2026-08-01&beat=macro",
    ]


async def test_all_posts_of_a_sheet_share_one_request(service, sample_data):
    first, second = newest(sample_data)[:2]
    async with session_on(service) as session:
        slugs = [[first["slug"]], [second["slug"].upper()]]
        shown = await cells(session, "CODEX_POST", slugs, [["title", "view_count"]])
        body = await cells(session, "CODEX_POST", first["url"])
    assert shown == [(post["title"], post["view_count"]) for post in (first, second)]
    assert body == first["body_md"]
    assert service.running.request_count == 1


async def test_citations_spill_with_the_wire_items_they_name(service, sample_data):
    first, second = newest(sample_data)[:2]
    items = records(sample_data, "wire.jsonl")
    async with session_on(service) as session:
        shown = await cells(session, "CODEX_POST", first["slug"], "citations")
        await cells(session, "CODEX_POST", second["slug"], "citations")
    assert shown[0] == ("citation_number", "quoted_text", "wire_item_id", "headline", "primary_url")
    for citation, (number, quoted, item, headline, link) in zip(first["citations"], shown[1:], strict=True):
        assert (number, quoted, item) == (
            citation["citation_number"],
            citation["quoted_text"],
            citation["wire_item_id"],
        )
        assert (headline, link) == (items[item]["headline"], items[item]["primary_url"])
    assert sorted(service.running.requests) == ["/v1/codex?limit=200", "/v1/wire?limit=200"]


async def test_a_free_key_sees_citations_without_headlines_and_asks_no_wire(service, sample_data):
    async with session_on(service, tier="free") as session:
        await cells(session, "CODEX")
        shown = await cells(session, "CODEX_POST", newest(sample_data)[0]["slug"], "citations")
    assert [row[0] for row in shown[1:]] == [1, 2, 3]
    assert {row[3:] for row in shown[1:]} == {(None, None)}
    assert service.running.requests == ["/v1/codex?limit=200"]


async def test_a_wire_that_refuses_or_fails_leaves_blanks():
    for refusal in (402, 404, 400):
        shown = await Canned({"/v1/codex": POSTS, "/v1/wire": refusal})("CODEX_POST", "first", "citations")
        assert {row[3:] for row in shown[1:]} == {(None, None)}


async def test_citations_come_by_their_numbers_and_odd_ones_do_no_harm():
    shown = await Canned({"/v1/codex": POSTS, "/v1/wire": WIRE})("CODEX_POST", "first", "citations")
    assert shown[1:] == [
        (1.0, "“so”", "w1", "Seen", None),
        (2.0, None, "w2", None, None),
        (None, None, None, None, None),
    ]


async def test_a_post_without_citations_shows_their_header():
    assert len(await Canned({"/v1/codex": POSTS})("CODEX_POST", "second", "citations")) == 1


async def test_a_body_longer_than_a_cell_is_cut():
    assert len(await Canned({"/v1/codex": POSTS})("CODEX_POST", "first")) == 32_767


async def test_unknown_values_and_fields_are_shown_as_they_are():
    service = Canned({"/v1/codex": POSTS})
    assert await service("CODEX", *[None] * 5, "slug, title, story_type, byline.mood, region, citations") == [
        ("slug", "title", "story_type", "byline.mood", "region", "citations"),
        ("second", "Second", "", None, None, ""),
        ("first", "=1+1", "podcast", "calm", "EU", "w2, w1, odd: 1"),
    ]


async def test_an_unknown_post_is_told_the_nearest_one():
    shown = await Canned({"/v1/codex": POSTS})("CODEX_POST", "frist")
    assert shown == CellError(ErrorCode.NA, "no post 'frist'; did you mean first?")


async def test_a_post_behind_the_newest_two_hundred_is_found_once_its_type_was_asked():
    service = Canned({"/v1/codex": FULL_PAGE})
    shown = await service("CODEX_POST", "old-report", "title")
    assert shown.code is ErrorCode.NA
    assert shown.message == (
        "no post 'old-report' among the newest 200; an older one is found once a CODEX cell asks for its story type"
    )
    service.answers = {"/v1/codex": [{"slug": "old-report", "title": "Old", "published_at": "2020-01-01T00:00:00Z"}]}
    await service("CODEX", "report")
    assert await service("CODEX_POST", "old-report", "title") == "Old"
    assert len(service.requests) == 2


async def test_where_nothing_matches_the_header_is_shown():
    assert await Canned({"/v1/codex": []})("CODEX", None, None, None, None, None, "slug") == [("slug",)]
