"""Answering a narrower question from a wider answer, with the service's own meaning of every filter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from datetime import UTC, date, datetime, time
from itertools import combinations
from typing import Any

from dataservice.client.contract.resources import HistoryResource, PostsResource, Resource, WireResource
from dataservice.client.contract.results import Page
from dataservice.client.contract.timestamps import instant
from dataservice.models import Post, Record, WireItem
from dataservice.observations import Observations


def narrowed(asked: Resource[Any], wide: Resource[Any], value: Any) -> Any | None:
    """The value of `asked` out of the `value` of `wide`; None where that does not hold all of it."""
    if not wide.covers(asked):
        return None
    match asked, value:
        case HistoryResource(_, start, end), Observations():
            return value.between(start, end)
        case PostsResource(), Page(complete=True):
            return _only(value, lambda post: _keeps_post(asked, post))
        case WireResource(), Page(complete=True):
            return _only(value, lambda item: _keeps_item(asked, item))
        case _:
            return None


def wider(asked: Resource[Any]) -> Iterator[Resource[Any]]:
    """The selections that leave out some of the filters of `asked`, those that leave out most first."""
    if not isinstance(asked, PostsResource | WireResource):
        return
    kind = type(asked)
    filters = {field.name: getattr(asked, field.name) for field in fields(asked)}
    given = [field.name for field in fields(asked) if filters[field.name] != field.default]
    for count in range(len(given)):
        for names in combinations(given, count):
            yield kind(**{name: filters[name] for name in names})


def _only(page: Page[Any], keeps: Any) -> Page[Any]:
    return replace(page, items=tuple(record for record in page.items if keeps(record)))


def _keeps_post(asked: PostsResource, post: Post) -> bool:
    return (
        asked.story_type in (None, post.story_type)
        and asked.handle in (None, post.byline.get("handle"))
        and asked.beat in (None, post.byline.get("topic_beat"))
        and _since(asked.since, post)
    )


def _keeps_item(asked: WireResource, item: WireItem) -> bool:
    return (
        asked.kind in (None, item.kind)
        and asked.beat in (None, item.beat)
        and asked.source in (None, item.source)
        and (asked.ticker is None or asked.ticker in item.tickers)
        and (item.importance_score or 0.0) >= asked.min_importance
        and _since(asked.since, item)
    )


def _since(day: date | None, record: Record) -> bool:
    return day is None or instant(record.field("published_at")) >= datetime.combine(day, time.min, UTC)
