"""Signing what a refresh writes: its lines go into the book and into the file, together with the book or not at all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from addin.workbook.audit.chain import REFRESH, START, block_lines
from addin.workbook.audit.contents.content_lines import content_lines
from addin.workbook.audit.embedded import embedded_content, embedded_frame
from addin.workbook.audit.evidence.crate import write_crate
from addin.workbook.audit.evidence.recording import Recording
from addin.workbook.audit.file import AuditFile
from addin.workbook.audit.keys import SigningKey, own_key
from addin.workbook.audit.numbers import Describing, begin_line, left_cells, name_of_book
from addin.workbook.audit.results import results
from addin.workbook.audit.stamp import StampError, TimeStamper
from addin.workbook.audit.statement import part_digests, stating
from addin.workbook.ooxml.book import Book
from addin.workbook.refresh.report import Refreshed
from dataservice.version import product_version

PRODUCT = "dataservice-addin"

Lines: TypeAlias = Callable[..., list[bytes]]
"""Makes the lines of one block from its first one, the hash of the line before, and what stamps it."""


class BookSigner:
    """Signs books with the user's key, and appends their lines to one file.

    `service` is the address of the service; only its host is written. `recording` knows the requests that were sent,
    `evidence` is the folder that holds what came back, and `stamper` asks an authority to confirm the time. Raises
    `AuditError` if the file cannot be used.
    """

    def __init__(
        self,
        audit: Path,
        *,
        namespace: str = "DS",
        service: str = "",
        key: SigningKey | None = None,
        clock: Callable[[], float] = time.time,
        recording: Recording | None = None,
        evidence: Path | None = None,
        stamper: TimeStamper | None = None,
    ) -> None:
        self._stamper = stamper
        self.not_stamped = ""
        """Why the last book has no time stamp though one was asked for."""
        self._recording = recording
        self._evidence = evidence
        self._told = 0
        self.audit = AuditFile(audit)
        self.audit.check()
        self._namespace = namespace
        self._service = urlsplit(service).netloc.rpartition("@")[2]
        self._key = key or own_key()
        self._clock = clock

    def signed(
        self, book: Book, report: Refreshed, target: Path, changed: Mapping[str, bytes]
    ) -> tuple[dict[str, bytes], AbstractContextManager[object]]:
        """The parts with the lines about a refreshed book, and a block inside of which it is put in its place.

        `changed` are the other parts of the book that will be written anew.
        """
        describing = self.describing(target)
        found = results(book, report)
        numbers = [describing.number(sheet, spot, result) for (sheet, spot), result in found]
        more = {
            **self._asked(describing),
            "requests": report.requests,
            "recalculates": report.recalculates,
            "left": left_cells((note.where, note.why) for note in report.skipped),
        }
        return self.block(book, describing, numbers, changed, by=REFRESH, source=book.package.path, **more)

    def _asked(self, describing: Describing) -> dict[str, Any]:
        """The requests that the lines name, and all others that were sent since the book before."""
        if self._recording is None:
            return {}
        for exchange in self._recording.sent[self._told :]:
            describing.place_of(exchange)
        self._told = len(self._recording.sent)
        if self._evidence is not None:
            write_crate(self._evidence, describing.asked, book=describing.book, service=self._service, at=describing.at)
        return {"asked": [each.line() for each in describing.asked]}

    @property
    def public_key(self) -> str:
        """The public half of the key that signs."""
        return self._key.public

    def named(self, book: Path) -> str:
        """Return how the lines name a book."""
        return name_of_book(book, self.audit.path)

    def describing(self, target: Path) -> Describing:
        """Return what makes the lines about the book at `target`."""
        behind = None if self._recording is None else self._recording.behind
        return Describing(self.named(target), self._namespace, product_version(), self._clock(), behind)

    def block(
        self,
        book: Book,
        describing: Describing,
        numbers: Iterable[Mapping[str, Any]],
        changed: Mapping[str, bytes] | None = None,
        *,
        by: str,
        source: Path,
        **more: Any,
    ) -> tuple[dict[str, bytes], AbstractContextManager[object]]:
        """The parts with these lines and those about the rest of the book, and a block inside of which they are filed.

        Raises `WorkbookError` for a book that programs would read in two ways.
        """
        package, numbers = book.package, list(numbers)
        named = self.named(source)
        begin = begin_line(describing, by=by, source=named, service=self._service, numbers=len(numbers)) | more
        content = list(content_lines(book, numbers, self._namespace))
        lines_part, around_lines = embedded_frame(package)
        digests = part_digests(package, {**(changed or {}), **around_lines}, without=lines_part)
        about = {name: begin[name] for name in ("by", "at", "service", "version")}

        def lines(begin: Mapping[str, Any], previous: str, stamp: Callable[[bytes], str] | None = None) -> list[bytes]:
            return block_lines(
                begin,
                numbers,
                content=content,
                state=stating(self._key, describing.book, digests, lines_part, about),
                public_key=self._key.public,
                sign=self._key.sign,
                previous=previous,
                stamp=stamp,
            )

        self.not_stamped = ""
        own = self._stamped(lines, {"audit": "", **begin}, START)

        def filed(audit_id: str, previous: str, replaced: Mapping[str, str]) -> list[bytes]:
            more = {"replaces": replaced} if replaced else {}
            return self._stamped(lines, {"audit": audit_id, **begin, **more}, previous)

        around = self.audit.appended(filed)
        return {**around_lines, lines_part: embedded_content(own)}, around

    def _stamped(self, lines: Lines, begin: Mapping[str, Any], previous: str) -> list[bytes]:
        """The lines of a block with a time stamp where one is wanted; without an answer they say why there is none."""
        stamper = self._stamper
        if stamper is None:
            return lines(begin, previous)
        try:
            return lines(
                {**begin, "stamped_by": stamper.name},
                previous,
                lambda content: stamper.stamp(content, str(begin["at"])),
            )
        except StampError as error:
            self.not_stamped = str(error)
            return lines({**begin, "not_stamped": self.not_stamped}, previous)
