"""Other forms of answers than the contract's, a line each; strict where two readings are possible."""

import msgspec
import pytest

from dataservice.client.contract.body import Body
from dataservice.client.contract.decode import observations_page, signal_detail, wire_page
from dataservice.client.contract.forms import number_of
from dataservice.errors import MalformedAnswerError, NotFoundError

JSON = msgspec.json.encode
ROW = {"observed_at": "2024-01-31T00:00:00Z", "value": 1.5}
SECONDS = 1_706_659_200


@pytest.mark.parametrize(
    "answer",
    [
        [ROW],
        {"data": [ROW]},
        {"data": [None, ROW, None]},
        {"observations": [ROW], "count": 1},
        {"items": [ROW]},
        {"results": [ROW]},
        {"data": {"observations": [ROW]}},
        {"data": {"observed_at": [ROW["observed_at"]], "value": [1.5]}},
        [["2024-01-31", 1.5]],
        [{"date": "2024-01-31", "value": 1.5}],
        [{"timestamp": "2024-01-31T00:00:00+00:00", "val": 1.5}],
        [{"t": SECONDS, "v": 1.5}],
        [{"observed_at": SECONDS * 1_000, "value": 1.5}],
        [{"observed_at": "2024-01-31 00:00:00", "value": "1.5"}],
        [{"observed_at": "20240131", "value": 1.5}],
        {"ok": True, "result": {"data": [ROW]}},
        {"success": True, "payload": {"items": [ROW]}},
        {"_embedded": {"observations": [ROW]}, "_links": {"self": {"href": "/x"}}},
        {"data": [{"type": "observation", "id": "1", "attributes": ROW}]},
        {"data": {"2024-01-31": 1.5}},
        {"columns": ["value", "observed_at"], "data": [[1.5, "2024-01-31"]]},
        [{"observedAt": "2024-01-31T00:00:00Z", "value": 1.5}],
        [{"observed_at": str(SECONDS), "value": 1.5}],
        [{"observed_at": SECONDS * 1_000_000, "value": 1.5}],
        [{"observed_at": 20240131, "value": 1.5}],
        [{"observed_at": "2024/01/31", "value": 1.5}],
        [{"observed_at": "31/01/2024", "value": 1.5}],
        [{"observed_at": "01/31/2024", "value": 1.5}],
        [{"observed_at": "Jan 31, 2024", "value": 1.5}],
        [{"observed_at": "31-Jan-2024", "value": 1.5}],
        [{"observed_at": "Wed, 31 Jan 2024 00:00:00 GMT", "value": 1.5}],
        [{"observed_at": "2024-01-31 00:00:00 UTC", "value": 1.5}],
        [{"observed_at": "2024-01-31 00:00:00+00", "value": 1.5}],
        [{"observed_at": "20240131T000000Z", "value": 1.5}],
        {"content": [ROW], "last": True, "number": 0, "size": 20, "totalElements": 1, "totalPages": 1},
        {"took": 3, "timed_out": False, "hits": {"total": {"value": 1}, "hits": [{"_id": "1", "_source": ROW}]}},
        {"data": {"observations": {"edges": [{"node": ROW}], "pageInfo": {"hasNextPage": False}}}},
        {"Data": [{"ObservedAt": "2024-01-31T00:00:00Z", "Value": 1.5}], "Pagination": {"Total": 1}},
        {"@odata.context": "$metadata#rows", "value": [ROW]},
        {"data": {"dates": ["2024-01-31"], "values": [1.5]}},
        [{"observed_at": "2024-01-31T00:00:00+05:30", "value": 1.5}],
        {"data": [ROW], "errors": [], "error": None, "warnings": ["this address will be gone next year"]},
        [{"page": 1, "pages": 1, "per_page": "50", "total": 1}, [ROW]],
        {"dataset_data": {"column_names": ["Date", "Value"], "data": [["2024-01-31", 1.5]], "order": "asc"}},
        {"_embedded": {"observationList": [ROW]}, "_links": {"self": {"href": "/x"}}, "page": {"totalElements": 1}},
        {"data": {"signal": {"observations": {"nodes": [ROW], "pageInfo": {"hasNextPage": False}}}}, "extensions": {}},
        {"features": [{"attributes": ROW}], "exceededTransferLimit": False},
        {"response": {"total": "2", "warnings": [{"warning": "incomplete return"}], "data": [ROW]}},  # paged by a total
        [ROW, ROW],
        [{**ROW, "close": -1.0, "date": "1999-01-01"}],  # the contract's own names win
    ],
)
def test_observations_of_other_forms_are_read(answer):
    page = observations_page(JSON(answer))
    assert [(str(moment)[:10], value) for moment, value in page.observations] == [("2024-01-31", 1.5)]


@pytest.mark.parametrize(
    "beside",
    [
        {"errors": [{"message": "a shard timed out"}]},
        {"error": "upstream timeout"},
        {"incomplete_results": True},
        {"status": "partial"},
        {"timed_out": True},
        {"_shards": {"total": 5, "failed": 2}},
        {"warnings": ["the result was truncated"]},
        {"meta": {"timed_out": True}},
    ],
)
def test_rows_that_are_said_to_be_a_part_are_refused(beside):
    with pytest.raises(MalformedAnswerError, match="only a part"):
        observations_page(JSON({"data": [ROW], **beside}))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([{"date": "2024-01-31", "time": "2024-02-01", "value": 1}], "date or time"),
        ([{"observed_at": "2024-01-31", "val": 1, "close": 2}], "val or close"),
        ([{"t": SECONDS, "v": 1_200, "c": 1.5}], "the value may be v of v, c, t|the value may be v of t, v, c"),
        ([{"date": "2024-01-31", "close": 1.5, "adjClose": 1.4}], "the value may be close"),
        ([{"observed_at": "01/02/2024", "value": 1}], "no date or time"),
        ([{"observed_at": "31/01/2024", "value": 1}, {"observed_at": "01/31/2024", "value": 1}], "no date or time"),
        ([{"observed_at": 19_753, "value": 1}], "19753"),  # days since 1970, or of a spreadsheet
        ([{"observed_at": 202401, "value": 1}], "202401"),
        ([{"observed_at": 20200920, "value": 1}], "20200920"),  # a day, or a minute of 1970
        ([[1.5, SECONDS]], "1.5"),
        ([ROW, {**ROW, "value": 2.5}], "two values for 2024-01-31T00:00: 1.5 and 2.5"),
        ({"data": None, "message": "maintenance"}, "no list|columns|time"),
        ({"ok": False, "data": [], "message": "too many"}, "too many"),
        ({"status": "error", "data": [], "message": "try later"}, "try later"),
        ({"data": [], "error": "no access"}, "no access"),
        ([{"observed_at": "2024-01-31", "value": "1,234"}], "'1,234'"),
        ([{"observed_at": "2024-01-31", "value": True}], "'True'"),
        ({"items": [ROW], "results": [ROW]}, "items and results"),
        ({"error": "no such window"}, "an error in the place of data: no such window"),
    ],
)
def test_where_two_readings_are_possible_there_is_none(answer, said):
    with pytest.raises(MalformedAnswerError, match=said):
        observations_page(JSON(answer))


@pytest.mark.parametrize(
    ("told", "number"),
    [
        ("1.25", 1.25),
        ("1,234.5", 1_234.5),
        ("1e3", 1e3),
        ("1 234.5", 1_234.5),
        (".", None),
        ("N/A", None),
        ("ND", None),
        ("", None),
    ],
)
def test_numbers_as_text_are_read_in_one_way_only(told, number):
    assert number_of(told) == number


def test_a_value_that_is_no_number_in_json_either_is_no_value():
    page = observations_page(b'{"data": [{"observed_at": "2024-01-31", "value": NaN}]}')
    assert str(page.observations.values) == "[nan]"


@pytest.mark.parametrize(
    ("beside", "more", "further"),
    [
        ({"next": "/v1/signals/x/observations?offset=1"}, True, (("offset", "1"),)),
        ({"next": None}, False, ()),
        ({"next_cursor": "c9"}, True, (("cursor", "c9"),)),
        ({"has_more": True}, True, ()),
        ({"has_more": False}, False, ()),
        ({"page": 1, "pages": 3}, True, (("page", "2"),)),
        ({"page": 3, "pages": 3}, False, ()),
        ({"links": {"next": {"href": "?cursor=a"}}}, True, (("cursor", "a"),)),
        ({"note": "x"}, None, ()),
    ],
)
def test_what_follows_is_read_in_the_usual_words(beside, more, further):
    page = observations_page(JSON({"data": [ROW], **beside}))
    assert (page.more, page.further) == (more, further)


def test_what_follows_is_read_in_the_link_header():
    body = Body.of(JSON([ROW]), {"link": '<https://x.example/v1?page=2>; rel="next", <https://x.example>; rel="first"'})
    page = observations_page(body)
    assert (page.more, page.further) == (True, (("page", "2"),))


@pytest.mark.parametrize("answer", [{"slug": "x"}, {"signal": {"slug": "x"}}, {"data": {"slug": "x"}}])
def test_a_signal_stands_in_the_usual_places(answer):
    assert signal_detail(JSON(answer)).signal.slug == "x"


def test_a_name_without_data_does_not_exist():
    for answer in ({"data": None}, {"error": "signal not found"}):
        with pytest.raises(NotFoundError):
            signal_detail(JSON(answer))


def test_one_odd_record_costs_no_list_and_is_counted():
    items = [{"id": str(n), "headline": "h", "importance_score": score} for n, score in enumerate([1, "87", "high"])]
    page = wire_page(JSON({"data": [*items, {"headline": "nobody"}]}))
    assert [item.importance_score for item in page.records] == [1.0, 87.0, None]
    assert (
        page.odd == "2 of 4 records could not be read whole: importance_score should be a number or null, and is text"
    )


def test_an_error_of_form_shows_what_was_received_and_no_key():
    error = MalformedAnswerError("not JSON").received(
        b"<p>\x00\nds_secret " + b"x" * 100, lambda t: t.replace("ds_secret", "…")
    )
    assert str(error).startswith("not JSON; received: <p> … xxx")
    assert len(str(error)) < 90


def test_days_of_either_order_are_read_by_what_is_known_of_the_service():
    rows = JSON([{"observed_at": "01/02/2024", "value": 1}])
    assert observations_page(rows, day_first=True).observations.first_day.isoformat() == "2024-02-01"
    assert observations_page(rows, day_first=False).observations.first_day.isoformat() == "2024-01-02"
    shown = observations_page(JSON([{"observed_at": "01/31/2024", "value": 1}]))
    assert shown.day_first is False


def test_names_in_camel_case_are_those_of_the_contract_and_records_that_tell_nothing_are_refused():
    (item,) = wire_page(JSON({"data": [{"id": "1", "publishedAt": "2024-01-31", "importanceScore": 87}]})).records
    assert (item.published_at, item.importance_score) == ("2024-01-31", 87.0)
    with pytest.raises(MalformedAnswerError, match="not a WireItem: there is id, kennung"):
        wire_page(JSON({"data": [{"id": "1", "kennung": "x"}]}))


@pytest.mark.parametrize(("told", "day"), [("2026-W33", "2026-08-10"), ("2026-W33-2", "2026-08-11")])
def test_a_week_is_its_first_day_or_the_day_of_it_that_is_told(told, day):
    page = observations_page(JSON({"data": [{"observed_at": told, "value": 1.5}]}))
    assert str(page.observations.first_day) == day
    with pytest.raises(MalformedAnswerError):
        observations_page(JSON({"data": [{"observed_at": "2026-W77-9", "value": 1.5}]}))


def test_a_field_that_is_no_such_value_is_shown_as_it_was_told_and_times_of_lists_are_read():
    items = [
        {"id": str(n), "published_at": SECONDS + n, "importance_score": score} for n, score in enumerate(["high", 3])
    ]
    records = wire_page(JSON({"data": items})).records
    assert [record.field("importance_score") for record in records] == ["high", 3.0]
    assert [record.published_at[:19] for record in records] == ["2024-01-31T00:00:00", "2024-01-31T00:00:01"]
