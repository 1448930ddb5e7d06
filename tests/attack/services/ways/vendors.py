"""Services as public vendors of data, web frameworks and gateways answer; see `foreign`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from tests.attack.services.ways.said import (
    Said,
    Way,
    address_behind,
    beside,
    in_headers,
    latest,
    lists_of,
    only,
    paged,
    recent,
    records,
    windows,
    with_headers,
)

Rows = list[dict[str, Any]]

Tell = Callable[[Said, int, int], Said]

LISTS = lists_of("signals", "indices", "currents", "codex", "almanac", "wire")


def _day(row: Mapping[str, Any]) -> str:
    return str(row["observed_at"])[:10]


def _millis(row: Mapping[str, Any]) -> int:
    return int(datetime.fromisoformat(row["observed_at"]).timestamp()) * 1_000


def _body(tell: Callable[[Said, int, int], Any]) -> Tell:
    return lambda said, begin, end: replace(said, body=tell(said, begin, end))


def _rows(row: Callable[[dict[str, Any]], Any], said: Said) -> list[Any]:
    return [row(each) for each in said.body["data"]]


def _fred(said: Said, begin: int, end: int) -> dict[str, Any]:
    lived = {"realtime_start": "2026-08-31", "realtime_end": "2026-08-31"}
    told = {"observation_start": said.params.get("start"), "observation_end": "9999-12-31", "order_by": "date"}
    counted = {"count": len(said.whole), "offset": begin, "limit": end - begin, "sort_order": "asc"}
    rows = _rows(lambda row: {**lived, "date": _day(row), "value": str(row["value"])}, said)
    return {**lived, **told, **counted, "observations": rows}


def _eia(said: Said, begin: int, end: int) -> dict[str, Any]:
    rows = _rows(lambda row: {"period": _day(row), "series": "X", "value": str(row["value"]), "units": "USD"}, said)
    told = {"total": str(len(said.whole)), "dateFormat": "YYYY-MM-DD", "frequency": "daily", "data": rows}
    return {"response": told, "request": {"command": said.path, "params": dict(said.params)}, "apiVersion": "2.1.8"}


def _eia_warns(said: Said, begin: int, end: int) -> dict[str, Any]:
    told = _eia(said, begin, end)
    if end >= len(said.whole):
        return told
    warning = {"warning": "incomplete return", "description": f"the API returns {end - begin} rows a request"}
    return {**told, "response": {**told["response"], "warnings": [warning]}}


def _sdmx(said: Said, begin: int, end: int) -> dict[str, Any]:
    rows = said.body["data"]
    told = {"0:0:0": {"observations": {str(place): [row["value"], 0] for place, row in enumerate(rows)}}}
    days = [{"id": _day(row), "name": _day(row)} for row in rows]
    dimension = {"id": "TIME_PERIOD", "values": days}
    return {"dataSets": [{"series": told}], "structure": {"dimensions": {"observation": [dimension]}}}


def _world_bank(said: Said, begin: int, end: int) -> list[Any]:
    size, count = end - begin, len(said.whole)
    told = {"page": begin // size + 1, "pages": -(-count // size), "per_page": str(size), "total": count}
    return [told, _rows(lambda row: {"date": _day(row), "value": row["value"], "decimal": 1}, said)]


def _quandl(said: Said, begin: int, end: int) -> dict[str, Any]:
    rows = _rows(lambda row: [_day(row), row["value"]], said)
    told = {"limit": None, "column_names": ["Date", "Value"], "frequency": "daily", "order": "asc", "data": rows}
    return {"dataset_data": told}


def _alpha(said: Said, begin: int, end: int) -> dict[str, Any]:
    days = {_day(row): {"4. close": str(row["value"])} for row in said.body["data"]}
    return {"Meta Data": {"1. Information": "Daily Prices"}, "Time Series (Daily)": days}


def _polygon(said: Said, begin: int, end: int) -> dict[str, Any]:
    rows = _rows(lambda row: {"v": 12.5, "c": row["value"], "t": _millis(row), "n": 3}, said)
    follows = {"next_url": address_behind(said, end)} if end < len(said.whole) else {}
    return {"status": "OK", "resultsCount": len(rows), "queryCount": len(rows), "results": rows, **follows}


def _twelve(said: Said, begin: int, end: int) -> dict[str, Any]:
    rows = _rows(lambda row: {"datetime": _day(row), "close": str(row["value"])}, said)
    return {"meta": {"symbol": "X", "interval": "1day"}, "values": rows, "status": "ok"}


def _influx(is_partial: bool) -> Tell:
    def tell(said: Said, begin: int, end: int) -> Said:
        told = {
            "name": "x",
            "columns": ["time", "value"],
            "values": _rows(lambda r: [r["observed_at"], r["value"]], said),
        }
        if is_partial and end < len(said.whole):
            told["partial"] = True
        return replace(said, body={"results": [{"statement_id": 0, "series": [told]}]})

    return tell


def _prometheus(said: Said, begin: int, end: int) -> dict[str, Any]:
    points = _rows(lambda row: [_millis(row) / 1_000, str(row["value"])], said)
    return {"status": "success", "data": {"resultType": "matrix", "result": [{"metric": {}, "values": points}]}}


def _frames(said: Said, begin: int, end: int) -> dict[str, Any]:
    columns = [_rows(_millis, said), _rows(lambda row: row["value"], said)]
    schema = {"fields": [{"name": "time", "type": "time"}, {"name": "value", "type": "number"}]}
    return {"results": {"A": {"status": 200, "frames": [{"schema": schema, "data": {"values": columns}}]}}}


def _bloomberg(said: Said, begin: int, end: int) -> dict[str, Any]:
    rows = _rows(lambda row: {"date": _day(row), "PX_LAST": row["value"]}, said)
    return {"data": {"security": "X", "eidData": [], "fieldExceptions": [], "fieldData": rows}}


def _tiingo(said: Said, begin: int, end: int) -> list[Any]:
    return _rows(lambda r: {"date": r["observed_at"], "close": r["value"], "adjClose": r["value"] * 0.97}, said)


def _laravel(said: Said, begin: int, end: int) -> dict[str, Any]:
    size, count = end - begin, len(said.whole)
    last, number = -(-count // size), begin // size + 1
    links = [
        {"url": None, "label": "&laquo; Previous", "active": False},
        *({"url": f"{said.path}?page={each}", "label": str(each), "active": each == number} for each in (1, 2)),
        {"url": f"{said.path}?page={number + 1}" if end < count else None, "label": "Next &raquo;", "active": False},
    ]
    told = {"current_page": number, "from": begin + 1, "to": min(end, count), "last_page": last, "per_page": size}
    follows = f"https://data.example{said.path}?page={number + 1}" if end < count else None
    return {**told, "data": said.body["data"], "links": links, "next_page_url": follows, "total": count}


def _simple(said: Said, begin: int, end: int) -> dict[str, Any]:
    follows = f"https://data.example{said.path}?page={begin // (end - begin) + 2}" if end < len(said.whole) else None
    return {"current_page": begin // (end - begin) + 1, "data": said.body["data"], "next_page_url": follows}


def _strapi(said: Said, begin: int, end: int) -> dict[str, Any]:
    size, count = end - begin, len(said.whole)
    told = {"page": begin // size + 1, "pageSize": size, "pageCount": -(-count // size), "total": count}
    rows = [{"id": place, "attributes": row} for place, row in enumerate(said.body["data"])]
    return {"data": rows, "meta": {"pagination": told}}


def _stripe(said: Said, begin: int, end: int) -> dict[str, Any]:
    rows = [{"id": f"obs_{begin + place}", **row} for place, row in enumerate(said.body["data"])]
    return {"object": "list", "url": said.path, "has_more": end < len(said.whole), "data": rows}


def _hateoas(said: Said, begin: int, end: int) -> dict[str, Any]:
    size, count = end - begin, len(said.whole)
    links: dict[str, Any] = {"self": {"href": said.path}}
    if end < count:
        links["next"] = {"href": f"http://10.0.0.3:8080{said.path}?page={begin // size + 1}&size={size}"}
    told = {"size": size, "totalElements": count, "totalPages": -(-count // size), "number": begin // size}
    return {"_embedded": {"observationList": said.body["data"]}, "_links": links, "page": told}


def _slice(said: Said, begin: int, end: int) -> dict[str, Any]:
    rows = said.body["data"]
    told = {"first": begin == 0, "last": end >= len(said.whole), "empty": not rows, "numberOfElements": len(rows)}
    return {"content": rows, "pageable": {"pageNumber": begin // (end - begin), "pageSize": end - begin}, **told}


def _graphql(said: Said, begin: int, end: int) -> dict[str, Any]:
    info = {"hasNextPage": end < len(said.whole), "endCursor": f"c{end}"}
    told = {"nodes": said.body["data"], "pageInfo": info, "totalCount": len(said.whole)}
    return {"data": {"signal": {"observations": told}}, "extensions": {"cost": 3}}


def _hasura(said: Said, begin: int, end: int) -> dict[str, Any]:
    count = {"aggregate": {"count": len(said.whole)}}
    return {"data": {"observations": said.body["data"], "observations_aggregate": count}}


def _elastic(count: int, relation: str) -> Tell:
    def tell(said: Said, begin: int, end: int) -> Said:
        hits = [{"_id": str(begin + n), "_source": row, "sort": [n]} for n, row in enumerate(said.body["data"])]
        is_exact = len(said.whole) <= count
        total = {"value": min(count, len(said.whole)), "relation": "eq" if is_exact else relation}
        return replace(said, body={"took": 2, "timed_out": False, "hits": {"total": total, "hits": hits}})

    return tell


def _arcgis(said: Said, begin: int, end: int) -> dict[str, Any]:
    rows = _rows(lambda row: {"attributes": {"date": _millis(row), "value": row["value"]}}, said)
    more = {"exceededTransferLimit": True} if end < len(said.whole) else {}
    return {"objectIdFieldName": "id", "features": rows, **more}


def _ckan(said: Said, begin: int, end: int) -> dict[str, Any]:
    links = {"start": said.path, "next": address_behind(said, end)}
    told = {"records": said.body["data"], "total": len(said.whole), "limit": end - begin, "_links": links}
    return {"help": "https://ckan.example/help", "success": True, "result": told}


def _open_data(said: Said, begin: int, end: int) -> dict[str, Any]:
    return {"total_count": len(said.whole), "results": said.body["data"]}


def _no_value(text: Any) -> Way:
    """Some days have a row that says there is no value, in the service's own words."""

    def tell(said: Said) -> Said:
        rows: Rows = []
        for place, row in enumerate(said.body["data"]):
            rows.append(row)
            if place % 40 == 11 and _day(row)[8:] not in ("30", "31", "28", "29"):
                at = f"{_day(row)}T12:00:00Z"
                rows.append({"observed_at": at, "value": text})
        return replace(said, body={**said.body, "data": rows})

    return windows(tell)


def _flagged(said: Said) -> Said:
    return said.with_rows(lambda row: {**row, "status": "A", "flags": ["p"], "revision": None})


def _mixed_names(said: Said) -> Said:
    if not said.is_detail or not said.is_good:
        return said
    detail = said.body["data"]
    rows = [{"date": _day(row), "value": row["value"]} for row in detail["history"]]
    return replace(said, body={"data": {**detail, "history": rows}})


def _cached_path() -> Way:
    """A gateway that keys its copies of lists by path alone: parameters count for nothing until they are old."""
    kept: dict[str, Any] = {}

    def way(said: Said) -> Said:
        if not said.is_good or not said.is_window:
            return said
        return replace(said, body=kept.setdefault(said.path, said.body))

    return way


def _wrapped_by_gateway(said: Said) -> Said:
    return replace(said, body={"statusCode": said.status, "isBase64Encoded": False, "body": said.body})


def _total_of_series(said: Said, begin: int, end: int) -> Mapping[str, Any]:
    return {"meta": {"count": 5_000, "returned": len(said.body["data"])}}


VENDORS: dict[str, Way] = {
    # vendors of data
    "as FRED": paged(1_000, _body(_fred)),
    "as FRED, 400 a page": paged(400, _body(_fred)),
    "as the EIA": paged(1_000, _body(_eia)),
    "as the EIA, with warnings": paged(1_000, _body(_eia_warns)),
    "as the ECB": windows(lambda said: _body(_sdmx)(said, 0, len(said.whole))),
    "as the World Bank": paged(400, _body(_world_bank), "page", 1),
    "as Quandl": paged(100_000, _body(_quandl)),
    "as Alpha Vantage": paged(100_000, _body(_alpha)),
    "as Polygon": paged(400, _body(_polygon)),
    "as Twelve Data": paged(5_000, _body(_twelve)),
    "as Bloomberg": paged(100_000, _body(_bloomberg)),
    "as Tiingo": paged(100_000, _body(_tiingo)),
    "as InfluxDB": paged(100_000, _influx(is_partial=False)),
    "as InfluxDB, partial": paged(700, _influx(is_partial=True), "nowhere"),
    "as Prometheus": paged(100_000, _body(_prometheus)),
    "as Grafana": paged(100_000, _body(_frames)),
    "as ArcGIS": paged(410, _body(_arcgis), "resultOffset"),
    "as CKAN": paged(100, _body(_ckan)),
    "as OpenDataSoft": paged(100, _body(_open_data)),
    "as Socrata": paged(1_000, _body(lambda s, b, e: s.body["data"]), "$offset"),
    # frameworks
    "as Laravel": paged(400, _body(_laravel), "page", 1),
    "as Laravel, simple": paged(400, _body(_simple), "page", 1),
    "as Strapi": paged(100, _body(_strapi), "pagination[page]"),
    "as Stripe": paged(100, _body(_stripe), "starting_after"),
    "as Spring HATEOAS": paged(397, _body(_hateoas), "page"),
    "as a Spring slice": paged(397, _body(_slice), "page"),
    "as a gateway of GraphQL": paged(400, _body(_graphql), "after"),
    "as Hasura": paged(400, _body(_hasura), "offset"),
    "as Elasticsearch, counting to 400": paged(400, _elastic(400, "gte"), "from"),
    "as Elasticsearch, counting to 1,000": paged(500, _elastic(1_000, "gte"), "from"),
    "as api-pagination": paged(
        100,
        in_headers(
            lambda s, b, e, more: {
                "Total": str(len(s.whole)),
                "Per-Page": "100",
                **({"Link": f'<{address_behind(s, e)}>; rel="next", <{s.path}>; rel="first"'} if more else {}),
            }
        ),
    ),
    "as API Platform": paged(
        30,
        beside(
            lambda s, b, e, more: {
                "hydra:totalItems": len(s.whole),
                "hydra:view": {"hydra:next": address_behind(s, e)} if more else {},
            }
        ),
        "page",
    ),
    # gateways, and what stands around values
    "as a Lambda behind a gateway": _wrapped_by_gateway,
    "copies by path alone": _cached_path(),
    "no value as ND": _no_value("ND"),
    "no value as -999.99 beside a flag": _no_value(None),
    "no value as an empty text": _no_value(""),
    "flags beside each value": _flagged,
    "other names in the recent history": _mixed_names,
    "a count of all rows, whatever is asked": paged(1_000, beside(lambda s, b, e, more: _total_of_series(s, b, e))),
    "a latest with its own unit": latest(lambda told: {**told, "unit": "USD", "provisional": True}),
    "recent ones under their own latest": recent(lambda rows: {"count": len(rows), "observations": rows}),
    "lists with their own total and next": only(
        LISTS, lambda said: replace(said, body={**said.body, "meta": {"total": len(said.body["data"])}, "next": None})
    ),
    "records with links": records(
        lambda row: {**row, "_links": {"self": {"href": "/x"}}, "data": {}}, "signals", "wire"
    ),
    "an old copy, said in a header": with_headers(age="86400", warning='110 - "Response is Stale"'),
}
"""By what is usual of whom."""
