"""The pages and files that Excel asks the backend for, over real HTTP."""

import re

import httpx
import pytest

from addin.excel.assets import STATIC, excel_assets
from addin.excel.manifest_check import problems
from addin.web import Assets
from udfs import REGISTRY

SERVED = {
    "/functions.json": "application/json",
    "/functions.js": "text/javascript; charset=utf-8",
    "/refresh.js": "text/javascript; charset=utf-8",
    "/manifest.xml": "application/xml",
    "/shortcuts.json": "application/json",
    "/help": "text/html; charset=utf-8",
    "/help/SIGNAL": "text/html; charset=utf-8",
    "/help/signal": "text/html; charset=utf-8",
    "/help.css": "text/css; charset=utf-8",
    "/icons/signal-32.png": "image/png",
}


@pytest.mark.parametrize("path", SERVED)
def test_a_page_is_served_with_its_type(sample_backend, path):
    response = sample_backend.http.get(path)
    assert response.status_code == 200
    assert response.headers["content-type"] == SERVED[path]
    assert response.content


@pytest.mark.parametrize("path", SERVED)
def test_a_page_that_has_not_changed_is_not_sent_again(sample_backend, path):
    tag = sample_backend.http.get(path).headers["etag"]
    again = sample_backend.http.get(path, headers={"if-none-match": tag})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "path", ["/help/NOPE", "/icons/nope.png", "/icons/..%2F..", "/types.d.ts", "/functions/result_cache.js"]
)
def test_what_is_not_a_page_is_not_served(sample_backend, path):
    assert sample_backend.http.get(path).status_code == 404


def test_the_bare_address_leads_to_the_page_for_people(sample_backend):
    led = sample_backend.http.get("/")
    assert (led.status_code, led.headers["location"]) == (307, "taskpane.html")


def test_excel_on_the_web_may_read_the_functions_and_nothing_that_holds_data(sample_backend):
    foreign = {"origin": "https://excel.officeapps.live.com"}
    allowed = {
        path: sample_backend.http.get(path, headers=foreign).headers.get("access-control-allow-origin")
        for path in SERVED
    }
    assert {path for path, origin in allowed.items() if origin == "*"} == {
        "/functions.json",
        "/functions.js",
        "/shortcuts.json",
    }
    assert "access-control-allow-origin" not in sample_backend.http.get("/status", headers=foreign).headers


def test_addresses_in_the_pages_are_those_the_backend_was_asked_by(sample_backend):
    told = sample_backend.http.get("/functions.json").json()
    assert {function["helpUrl"] for function in told["functions"]} == {
        f"{sample_backend.url}/help/{name}" for name in REGISTRY
    }


def test_the_manifest_is_good_and_names_pages_by_https(sample_backend):
    text = sample_backend.http.get("/manifest.xml").text
    assert problems(text) == []
    assert sample_backend.url.replace("http://", "https://") in text


def test_pages_can_be_read_before_the_service_is_known_to_work(backend, service):
    service.running.stop()
    assert backend.http.get("/functions.js").status_code == 200
    assert backend.http.get("/help/WIRE").status_code == 200


def test_pages_spend_no_request(backend, service):
    for path in SERVED:
        backend.http.get(path)
    assert service.running.request_count == 0


def test_every_icon_of_the_manifest_is_served(sample_backend):
    for icon in (STATIC / "icons").iterdir():
        assert httpx.get(f"{sample_backend.url}/icons/{icon.name}").content == icon.read_bytes()


def test_made_up_ports_in_the_host_header_are_answered_one_after_the_other(sample_backend):
    for port in range(1, 40):
        told = sample_backend.http.get("/functions.json", headers={"host": f"localhost:{port}"}).json()
        assert told["functions"][0]["helpUrl"].startswith(f"http://localhost:{port}/")


def test_what_a_page_loads_has_an_address_that_changes_with_its_content(sample_backend):
    page = sample_backend.http.get("/taskpane.html").text
    loaded = set(re.findall(r'(?:src|href)="(assets/[^"]+)"', page))
    assert {path.rpartition("/")[2] for path in loaded} >= {"main.js", "base.css", "exchange.js", "refresh.js"}
    for path in loaded:
        response = sample_backend.http.get(f"/{path}")
        assert response.status_code == 200, path
        assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert response.headers["access-control-allow-origin"] == "*"
    assert sample_backend.http.get("/assets/000000000000/client/exchange.js").status_code == 404
    changed = Assets({"client/exchange.js": STATIC / "client/batches.js"})
    assert changed.prefix != excel_assets().prefix


def test_every_module_of_the_pane_is_announced_so_that_none_waits_for_another(sample_backend):
    page = sample_backend.http.get("/taskpane.html").text
    announced = set(re.findall(r'modulepreload" href="assets/[^/]+/([^"]+)"', page))
    written = {path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*.js")}
    apart = {"client/timer_worker.js", "taskpane/views/signed_in.js", "workbook/self_test.js"}
    apart |= {
        f"taskpane/{name}.js" for name in ("views/signal_card", "ui/chart", "ui/revision_note")
    }  # behind the list
    assert announced == written - apart


@pytest.mark.parametrize("path", ["/taskpane.html", "/help", "/functions.json", "/registry.json"])
def test_pages_are_sent_compressed_to_who_reads_that(sample_backend, path):
    plain = sample_backend.http.get(path, headers={"accept-encoding": "identity"})
    packed = sample_backend.http.get(path, headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert packed.content == plain.content
    if path != "/registry.json":  # an answer, and the caller is next door
        assert packed.headers["content-encoding"] == "gzip"


PANE_BYTES = 120_000
"""A size budget: at 1.6 Mbit/s so many bytes take 0.6 s; the pane is painted before that."""


def test_the_pane_keeps_to_its_budget(sample_backend):
    page = sample_backend.http.get("/taskpane.html").text
    loaded = set(re.findall(r'(?:src|href)="(assets/[^"]+)"', page))
    sizes = [int(sample_backend.http.get(f"/{path}").headers["content-length"]) for path in loaded]
    assert sum(sizes) < PANE_BYTES
