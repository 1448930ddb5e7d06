"""Time stamps: an authority confirms when a book was signed; one that is refused, missing, late or forged is told."""

import shutil
import socket
import time
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from addin.errors import AddinError
from addin.workbook.audit.chain import _line, block_lines, stamped_bytes
from addin.workbook.audit.embedded import embedded_content, embedded_lines
from addin.workbook.audit.frozen import sign_copy
from addin.workbook.audit.keys import own_key
from addin.workbook.audit.signing import BookSigner
from addin.workbook.audit.stamp import TimeStamper, check_stamp
from addin.workbook.audit.verify import Verified, verify_book
from addin.workbook.freeze import freeze_book
from addin.workbook.ooxml.package import Package
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.refresh.report import Refreshed
from dataservice.client import AsyncClient
from tests.addin.commands import addin, environment
from tests.addin.workbook.audit.time_stamping import Authority, time_stamping
from tests.addin.workbook.books import make_book
from tests.embedded import EmbeddedService
from udfs import Session

pytestmark = pytest.mark.skipif(not shutil.which("openssl"), reason="openssl plays the authority")

CELLS = {"A1": '=_xldudf_DS_SIGNAL("us-cpi")', "A2": "=A1*2", "A3": 5}


@pytest.fixture
def authority(tmp_path: Path) -> Iterator[Authority]:
    """An authority that stamps what it is asked to."""
    with time_stamping(tmp_path / "authority") as found:
        yield found


async def signed(service: EmbeddedService, folder: Path, stamper: TimeStamper, *, ago_s: float = 0) -> Refreshed:
    """Sign a book as the clock told it so many seconds ago."""
    book = make_book(folder / "book.xlsx", CELLS)
    signer = BookSigner(
        folder / "numbers.jsonl", service=service.url, stamper=stamper, clock=lambda: time.time() - ago_s
    )
    async with AsyncClient(service.url, service.key) as client:
        return await refresh_book(Session(client, traced=True), book, book, signing=signer)


def both(folder: Path, authority: Authority) -> tuple[Verified, Verified]:
    """What the book's own lines say, and those of the file."""
    book, audit = folder / "book.xlsx", folder / "numbers.jsonl"
    return verify_book(book, authorities=authority.root), verify_book(book, audit, authorities=authority.root)


async def test_the_time_of_signing_is_confirmed_in_the_book_and_in_the_file(
    service: EmbeddedService, tmp_path: Path, authority: Authority
):
    before = datetime.now(UTC).replace(microsecond=0)
    report = await signed(service, tmp_path, TimeStamper(authority.address, authority.root))
    assert (report.not_stamped, report.is_current, authority.asked) == ("", True, 2)
    for verified in both(tmp_path, authority):
        assert verified.holds
        assert verified.stamp.authority == "CN=Time Ltd"
        assert before <= datetime.fromisoformat(verified.stamp.at) <= datetime.now(UTC)


async def test_a_frozen_copy_is_stamped_too(service: EmbeddedService, tmp_path: Path, authority: Authority):
    stamper = TimeStamper(authority.address, authority.root)
    await signed(service, tmp_path, stamper)
    book, copy = tmp_path / "book.xlsx", tmp_path / "copy.xlsx"
    freeze_book(book, tmp_path / "values.xlsx")
    signer = BookSigner(tmp_path / "numbers.jsonl", service=service.url, stamper=stamper)
    assert sign_copy(book, tmp_path / "values.xlsx", copy, signer).not_stamped == ""
    assert verify_book(copy, authorities=authority.root).stamp.at


def refused(authority: Authority, _: Path) -> TimeStamper:
    authority.answer = lambda _: authority.stamp(b"no query at all")
    return TimeStamper(authority.address, authority.root)


def failing(authority: Authority, _: Path) -> TimeStamper:
    authority.answer = lambda _: (503, b"")
    return TimeStamper(authority.address, authority.root)


def babbling(authority: Authority, _: Path) -> TimeStamper:
    authority.answer = lambda _: (200, b"<html>")
    return TimeStamper(authority.address, authority.root)


def endless(authority: Authority, _: Path) -> TimeStamper:
    authority.answer = lambda _: (200, b"0" * 1_000_000)
    return TimeStamper(authority.address, authority.root)


def of_another_request(authority: Authority, _: Path) -> TimeStamper:
    earlier: list[tuple[int, bytes]] = []

    def answer(query: bytes) -> tuple[int, bytes]:
        earlier.append(authority.stamp(query))
        return earlier[0]

    authority.answer = answer
    stamper = TimeStamper(authority.address, authority.root)
    stamper.stamp(b"something else", datetime.now(UTC).isoformat())
    return stamper


def not_trusted(authority: Authority, folder: Path) -> TimeStamper:
    with time_stamping(folder / "other", "Other Ltd") as other:
        return TimeStamper(authority.address, other.root)


def down(authority: Authority, _: Path) -> TimeStamper:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    return TimeStamper(f"http://user:secret@127.0.0.1:{port}/tsa", authority.root)


def silent(authority: Authority, folder: Path) -> TimeStamper:
    server = socket.create_server(("127.0.0.1", 0))  # takes connections, and never answers
    authority.silent = server  # type: ignore[attr-defined]  # open as long as the test runs
    return TimeStamper(f"http://127.0.0.1:{server.getsockname()[1]}/tsa", authority.root, timeout_s=0.2)


@pytest.mark.parametrize(
    ("stamper", "told"),
    [
        (refused, "refused"),
        (failing, "status 503"),
        (babbling, "cannot be read"),
        (endless, "more than a stamp"),
        (of_another_request, "about these lines"),
        (not_trusted, "not that of a trusted authority"),
        (down, "was not reached"),
        (silent, "did not answer in time"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
async def test_without_a_stamp_the_book_is_signed_all_the_same_and_says_why(
    service: EmbeddedService, tmp_path: Path, authority: Authority, stamper, told: str
):
    report = await signed(service, tmp_path, stamper(authority, tmp_path))
    assert told in report.not_stamped
    assert "secret" not in report.not_stamped
    assert not report.is_current
    for verified in both(tmp_path, authority):
        assert verified.holds
        assert verified.coverage.cells == 3
        assert verified.stamp.at == ""
        assert any(told in note for note in verified.notes)
    if hasattr(authority, "silent"):
        authority.silent.close()


async def test_an_authority_that_failed_is_not_asked_again_in_the_same_run(
    service: EmbeddedService, tmp_path: Path, authority: Authority
):
    stamper = failing(authority, tmp_path)
    for _ in range(3):
        assert (await signed(service, tmp_path, stamper)).not_stamped
    assert authority.asked == 1


@pytest.mark.parametrize("ago_s", [3600.0, -3600.0])
async def test_a_clock_that_is_wrong_is_told_while_signing(
    service: EmbeddedService, tmp_path: Path, authority: Authority, ago_s: float
):
    report = await signed(service, tmp_path, TimeStamper(authority.address, authority.root), ago_s=ago_s)
    assert "by the signer's own clock" in report.not_stamped


def with_last_line(book: Path, target: Path, change) -> Path:
    """The book with another last line, which no signature covers as a whole."""
    with zipfile.ZipFile(book) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    (name,) = [name for name in parts if name.startswith("customXml/item") and "Props" not in name]
    with Package(book) as package:
        *lines, last = embedded_lines(package)
    end = orjson.loads(last)
    changed = change({key: value for key, value in end.items() if key not in ("previous", "hash")})
    parts[name] = embedded_content([*lines, _line(changed, end["previous"])])
    with zipfile.ZipFile(target, "w") as out:
        for each, part in parts.items():
            out.writestr(each, part)
    return target


async def test_a_stamp_that_was_removed_exchanged_or_spoilt_is_told(
    service: EmbeddedService, tmp_path: Path, authority: Authority
):
    await signed(service, tmp_path, TimeStamper(authority.address, authority.root))
    with time_stamping(tmp_path / "other", "Other Ltd") as other:
        foreign = TimeStamper(other.address, other.root)

        def by_another(end):
            content = stamped_bytes(end["public_key"], end["signature"], end["statement"])
            return end | {"stamp": foreign.stamp(content, datetime.now(UTC).isoformat())}

        def of_another(end):
            own = TimeStamper(authority.address, authority.root)
            return end | {"stamp": own.stamp(b"another signature", datetime.now(UTC).isoformat())}

        for change, told in (
            (lambda end: {key: value for key, value in end.items() if key != "stamp"}, "is missing"),
            (lambda end: end | {"stamp": "not Base64!"}, "cannot be read"),
            (lambda end: end | {"stamp": end["stamp"][:400]}, "cannot be read"),
            (by_another, "not that of a trusted authority"),
            (of_another, "about these lines"),
        ):
            book = with_last_line(tmp_path / "book.xlsx", tmp_path / "changed.xlsx", change)
            verified = verify_book(book, authorities=authority.root)
            assert not verified.holds
            assert verified.stamp.at == ""
            assert any(told in problem for problem in verified.problems), (told, verified.problems)


async def test_a_stamp_that_is_later_than_the_signature_says_is_told(tmp_path: Path, authority: Authority):
    key, stamper = own_key(), TimeStamper(authority.address, authority.root)
    now = datetime.now(UTC).isoformat()
    begin = {"at": "2020-01-01T00:00:00.000Z", "stamped_by": stamper.name}
    lines = block_lines(
        begin, [], previous="0" * 64, public_key=key.public, sign=key.sign, stamp=lambda made: stamper.stamp(made, now)
    )
    end = orjson.loads(lines[-1])
    content = stamped_bytes(key.public, end["signature"], None)
    assert "by the signer's own clock" in check_stamp(begin, content, end["stamp"], authority.root).problem
    assert check_stamp(begin | {"at": now}, content, end["stamp"], authority.root).at


async def test_a_stamp_that_nobody_is_trusted_for_is_noted_and_confirms_nothing(
    service: EmbeddedService, tmp_path: Path, authority: Authority
):
    await signed(service, tmp_path, TimeStamper(authority.address, authority.root))
    verified = verify_book(tmp_path / "book.xlsx")
    assert verified.holds
    assert verified.stamp.at == ""
    assert any("stamp_ca_file" in note for note in verified.notes)


def test_a_file_without_certificates_is_refused_before_anything_is_signed(tmp_path: Path):
    (tmp_path / "root.pem").write_text("none")
    for file in ("root.pem", "missing.pem"):
        with pytest.raises(AddinError, match="stamp_ca_file cannot be used"):
            TimeStamper("http://127.0.0.1:1/", tmp_path / file)


def run(environ: dict[str, str], *arguments: object, exits: int = 0) -> str:
    done = addin(*map(str, arguments), environ=environ)
    assert done.returncode == exits, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_commands_stamp_by_two_settings_and_tell_the_time(
    service: EmbeddedService, tmp_path: Path, authority: Authority
):
    book = make_book(tmp_path / "book.xlsx", {"A1": CELLS["A1"]})
    audit = tmp_path / "numbers.jsonl"
    settings = {"STAMP_URL": authority.address, "STAMP_CA_FILE": str(authority.root)}
    me = environment(tmp_path, service) | {f"DATA_SERVICE_{name}": value for name, value in settings.items()}
    run(me, "refresh", book, "--audit", audit)
    told = run(me, "verify", book)
    assert f"  stamped {datetime.now(UTC):%Y-%m-%d}" in told
    assert "UTC by CN=Time Ltd" in told
    assert orjson.loads(run(me, "verify", book, "--json"))["stamped_by"] == "CN=Time Ltd"
    authority.answer = lambda _: (503, b"")
    assert "not stamped: signed all the same" in run(me, "refresh", book, "--audit", audit, exits=3)
    copy = tmp_path / "copy.xlsx"
    assert "not stamped, but signed all the same" in run(me, "freeze", book, "-o", copy, "--audit", audit, exits=3)
    assert "status 503" in run(me, "verify", copy)
