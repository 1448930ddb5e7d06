"""Users made up ask as pages do: again what is pending, and what a busy backend has refused."""

import aiohttp
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from addin.backend.serving import running
from addin.cli.load.users import User, timed_round
from tests.addin.backends import usual_listener

VALUE = {"answers": [{"value": [[1]], "fresh_s": 900}], "requests": 0}


async def reasons_after(*replies):
    """What the cells show of a user to whose posts these are the replies, and how many are left."""
    left = list(replies)

    async def reply(_):
        status, content = left.pop(0)
        return JSONResponse(content, status)

    with running(Starlette(routes=[Route("/functions/call", reply, methods=["POST"])]), usual_listener()) as url:
        times = await timed_round(lambda: aiohttp.ClientSession(f"{url}/"), [User(None, [b'["SIGNAL","us-cpi"]'])])
    return times.reasons, len(left)


@pytest.mark.parametrize(("status", "kind"), [(503, "busy"), (429, "busy"), (503, "restarting")])
async def test_what_was_refused_for_now_is_posted_again(status, kind):
    refusal = (status, {"error": "not now", "kind": kind})
    assert await reasons_after(refusal, refusal, (200, VALUE)) == ({}, 0)


async def test_what_was_refused_for_good_is_shown_in_the_cells():
    refusal = (503, {"error": "this took longer than 4 s, and was ended"})
    assert await reasons_after(refusal, (200, VALUE)) == ({"this took longer than 4 s, and was ended": 1}, 1)
