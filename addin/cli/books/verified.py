"""What `addin verify` tells: in words and as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from addin.cli.output import counted, print_json
from dataservice.terminal import echo, printable

if TYPE_CHECKING:
    from addin.workbook.audit.evidence.recompute import Recomputed
    from addin.workbook.audit.verify import Verified


def _again_as_json(again: Recomputed) -> dict[str, object]:
    return {
        "as_signed": again.again,
        "of_this_machine": again.of_this_machine,
        "not_fresh": again.not_fresh,
        "unaffected": again.unaffected,
        "answers": again.answers,
        "changed": [
            {"cell": printable(each.where), "signed": printable(each.signed), "found": printable(each.found)}
            for each in again.differences
        ],
        "problems": [printable(each) for each in again.problems],
    }


SHOWN_PARTS = 8
"""How many parts of a file that was saved again are named."""


def print_verified(verified: Verified, book: Path, again: Recomputed | None = None) -> None:
    """Print each difference, what is covered, and whose signature it is."""
    from addin.workbook.audit.keys import fingerprint

    for difference in verified.differences:
        echo(
            f"{printable(difference.where)}: holds {printable(difference.found)}, signed was "
            f"{printable(difference.signed)}"
        )
    for problem in verified.problems:
        echo(f"the signed lines: {problem}", err=True)
    for note in _notes(verified):
        echo(f"note: {note}", err=True)
    key = fingerprint(verified.block.public_key)
    at = str(verified.block.begin.get("at"))[:19].replace("T", " ")
    echo(f"{book}: {_result(verified)}; signed {at} UTC with {key}, {verified.trust}")
    if verified.stamp.at:
        echo(f"  {_stamped(verified)}")
    echo(f"  {_covered(verified)}")
    if not verified.file.is_as_signed and verified.file.changed:
        named = ", ".join(verified.file.changed[:SHOWN_PARTS])
        more = "" if len(verified.file.changed) <= SHOWN_PARTS else " …"
        echo(f"  saved again since then: other bytes in {counted(len(verified.file.changed), 'part')} ({named}{more})")
    if again is not None:
        _print_again(again)
    if not verified.trust.is_accepted:
        echo(f"  if {key} is the key that its owner told you, trust it: addin signer trust {verified.block.public_key}")


def _print_again(again: Recomputed) -> None:
    for problem in again.problems:
        echo(f"the evidence: {problem}", err=True)
    for difference in again.differences:
        where, signed = printable(difference.where), printable(difference.signed)
        echo(f"{where}: signed was {signed}, {printable(difference.found)}")
    if again.problems:
        echo("  nothing was worked out again: the evidence is not what was signed")
        return
    left = ""
    if again.of_this_machine:
        left += f"; {again.of_this_machine:,} tell of the machine that signed"
    if again.unaffected:
        left += f"; {again.unaffected:,} rest on no answer"
    if again.not_fresh:
        left += f"; {again.not_fresh:,} were signed with an old value"
    done = counted(again.again, "formula")
    echo(f"  worked out again from {counted(again.answers, 'answer')}, without the service: {done} as signed{left}")


def _result(verified: Verified) -> str:
    if verified.differences:
        return f"{counted(len(verified.differences), 'difference')} from what was signed"
    if verified.problems:
        return "its cells hold what the lines say, but these are not as they were signed"
    if verified.file.is_as_signed:
        return "the file as it was signed"
    return f"all {verified.cells:,} cells hold what was signed"


def _stamped(verified: Verified) -> str:
    at = verified.stamp.at.replace("T", " ").removesuffix("Z")
    return f"stamped {at} UTC by {printable(verified.stamp.authority) or 'a trusted authority'}"


def _covered(verified: Verified) -> str:
    found = verified.coverage
    whole = found.cells + found.uncovered
    return (
        f"of {counted(whole, 'cell')}: {found.from_service:,} from the service, {found.calculated:,} calculated, "
        f"{found.entered:,} entered; {found.uncovered:,} not covered"
    )


def _notes(verified: Verified) -> list[str]:
    notes = list(verified.notes)
    if verified.is_old:
        notes.append(
            "an older version signed this book: its numbers alone, not their inputs, names, formats, other cells, nor "
            "the file"
        )
    if verified.without_value:
        named = ", ".join(verified.without_value[:3]) + (" …" if len(verified.without_value) > 3 else "")
        notes.append(
            f"{counted(len(verified.without_value), 'formula')} as signed ({named}), but the program that saved the "
            "book wrote no value"
        )
    if verified.unfinished:
        notes.append(f"{verified.unfinished:,} lines at the end have no signature; they were not counted")
    return notes


def print_json_verified(verified: Verified, book: Path, again: Recomputed | None = None) -> None:
    """Print the same as JSON."""
    from addin.workbook.audit.keys import fingerprint
    from addin.workbook.audit.trusted import Trust

    block, found = verified.block, verified.coverage
    print_json(
        {
            "book": printable(str(book)),
            "cells": verified.cells,
            "changed": [
                {"cell": printable(each.where), "signed": printable(each.signed), "found": printable(each.found)}
                for each in verified.differences
            ],
            "problems": [printable(each) for each in verified.problems],
            "notes": _notes(verified),
            "coverage": {
                "from_service": found.from_service,
                "calculated": found.calculated,
                "entered": found.entered,
                "not_covered": found.uncovered,
            },
            "file_as_signed": verified.file.is_as_signed,
            "changed_parts": verified.file.changed,
            "without_value": verified.without_value,
            "signed_at": block.begin.get("at"),
            "stamped_at": verified.stamp.at or None,
            "stamped_by": printable(verified.stamp.authority) or None,
            "key": fingerprint(block.public_key),
            "public_key": block.public_key,
            "trust": verified.trust.name.casefold(),
            "own_key": verified.trust is Trust.OWN,
            "seal": block.seal,
            "unfinished_lines": verified.unfinished,
            **({} if again is None else {"evidence": _again_as_json(again)}),
        }
    )
