"""The same call shows the same value in every host, or the case names the difference."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.addin.backends import RunningBackend
from tests.addin.calc.office import require_soffice
from tests.docs.pages import pages
from tests.embedded import EmbeddedService
from tests.hosts import in_programs, in_spreadsheets
from tests.hosts.calls import CASES, Call, Case, Difference, Host
from tests.hosts.shown import Failure, Shown, Time, changed, is_same, of_result, rows_of
from udfs import REGISTRY


@pytest.fixture(scope="module")
def usual(sample_service: EmbeddedService) -> dict[Call, Shown]:
    """Return what the functions themselves give for the calls, and for those that a difference names instead."""
    asked = [
        *((case.function, case.args) for case in CASES),
        *(call for case in CASES for call in case.instead.values()),
    ]
    results = in_programs.of_library(asked, sample_service)
    return {call: of_result(result) for call, result in zip(asked, results, strict=True)}


@pytest.fixture
def ask(request: pytest.FixtureRequest, sample_service: EmbeddedService, tmp_path: Path) -> Any:
    """Return what asks a host for all calls; a host's program is started only where it is asked."""

    def asked(host: Host) -> list[Shown]:
        match host:
            case Host.EXCEL:
                return in_spreadsheets.in_excel(CASES, request.getfixturevalue("chromium"), _backend(request).url)
            case Host.CALC:
                require_soffice()
                return in_spreadsheets.in_calc(CASES, tmp_path, _backend(request).url)
            case Host.REFRESH:
                return in_spreadsheets.in_refreshed_book(CASES, tmp_path, sample_service)
            case Host.DESKTOP:
                return in_programs.on_desktop(CASES, tmp_path, sample_service)
            case Host.SERVER:
                return in_programs.on_xlwings_server(CASES, sample_service)
            case Host.EVAL:
                return in_programs.by_eval(CASES, tmp_path, sample_service)
            case Host.PYTHON:
                return in_programs.in_python(CASES, sample_service)

    return asked


def _backend(request: pytest.FixtureRequest) -> RunningBackend:
    backend: RunningBackend = request.getfixturevalue("sample_backend")
    return backend


def wanted(case: Case, host: Host, usual: dict[Call, Shown]) -> Shown:
    """What a host is to show for a case."""
    truth = usual[case.instead.get(host, (case.function, case.args))]
    rule = case.differs.get(host)
    if rule is None or host in case.instead:
        return truth
    return case.shows[host] if rule.value.change is None else changed(truth, rule.value.change)


@pytest.mark.parametrize("host", Host)
def test_every_call_shows_the_same_value_or_the_difference_that_is_named(host, ask, usual):
    found = zip(CASES, ask(host), strict=True)
    pairs = [(case, shown, wanted(case, host, usual)) for case, shown in found]
    assert [(case.function, case.args, shown, wish) for case, shown, wish in pairs if not is_same(shown, wish)] == []


def test_every_difference_that_is_named_is_one(usual):
    same = [
        (case.function, case.args, host)
        for case in CASES
        for host in case.differs
        if is_same(wanted(case, host, usual), usual[case.function, case.args])
    ]
    assert same == []
    assert {rule for case in CASES for rule in case.differs.values()} == set(Difference)
    assert [(case, host) for case in CASES for host, rule in case.differs.items() if host not in rule.value.hosts] == []


def test_the_calls_show_every_kind_of_value(usual):
    values = [value for shown in usual.values() for row in rows_of(shown) for value in row]
    assert Counter(type(value) for value in values).keys() == {float, str, bool, Time, Failure, type(None)}
    assert len(CASES) >= 60
    assert {case.function for case in CASES} == REGISTRY.keys() - {"STATUS", "EXPLAIN", "REVISIONS"}, (
        "these tell of ages and looks"
    )


def test_the_page_lists_every_difference_with_its_reason():
    section = pages()["docs/hosts.md"].partition("## Where a host differs")[2].partition("\n## ")[0]
    listed = {line.strip("| ") for line in section.splitlines() if line.startswith("| ")} - {"where | what | why"}
    rules = (rule.value for rule in Difference)
    assert listed == {f"{', '.join(rule.hosts)} | {rule.what} | {rule.why}" for rule in rules}
