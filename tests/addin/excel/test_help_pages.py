"""The help that Excel opens for a function."""

import re
from html.parser import HTMLParser

import pytest

from addin.excel.pages import function_page, list_page
from udfs import REGISTRY
from udfs.arguments.kinds import Choice, Text
from udfs.arguments.parameters import Parameter
from udfs.engine.registry import Udf

VOID = {"meta", "link", "br"}


class Nesting(HTMLParser):
    """Notes elements that are closed in another order than they were opened."""

    def __init__(self):
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def misnested(page: str) -> list[str]:
    nesting = Nesting()
    nesting.feed(page)
    return nesting.wrong + nesting.open


@pytest.mark.parametrize("function", REGISTRY.values(), ids=REGISTRY)
def test_a_page_explains_the_function_its_arguments_and_examples(function):
    page = function_page(function, namespace="DS")
    assert misnested(page) == []
    assert f"<h1>DS.{function.id}</h1>" in page
    assert all(f"<code>{parameter.name}</code>" in page for parameter in function.parameters)
    assert ("<h2>Examples</h2>" in page) is bool(function.examples)


def test_examples_have_the_namespace_in_use():
    page = function_page(REGISTRY["SIGNAL"], namespace="ACME")
    assert "ACME.SIGNAL(" in page
    assert "DS.SIGNAL" not in page


def test_whatever_the_registry_holds_is_text():
    attack = "<script>alert(1)</script>"
    kind = Text(help=attack, choices=(Choice(attack, attack),))
    function = Udf(
        "ATTACK",
        attack,
        f"`{attack}`",
        (Parameter("name", kind, required=True),),
        (),
        "value",
        attack,
        (attack,),
        None,
        None,
    )
    assert "<script" not in function_page(function, namespace=attack)
    assert "<script" not in list_page([function], namespace=attack)


def test_the_list_names_every_group_once():
    groups = list(dict.fromkeys(function.group for function in REGISTRY.values()))
    page = list_page(REGISTRY.values(), namespace="DS")
    assert re.findall("<h2>(.*?)</h2>", page) == groups


@pytest.mark.parametrize("name", ["SIGNAL_HISTORY", "WIRE"])
def test_a_page_fits_into_a_narrow_window(chromium, sample_backend, name):
    with chromium.page(f"{sample_backend.url}/help/{name}", viewport={"width": 360, "height": 700}) as tab:
        assert tab.evaluate("document.documentElement.scrollWidth") == 360


def test_an_unknown_function_gets_a_page_that_leads_on(sample_backend):
    response = sample_backend.http.get("/help/NO_SUCH")
    assert response.status_code == 404
    assert response.headers["content-type"].startswith("text/html")
    assert 'href="../help"' in response.text


def test_the_list_leads_to_every_function():
    page = list_page(REGISTRY.values(), namespace="DS")
    assert misnested(page) == []
    assert all(f'href="help/{name}"' in page for name in REGISTRY)
