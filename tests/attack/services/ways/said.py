"""An answer of the embedded service, and ways to tell it otherwise."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode


@dataclass(frozen=True)
class Said:
    """An answer: what was asked, and what is said."""

    path: str
    params: Mapping[str, str]
    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)
    whole: list[dict[str, Any]] = field(default_factory=list)
    """All observations of the window that was asked for, whatever the page holds."""
    every: list[dict[str, Any]] = field(default_factory=list)
    """All observations of its signal."""
    begins: str = ""
    """The day of the first observation that there is of its signal."""

    @property
    def is_window(self) -> bool:
        """Whether observations were asked for."""
        return self.path.endswith("/observations")

    @property
    def is_detail(self) -> bool:
        """Whether one signal was asked for."""
        return self.path.startswith("/v1/signals/") and not self.is_window

    @property
    def is_good(self) -> bool:
        """Whether it is an answer, and no refusal."""
        return self.status == 200

    def with_rows(self, change: Callable[[dict[str, Any]], Any]) -> Said:
        """With each observation told otherwise, in windows and details."""
        if not self.is_good or not isinstance(self.body, dict):
            return self
        body = dict(self.body)
        if self.is_window:
            body["data"] = [change(row) for row in body["data"]]
        elif self.is_detail:
            detail = dict(body["data"])
            detail["history"] = [change(row) for row in detail["history"]]
            detail["latest"] = detail["latest"] and change(detail["latest"])
            body["data"] = detail
        return replace(self, body=body)

    def with_records(self, change: Callable[[dict[str, Any]], Any]) -> Said:
        """With each record of a list told otherwise."""
        if self.is_window or self.is_detail or not self.is_good:
            return self
        return replace(self, body={**self.body, "data": [change(row) for row in self.body["data"]]})


Way = Callable[[Said], Said]


def times(change: Callable[[datetime], Any]) -> Way:
    def row(told: dict[str, Any]) -> dict[str, Any]:
        return {**told, "observed_at": change(datetime.fromisoformat(told["observed_at"]))}

    return lambda said: said.with_rows(row)


def values(change: Callable[[float], Any]) -> Way:
    return lambda said: said.with_rows(lambda row: {**row, "value": change(row["value"])})


def paged(size: int, tell: Callable[[Said, int, int], Said], name: str = "offset", at: int = 0) -> Way:
    """Observations in pages of `size`, by the parameter `name`; `tell` says what follows."""

    def way(said: Said) -> Said:
        if not said.is_window or not said.is_good:
            return said
        number = re.sub(r"\D", "", said.params.get(name, "")) or str(at)
        begin = int(number) if name != "page" else (int(number) - at) * size
        return tell(replace(said, body={"data": said.whole[begin : begin + size]}), begin, begin + size)

    return way


def beside(tell: Callable[[Said, int, int, bool], Mapping[str, Any]]) -> Callable[[Said, int, int], Said]:
    """Say beside the rows what follows."""

    def told(said: Said, begin: int, end: int) -> Said:
        return replace(said, body={**said.body, **tell(said, begin, end, end < len(said.whole))})

    return told


def in_headers(tell: Callable[[Said, int, int, bool], Mapping[str, str]]) -> Callable[[Said, int, int], Said]:
    def told(said: Said, begin: int, end: int) -> Said:
        return replace(said, headers={**said.headers, **tell(said, begin, end, end < len(said.whole))})

    return told


def address_behind(said: Said, end: int, host: str = "") -> str:
    return f"{host}{said.path}?{urlencode({**said.params, 'offset': str(end)})}"


def wrapped(wrap: Callable[[Any], Any]) -> Way:
    return lambda said: replace(said, body=wrap(said.body)) if said.is_good else said


def raw(change: Callable[[bytes], bytes]) -> Way:
    return lambda said: replace(said, body=change(json.dumps(said.body).encode())) if said.is_good else said


def lists_paged(size: int, tell: Callable[[int, int, int], Mapping[str, Any]], name: str = "offset") -> Way:
    """Every list but the observations in pages of `size`."""

    def way(said: Said) -> Said:
        if said.is_window or said.is_detail or not said.is_good:
            return said
        begin, rows = int(said.params.get(name, "0")), said.whole
        return replace(said, body={"data": rows[begin : begin + size], **tell(begin, size, len(rows))})

    return way


def cut(keep: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> Way:
    """Windows of which only a part comes, without a word."""
    return lambda said: replace(said, body={"data": keep(said.whole)}) if said.is_window and said.is_good else said


def year(rows: list[dict[str, Any]], place: int) -> list[dict[str, Any]]:
    """The rows within a year of the first (0) or the last one (-1)."""
    at = [datetime.fromisoformat(row["observed_at"]) for row in rows]
    return [row for row, moment in zip(rows, at, strict=True) if abs(moment - at[place]) < timedelta(days=366)]


def lists_of(*names: str) -> Callable[[Said], bool]:
    """Whether an answer is one of these lists, whatever filters it was asked with."""
    return lambda said: said.is_good and said.path.rpartition("/")[2] in names


def only(which: Callable[[Said], bool], way: Way) -> Way:
    return lambda said: way(said) if which(said) else said


def records(change: Callable[[dict[str, Any]], dict[str, Any]], *names: str) -> Way:
    return only(lists_of(*names), lambda said: said.with_records(change))


def latest(tell: Callable[[dict[str, Any]], Any]) -> Way:
    def way(said: Said) -> Said:
        if not said.is_detail or not said.is_good or not said.body["data"]["latest"]:
            return said
        return replace(said, body={"data": {**said.body["data"], "latest": tell(said.body["data"]["latest"])}})

    return way


def recent(tell: Callable[[list[dict[str, Any]]], Any]) -> Way:
    """Details whose history is told otherwise."""

    def way(said: Said) -> Said:
        if not said.is_detail or not said.is_good:
            return said
        return replace(said, body={"data": {**said.body["data"], "history": tell(said.body["data"]["history"])}})

    return way


def windows(tell: Callable[[Said], Said]) -> Way:
    return lambda said: tell(said) if said.is_window and said.is_good else said


def in_turns(answer: Callable[[Said], Said]) -> Callable[[], Way]:
    """Every fifth answer is another one."""

    def begun() -> Way:
        count = [0]

        def way(said: Said) -> Said:
            count[0] += 1
            return answer(said) if count[0] % 5 == 3 else said

        return way

    return begun


def headers_as(change: Callable[[str], str], name: str = "ratelimit") -> Way:
    def way(said: Said) -> Said:
        told = {key: change(value) if name in key.lower() else value for key, value in said.headers.items()}
        return replace(said, headers=told)

    return way


def with_headers(**headers: str) -> Way:
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda said: replace(said, headers={**said.headers, **told})


def first_of(size: int, tell: Callable[[int], Mapping[str, Any]] = lambda count: {}) -> Way:
    """The first records of a list, whatever else is asked."""
    return lambda said: replace(said, body={"data": said.whole[:size], **tell(len(said.whole))})


FEEDS = lists_of("codex", "almanac", "wire")
CATALOGUE = lists_of("signals")
