"""The application over a store, asked without a socket."""

import sys
import warnings

import httpx

from dataservice.server.http.app import create_app


async def test_a_request_changes_no_warning_filters(service):
    """They belong to the whole process: two servers in two threads that change them at once spoil an answer."""
    headers = {"Authorization": f"Bearer {service.key}"}
    changes = []

    def watch(frame, event, _argument):
        if event == "call" and (frame.f_code.co_filename, frame.f_code.co_name) == (warnings.__file__, "__enter__"):
            changes.append(frame.f_back.f_code.co_filename)

    transport = httpx.ASGITransport(create_app(service.store))
    async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers) as http:
        sys.setprofile(watch)
        try:
            answers = [await http.get(path) for path in ("/v1/signals/us-cpi", "/openapi.json")]
        finally:
            sys.setprofile(None)
    assert [answer.status_code for answer in answers] == [200, 200]
    assert changes == []
