"""The pages name everything that users meet: functions, options, settings, commands, errors, headers, states."""

import re

import msgspec
import pytest

import dataservice.errors
import udfs.errors
from addin.backend import create_app
from addin.backend.http import KEY_HEADER
from addin.config.api_key import KeyStore, no_keychain
from addin.config.settings import PREFIX, Settings
from addin.excel import pages as excel_pages
from dataservice.client import State
from docs.generate.commands import commands
from tests.docs.pages import everything, pages
from tests.project.files import files_ending, read
from udfs import REGISTRY
from udfs.arguments.options import Options
from udfs.timeseries.transforms import TRANSFORMS

CONTRACT_HEADERS = (
    "Authorization",
    "X-Service-Tier",
    "X-Service-RateLimit-Cap",
    "X-Service-RateLimit-Remaining",
    "Retry-After",
)


def page_of(function) -> str:
    return pages()[f"docs/functions/ds_{function.id.lower()}.md"]


@pytest.mark.parametrize("function", REGISTRY.values(), ids=REGISTRY)
def test_the_page_of_a_function_names_its_arguments_choices_and_options(function):
    text = page_of(function)
    kinds = [parameter.kind for parameter in function.parameters]
    options = [option for kind in kinds if isinstance(kind, Options) for option in kind.allowed]
    names = [parameter.name for parameter in function.parameters] + [option.name for option in options]
    choices = [choice.value for kind in (*kinds, *(option.kind for option in options)) for choice in kind.choices]
    assert [name for name in (*names, *choices) if f"`{name}`" not in text] == []


@pytest.mark.parametrize("function", REGISTRY.values(), ids=REGISTRY)
def test_the_page_of_a_function_holds_its_help_and_shows_it_at_work(function):
    text = page_of(function)
    assert function.summary in text
    assert function.details in text
    assert "## Examples" in text


def test_every_transform_is_explained():
    text = page_of(REGISTRY["SIGNAL_HISTORY"])
    assert [
        each.form for each in TRANSFORMS.values() if f"`{each.form}` {each.help}".replace("|", "\\|") not in text
    ] == []


def test_every_setting_is_explained_with_its_environment_variable():
    text = pages()["docs/settings.md"]
    names = [name for name in Settings.__struct_fields__ if f"`{name}`" not in text]
    variables = [name for name in Settings.__struct_fields__ if f"`{PREFIX}{name.upper()}`" not in text]
    assert names == []
    assert variables == []


def test_every_setting_says_what_it_does():
    rows = re.findall(r"^\| `(\w+)`<br>.*\| ([^|]+) \|$", pages()["docs/settings.md"], flags=re.MULTILINE)
    explained = {name for name, sentence in rows if sentence.endswith(".")}
    assert explained == {field.name for field in msgspec.structs.fields(Settings)}


@pytest.mark.parametrize("words", [words for words, _ in commands()], ids=" ".join)
def test_every_command_has_a_section(words):
    assert re.search(rf"^#+ {' '.join(words)}$", pages()["docs/commands.md"], flags=re.MULTILINE)


def subclasses(kind: type) -> set[str]:
    found = {kind.__name__}
    return found.union(*(subclasses(each) for each in kind.__subclasses__()))


SERVICE_ERRORS = sorted(subclasses(dataservice.errors.DataServiceError))


@pytest.mark.parametrize("name", [*SERVICE_ERRORS, "UdfError", "ArgumentError", "NoDataError", "CellError"])
def test_every_error_is_explained(name):
    assert hasattr(dataservice.errors, name) or hasattr(udfs.errors, name)
    assert f"`{name}`" in pages()["docs/errors.md"]


def test_every_error_of_the_commands_is_explained():
    import addin.formulas
    import addin.workbook.refresh.refresh
    from addin.errors import AddinError

    assert addin.formulas is not addin.workbook.refresh.refresh  # imported so that their errors are known
    assert [name for name in subclasses(AddinError) if f"`{name}`" not in pages()["docs/errors.md"]] == []


def test_both_codes_of_cell_errors_are_explained():
    assert [code for code in udfs.errors.ErrorCode if f"`{code}`" not in pages()["docs/errors.md"]] == []


def test_every_kind_of_error_is_explained():
    assert [kind for kind in udfs.errors.ErrorKind if f"`{kind}`" not in pages()["docs/errors.md"]] == []


@pytest.mark.parametrize("state", State)
def test_every_state_of_a_resource_is_explained(state):
    assert f"| **{state}** |" in pages()["docs/freshness.md"]


@pytest.mark.parametrize("header", [*CONTRACT_HEADERS, KEY_HEADER])
def test_every_header_is_explained(header):
    assert f"`{header.casefold()}`" in pages()["docs/contract.md"].casefold()


def test_every_route_of_the_backends_protocol_is_listed(tmp_path):
    keys = KeyStore("https://data.example", open_keychain=no_keychain, file=tmp_path / "keys.json")
    settings = Settings(url="https://data.example", cache_dir=tmp_path)
    app = create_app(settings, keys=keys, pages=excel_pages.routes(settings))
    routes = {(method, route.path) for route in app.routes for method in route.methods if method != "HEAD"}
    own = {
        f"`{method} {path}`" for method, path in routes if "." not in path and not path.startswith(("/help", "/icons"))
    }
    pane = {each for each in own if "/taskpane/" in each or "/assets/" in each}
    assert [route for route in own - pane if route not in pages()["docs/protocol.md"]] == []


@pytest.mark.parametrize("path", ["/v1/signals", "/v1/signals/{slug}", "/v1/signals/{slug}/observations", "/v1/indices",
                                  "/v1/currents", "/v1/codex", "/v1/almanac", "/v1/wire"])  # fmt: skip
def test_every_endpoint_of_the_contract_is_listed(path):
    assert f"`{path}`" in pages()["docs/contract.md"]


def test_every_environment_variable_in_the_code_is_explained():
    code = "\n".join(read(path) for path in files_ending(".py", ".js") if path.parts[0] in {"addin", "dataservice"})
    read_from_there = set(re.findall(rf'"({PREFIX}[A-Z]+(?:_[A-Z]+)*)"', code))
    assert {f"{PREFIX}URL", f"{PREFIX}DB"} <= read_from_there
    assert [name for name in sorted(read_from_there) if f"`{name}`" not in pages()["docs/settings.md"]] == []


def test_nothing_in_the_pages_names_a_setting_that_does_not_exist():
    known = {f"{PREFIX}{name.upper()}" for name in Settings.__struct_fields__}
    own = ("API_KEY", "API_KEY_FILE", "CONFIG", "DB", "ADDIN_URL", "ADDIN_CA", "ADDIN_FIT", "SOFFICE")
    known |= {
        f"{PREFIX}{name}"
        for name in (*own, "OIDC_CLIENT_SECRET", "SESSION_SECRET", "SESSION_SECRET_OTHER", "METRICS_TOKEN")
    }
    named = set(re.findall(rf"{PREFIX}[A-Z_]+\b(?!…)", everything()))
    assert {name for name in named - known if "CONTRACT" not in name and "TEST" not in name} == {PREFIX} & named
