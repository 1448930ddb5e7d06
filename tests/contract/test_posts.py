"""GET /v1/codex and /v1/almanac (contract: Endpoints, Resources)."""

from datetime import datetime

import pytest

from tests.contract.shapes import POST, STORY_TYPES, misfits

PATHS = ("/v1/codex", "/v1/almanac")


@pytest.fixture(params=PATHS)
def path(request):
    return request.param


@pytest.fixture
def posts(pro, path):
    return pro.data(path) or pytest.skip("the service has no posts")


def test_posts_come_with_every_field_of_the_contract(posts):
    assert [misfits(post, POST) for post in posts] == [[]] * len(posts)


def test_limit_cuts_the_posts_and_is_50_by_default(pro, path, posts):
    assert len(posts) <= 50
    assert pro.data(path, limit=1) == posts[:1]
    assert len(pro.data(path, limit=200)) <= 200


def test_since_keeps_the_posts_from_that_time_on(pro, path, posts):
    times = sorted(datetime.fromisoformat(post["published_at"]) for post in posts)
    middle = times[len(times) // 2]
    kept = pro.data(path, since=middle.isoformat())
    assert kept
    assert min(datetime.fromisoformat(post["published_at"]) for post in kept) == middle


def test_handle_keeps_the_posts_under_one_byline(pro, path, posts):
    handle = posts[0]["byline"]["handle"]
    assert {post["byline"]["handle"] for post in pro.data(path, handle=handle)} == {handle}
    assert pro.data(path, handle="no-such-handle") == []


def test_story_type_keeps_the_posts_of_one_type(pro, path):
    for story_type in STORY_TYPES:
        assert {post["story_type"] for post in pro.data(path, story_type=story_type)} <= {story_type}


def test_citations_of_a_post_are_numbered_without_repetition(posts):
    for post in posts:
        numbers = [citation["citation_number"] for citation in post["citations"]]
        assert len(numbers) == len(set(numbers))


def test_the_almanac_also_keeps_the_posts_of_one_beat(pro):
    posts = pro.data("/v1/almanac", limit=200)
    beat = next((post["byline"]["topic_beat"] for post in posts if post["byline"]["topic_beat"]), None)
    if beat is None:
        pytest.skip("no post has a beat")
    assert {post["byline"]["topic_beat"] for post in pro.data("/v1/almanac", beat=beat)} == {beat}


def test_the_almanac_takes_a_date_for_since(pro):
    posts = pro.data("/v1/almanac", limit=200)
    day = posts[0]["published_at"][:10]
    assert all(post["published_at"][:10] >= day for post in pro.data("/v1/almanac", since=day))
