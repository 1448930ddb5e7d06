"""Microsoft's published engine for custom functions in a page, with a small bridge in the place of Excel."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.addin.excel.parts.chromium import Chromium, Tab
from tests.addin.excel.parts.scripted_backend import ENGINE, ScriptedBackend

# What Excel is for the engine: it takes requests, and sends invocations in one message. Results are kept by number.
BRIDGE = """
globalThis.results = {};
globalThis.deliveries = [];
globalThis.largestExchange = 5_000_000;
globalThis._richApiNativeBridge = {
  sendMessageToHost(text) {
    const message = JSON.parse(text);
    const [results] = (message.message?.body?.Actions ?? []).flatMap((action) => action.ArgumentInfo?.Arguments ?? []);
    const fits = text.length <= largestExchange;
    if (Array.isArray(results) && fits) deliver(results, text.length);
    setTimeout(() => this.onMessageFromHost(JSON.stringify({
      id: message.id,
      message: fits
        ? { statusCode: 200, headers: {}, body: JSON.stringify({ Results: [] }) }
        : { statusCode: 400, headers: {}, body: '{"error":{"code":"RequestPayloadSizeLimitExceeded"}}' },
    })), 0);
  },
};
function deliver(entries, length) {
  deliveries.push({ entries: entries.length, length });
  for (const entry of entries) {
    const [id, ok, value, errorCode] = Array.isArray(entry)
      ? entry : [entry.id, !entry.failed, entry.value, entry.errorCode];
    results[id] = ok ? { value } : { value, errorCode };
  }
}
globalThis.invoke = (calls) => {
  const entries = calls.map(([name, ...values], index) => ({
    messageCategory: 1,
    messageType: 1000,
    message: JSON.stringify([index, name, values, null, 0]),
  }));
  _richApiNativeBridge.onMessageFromHost(JSON.stringify({ type: 3, message: { entries } }));
};
globalThis.cells = async (calls) => {
  globalThis.results = {};
  invoke(calls);
  while (Object.keys(results).length < calls.length) await new Promise((go) => setTimeout(go, 5));
  return calls.map((_, index) => results[index]);
};
"""


class Engine:
    """A page where calls go the way they go in Excel: message, engine, our functions, engine, message."""

    NOT_AVAILABLE, WRONG_VALUE = 1, 7

    def __init__(self, tab: Tab) -> None:
        self.tab = tab

    def cells(self, *calls: list[Any]) -> list[dict[str, Any]]:
        """What the cells with these calls show: a value, or an error's text and code."""
        return self.tab.evaluate("(calls) => cells(calls)", list(calls))


@pytest.fixture
def engine(chromium: Chromium, scripted: ScriptedBackend) -> Iterator[Engine]:
    if not ENGINE.is_file():
        pytest.skip("Microsoft's engine is not here; `make node-tools` installs it")
    with chromium.page(f"{scripted.url}/blank") as tab:
        tab.add_script(content=BRIDGE)
        tab.add_script(url=f"{scripted.url}/{ENGINE.name}")
        tab.add_script(url=f"{scripted.url}/functions.js")
        yield Engine(tab)
