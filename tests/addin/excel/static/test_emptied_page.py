"""The page that tests share is emptied between them: nothing of one reaches another."""

ASKING = "() => { const ask = () => fetch('/status').then(() => setTimeout(ask), () => undefined); ask(); ask(); }"


def test_what_a_page_asks_for_last_reaches_no_backend_that_a_test_stood_in_for(chromium, scripted):
    asked = []

    async def stand_in(route):
        asked.append(route.request.url)
        await route.fulfill(json={})

    for _ in range(3):
        with chromium.page(f"{scripted.url}/blank") as tab:
            chromium.run(tab.page.route("**/status", stand_in))
            tab.evaluate(ASKING)
            tab.evaluate("fetch('/status').then(() => undefined)")
    assert len(asked) >= 3
    assert scripted.requests == []


def test_the_next_page_knows_nothing_of_the_one_before(chromium, scripted):
    with chromium.page(f"{scripted.url}/blank") as tab:
        tab.evaluate(
            "() => { localStorage.a = 1; sessionStorage.a = 1; document.cookie = 'a=1'; globalThis.left = 1; }"
        )
    with chromium.page(f"{scripted.url}/blank") as tab:
        kept = "[localStorage.length, sessionStorage.length, document.cookie, globalThis.left ?? null]"
        assert tab.evaluate(kept) == [0, 0, "", None]
