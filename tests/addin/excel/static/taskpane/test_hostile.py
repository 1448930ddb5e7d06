"""Whatever a service says is shown as text, and whatever a user types is an argument."""

import pytest

from tests.addin.backends import backend_of
from tests.addin.excel.parts.panes import opened
from tests.embedded import EmbeddedService

SCRIPT = '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">'
QUOTED = SCRIPT.replace('"', '""')
SIGNALS = f"""slug,shortcode,name,category,signal_type,source,description,unit,is_premium
hostile,,"{QUOTED}","<b>x</b>",index,"<i>source</i>","{QUOTED}","<u>unit</u>",false
"""


@pytest.fixture
def hostile_service(tmp_path):
    """Serve one signal and one wire item whose every text is an attack."""
    import orjson

    from dataservice.server import Store, import_directory, running

    data = tmp_path / "data"
    (data / "observations").mkdir(parents=True)
    (data / "signals.csv").write_text(SIGNALS, encoding="utf-8")
    (data / "observations" / "hostile.csv").write_text(
        "observed_at,value\n2026-08-30,1\n2026-08-31,2\n", encoding="utf-8"
    )
    item = {"id": "00000000-0000-4000-8000-000000000000", "source": SCRIPT, "kind": "news", "headline": SCRIPT}
    item |= {"summary": None, "primary_url": "https://example.org/x", "image_url": None, "beat": None, "payload": None}
    item |= {"published_at": "2026-08-31T00:00:00Z", "tickers": [], "signal_slugs": [], "current_slugs": []}
    (data / "wire.jsonl").write_bytes(orjson.dumps(item | {"importance_score": 50}))
    with Store(tmp_path / "hostile.db") as store:
        import_directory(store, data)
        with running(store) as service:
            yield EmbeddedService(service, store.create_key("pro"), store.create_key("free"))


def test_markup_from_the_service_is_shown_as_text(chromium, hostile_service, tmp_path):
    with backend_of(hostile_service, tmp_path) as backend, opened(chromium, backend) as pane:
        pane.press("Load the catalogue")
        pane.sees(SCRIPT)
        pane.press("window.hacked")
        pane.sees("fetched just now")
        assert pane.text(".card h2") == SCRIPT
        pane.open_tab("Insert")
        pane.press("WIRE")
        pane.press("Preview (1 request)")
        pane.sees(SCRIPT)
        assert pane.tab.evaluate("[window.hacked, document.querySelectorAll('main img, main script').length]") == [
            None,
            0,
        ]


def test_a_slug_with_quotes_gives_a_formula_of_one_argument(chromium, backend):
    with opened(chromium, backend) as pane:
        pane.run(lambda page: page.route("**/functions/call*", with_quotes))
        pane.press("Load the catalogue")
        pane.press("Gold price")
        pane.press("Insert Latest value")
        assert pane.text("dialog .formula code") == '=DS.SIGNAL("wb""gold")'
        pane.run(lambda page: page.unroute_all(behavior="wait"))  # no answer is on its way when the page closes


async def with_quotes(route) -> None:
    """Answer as the backend does, a slug with a quote in the place of one."""
    response = await route.fetch()
    await route.fulfill(response=response, body=(await response.text()).replace("wb.gold", r"wb\"gold"))


def test_an_argument_cannot_break_out_of_its_text(chromium, backend):
    with opened(chromium, backend) as pane:
        pane.open_tab("Insert")
        pane.press("SIGNAL The latest value")
        pane.type("slug", 'x")&HYPERLINK("http://evil.example')
        pane.sees('=DS.SIGNAL("x"")&HYPERLINK(""http://evil.example")')


def test_the_page_runs_under_a_policy_without_inline_scripts(chromium, backend):
    policy = backend.http.get("/taskpane.html").headers["content-security-policy"]
    scripts = next(part for part in policy.split("; ") if part.startswith("script-src"))
    assert "unsafe" not in scripts
    page = backend.http.get("/taskpane.html").text
    assert "style=" not in page
    assert " on" not in page.split("<body>")[1].replace(" on ", "")
