"""Large answers travel compressed to callers elsewhere, and as they are next door."""

import gzip

import httpx
import orjson
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import Route

from addin.backend.answers import BatchAnswer
from addin.backend.http import JsonResponse
from addin.backend.operation.compression import CompressAnswers

LARGE = {"answers": [{"value": 1.5, "fresh_s": 900}] * 20_000}


async def _answer(request):
    return JsonResponse(LARGE if request.query_params["size"] == "large" else {"ok": True})


async def _encoded(_):
    body = gzip.compress(orjson.dumps(LARGE))
    return Response(body, media_type="application/json", headers={"content-encoding": "gzip"})


async def _in_pieces(_):
    return BatchAnswer(b'{"answers":[', [b",".join(orjson.dumps(each) for each in LARGE["answers"])], b"]}")


APP = Starlette(
    routes=[Route("/answer", _answer), Route("/encoded", _encoded), Route("/pieces", _in_pieces)],
    middleware=[Middleware(CompressAnswers)],
)


async def get(path, caller="203.0.113.7", **headers):
    transport = httpx.ASGITransport(APP, client=(caller, 50_000))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        return await http.get(path, headers={"accept-encoding": "gzip", **headers})


async def test_a_large_answer_is_compressed_for_a_caller_elsewhere():
    response = await get("/answer?size=large")
    assert (response.headers["content-encoding"], response.headers["vary"]) == ("gzip", "accept-encoding")
    assert int(response.headers["content-length"]) < len(orjson.dumps(LARGE)) / 10
    assert response.json() == LARGE


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
async def test_an_answer_that_is_sent_in_pieces_arrives_whole_compressed_or_not(encoding):
    response = await get("/pieces", **{"accept-encoding": encoding})
    assert response.headers.get("content-encoding", "identity") == encoding
    assert response.json() == LARGE
    assert response.num_bytes_downloaded < len(orjson.dumps(LARGE)) / (10 if encoding == "gzip" else 1) + 1


@pytest.mark.parametrize(
    ("path", "caller", "accepted"),
    [
        ("/answer?size=small", "203.0.113.7", "gzip"),
        ("/answer?size=large", "127.0.0.1", "gzip"),
        ("/answer?size=large", "203.0.113.7", "identity"),
        ("/answer?size=large", "203.0.113.7", "gzip;q=0"),
    ],
)
async def test_small_answers_near_callers_and_those_who_do_not_read_it_get_it_plain(path, caller, accepted):
    response = await get(path, caller, **{"accept-encoding": accepted})
    assert "content-encoding" not in response.headers


async def test_behind_a_proxy_on_this_machine_the_caller_is_elsewhere():
    response = await get("/answer?size=large", "127.0.0.1", **{"x-forwarded-for": "203.0.113.7"})
    assert response.headers["content-encoding"] == "gzip"


async def test_what_is_compressed_already_stays_as_it_is():
    assert (await get("/encoded")).json() == LARGE
