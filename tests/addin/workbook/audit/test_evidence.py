"""The requests behind the numbers are those that were sent, and the numbers come again out of what came back."""

from pathlib import Path

import orjson
import pytest

from addin.workbook.audit.evidence.crate import METADATA, read_crate
from addin.workbook.audit.evidence.exchanges import Exchange, exchanges_behind
from dataservice.client import HistoryResource, SignalResource
from dataservice.client.contract.resources import CatalogueResource
from tests.addin.commands import addin, environment
from tests.addin.workbook.books import make_book
from tests.embedded import EmbeddedService

CELLS = {
    "A1": "us-cpi",
    "B1": "=_xldudf_DS_SIGNAL(A1)",
    "B2": '=_xldudf_DS_INDEX("risk-dial")',
    "B3": '=_xldudf_DS_SIGNAL("nope")',
    "B4": "=B1*2",
    "B5": '=_xldudf_DS_QUOTA("tier")',
    "C1": ("C1:D2", '=_xldudf_DS_SIGNAL_HISTORY("us-10y","MAX")'),
}


def sent(address: str, at: float, status: int = 200) -> Exchange:
    return Exchange(address, at, at, status, "", "0" * 64)


def lines_in(audit: Path) -> list[dict]:
    return [orjson.loads(line) for line in audit.read_bytes().splitlines()]


def run(folder: Path, service: EmbeddedService, *arguments: object, exits: int = 0) -> str:
    done = addin(*map(str, arguments), environ=environment(folder, service))
    assert done.returncode == exits, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_every_request_that_the_service_counted_is_named_and_no_other(service: EmbeddedService, tmp_path: Path):
    book, audit = make_book(tmp_path / "book.xlsx", CELLS), tmp_path / "numbers.jsonl"
    before = len(service.running.requests)
    run(tmp_path, service, "refresh", book, "--audit", audit, exits=3)
    logged = [str(request) for request in service.running.requests[before:]]
    asked = lines_in(audit)[0]["asked"]
    assert sorted(each["address"] for each in asked) == sorted(logged)
    numbers = {line["cell"]: line for line in lines_in(audit) if line["type"] == "number"}
    (source,) = numbers["B1"]["sources"]
    assert [asked[each]["address"] for each in source["requests"]] == ["/v1/signals/us-cpi?history=365"]
    assert numbers["B4"]["rests_on"] == ["Sheet1!B1"]
    assert numbers["B1"]["calls"] == [["SIGNAL", "us-cpi"]]
    history = {asked[each]["address"].partition("?")[0] for each in numbers["C1"]["sources"][0]["requests"]}
    assert history <= {"/v1/signals/us-10y", "/v1/signals/us-10y/observations"}
    assert "/v1/signals/us-10y/observations" in history


def test_an_answer_out_of_the_cache_names_the_request_of_the_run_before(service: EmbeddedService, tmp_path: Path):
    book, audit = make_book(tmp_path / "book.xlsx", {"A1": '=_xldudf_DS_SIGNAL("us-cpi")'}), tmp_path / "n.jsonl"
    run(tmp_path, service, "refresh", book, "--audit", audit)
    run(tmp_path, service, "refresh", book, "--audit", audit)
    first, again = (line for line in lines_in(audit) if line["type"] == "begin")
    assert (first["asked"], again["requests"]) == (again["asked"], 0)


def test_a_request_that_nobody_recorded_is_not_invented(service: EmbeddedService, tmp_path: Path):
    book, audit = make_book(tmp_path / "book.xlsx", {"A1": '=_xldudf_DS_SIGNAL("us-cpi")'}), tmp_path / "n.jsonl"
    run(tmp_path, service, "refresh", book)
    run(tmp_path, service, "refresh", book, "--audit", audit)
    begin, number = lines_in(audit)[:2]
    assert begin["asked"] == []
    assert [(each["requests"], each["unrecorded"]) for each in number["sources"]] == [([], True)]


def test_the_numbers_come_again_out_of_the_evidence_with_the_service_down(service: EmbeddedService, tmp_path: Path):
    book, audit, evidence = make_book(tmp_path / "book.xlsx", CELLS), tmp_path / "n.jsonl", tmp_path / "answers"
    run(tmp_path, service, "refresh", book, "--audit", audit, "--evidence", evidence, exits=3)
    run(tmp_path, service, "freeze", book, "-o", tmp_path / "copy.xlsx", "--audit", audit)
    service.running.stop()
    for name, formulas in (("book.xlsx", 5), ("copy.xlsx", 4)):  # the copy keeps a formula that is not ours
        told = run(tmp_path, service, "verify", tmp_path / name, "--evidence", evidence)
        assert f"{formulas} formulas as signed; 1 tell of the machine that signed" in told
    body = next(evidence.glob("bodies/*"))
    altered = bytearray(body.read_bytes())
    altered[len(altered) // 2] ^= 1
    body.write_bytes(altered)
    told = run(tmp_path, service, "verify", book, "--evidence", evidence, exits=3)
    assert "has other bytes than were signed" in told
    body.unlink()
    assert "is not in" in run(tmp_path, service, "verify", book, "--evidence", evidence, exits=3)


def test_a_folder_of_evidence_describes_itself(service: EmbeddedService, tmp_path: Path):
    book, audit = make_book(tmp_path / "book.xlsx", {"A1": CELLS["B2"]}), tmp_path / "n.jsonl"
    run(tmp_path, service, "refresh", book, "--audit", audit, "--evidence", tmp_path / "answers")
    graph = orjson.loads((tmp_path / "answers" / METADATA).read_bytes())["@graph"]
    kinds = {each["@id"]: each["@type"] for each in graph}
    assert kinds["./"] == "Dataset"
    (exchange,) = read_crate(tmp_path / "answers")
    assert kinds[f"bodies/{exchange.sha256}"] == ["File", "prov:Entity"]
    assert service.key not in (tmp_path / "answers" / METADATA).read_text()


@pytest.mark.parametrize(
    ("resource", "at", "expected", "is_whole"),
    [
        (SignalResource("a"), 10.0, [1], True),
        (SignalResource("a"), 200.0, [], False),
        (SignalResource("z"), 10.0, [], False),
        (CatalogueResource(), 30.0, [3, 4], True),
        (HistoryResource("a"), 40.0, [1, 5], True),
        (HistoryResource("b"), 40.0, [6], False),
    ],
)
def test_an_answer_rests_on_the_requests_of_its_own_arrival(resource, at, expected, is_whole):
    known = [
        sent("/v1/signals/a?history=365", 1.0, status=500),
        sent("/v1/signals/a?history=365", 9.9),
        sent("/v1/signals/b?history=365", 9.9, status=404),
        sent("/v1/signals?limit=500", 29.0),
        sent("/v1/signals?limit=500&offset=500", 29.5),
        sent("/v1/signals/a/observations?limit=1000", 39.0),
        sent("/v1/signals/b/observations?start=2020-01-01", 39.0),
    ]
    found = exchanges_behind(resource, at, known)
    assert ([known.index(each) for each in found.exchanges], found.is_whole) == (expected, is_whole)
