"""What stands beside a list to say that more follows, a line each."""

import pytest

from dataservice.client.contract.body import Body
from dataservice.client.contract.completeness.following import following

PATH = "/v1/signals/x/observations"


@pytest.mark.parametrize(
    ("beside", "more", "params"),
    [
        ({}, None, ()),
        ({"next": f"http://10.0.0.7:8080{PATH}?offset=7"}, True, (("offset", "7"),)),
        ({"next": None}, False, ()),
        ({"links": {"next": {"href": f"{PATH}?page=2"}}}, True, (("page", "2"),)),
        ({"next_cursor": "c7"}, True, (("cursor", "c7"),)),
        ({"paging": {"cursors": {"after": "c7"}}}, True, (("after", "c7"),)),
        ({"page_info": {"end_cursor": "c7", "has_next_page": False}}, False, ()),
        ({"next_page": 2}, True, (("page", "2"),)),
        ({"has_more": True}, True, ()),
        ({"has_more": "false"}, False, ()),
        ({"page": 1, "pages": 2}, True, (("page", "2"),)),
        ({"page": 0, "pages": 2}, True, (("page", "1"),)),
        ({"page": {"number": 2, "totalPages": 2}}, False, ()),
        ({"truncated": True}, True, ()),
        ({"isTruncated": False}, False, ()),
        ({"partial": True}, True, ()),
        ({"complete": False}, True, ()),
        ({"meta": {"isComplete": True}}, False, ()),
        ({"last": False}, True, ()),
        ({"last": f"{PATH}?offset=99"}, None, ()),
        ({"last_page": 1}, None, ()),
        ({"next_start": "2026-01-02"}, True, (("start", "2026-01-02"),)),
        ({"next_start": None}, False, ()),
        ({"meta": {"nextFrom": 7}}, True, (("from", "7"),)),
        ({"next_offset": 7}, True, (("offset", "7"),)),
        ({"nextStartDate": "2026-01-02"}, True, (("startDate", "2026-01-02"),)),
        ({"next_release": "2026-01-02"}, None, ()),
        ({"continuation": "c7"}, True, (("continuation", "c7"),)),
    ],
)
def test_words_for_more_are_obeyed(beside, more, params):
    said = following(beside, b"", 5)
    assert (said.more, said.params) == (more, params)


@pytest.mark.parametrize(
    ("beside", "total"),
    [
        ({"pagination": {"total": 1_857}}, 1_857),
        ({"meta": {"total_count": "1857"}}, 1_857),
        ({"total": "1,857"}, 1_857),
        ({"total": 2}, None),  # pages, perhaps; it counts less than came
        ({"total": -1}, None),
    ],
)
def test_totals_are_read_where_they_can_be_one(beside, total):
    assert following(beside, b"", 5).total == total


@pytest.mark.parametrize(
    ("header", "value", "more", "total"),
    [
        ("x-next-cursor", "c7", True, None),
        ("x-total-count", "1,857", None, 1_857),
        ("content-range", "items 0-4/1857", None, 1_857),
        ("link", f'<{PATH}?offset=5>; rel="next"', True, None),
    ],
)
def test_headers_say_it_too(header, value, more, total):
    said = following({}, Body.of(b"", {header: value}), 5)
    assert (said.more, said.total) == (more, total)
