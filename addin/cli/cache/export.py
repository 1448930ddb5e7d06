"""The archive as rows of a file: what each look showed for the first time."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import orjson

from addin.cli.output import csv_text
from addin.errors import AddinError
from dataservice.client import Vintages
from dataservice.client.archive.coverage import NEVER_BEFORE

COLUMNS = ("slug", "observed_at", "value_before", "value", "vanished", "first_seen", "not_before")

ROWS_AT_A_TIME = 10_000
"""As many become text at once: enough to be fast, few enough for any memory."""

Writer = Callable[[BinaryIO, Mapping[str, Vintages]], None]


def writer_for(file: Path) -> Writer:
    """Return what writes a file of this name; raises `AddinError` for another ending than .csv or .jsonl."""
    match file.suffix.lower():
        case ".csv":
            return write_csv
        case ".jsonl":
            return write_jsonl
        case _:
            raise AddinError(f"{file}: the name of the file must end in .csv or .jsonl")


def write_csv(out: BinaryIO, archive: Mapping[str, Vintages]) -> None:
    """Write the rows of all signals as CSV with a header."""
    text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for slug, vintages in archive.items():
        writer.writerows([csv_text(slug), *row] for row in rows_of(vintages))
    text.detach()


def write_jsonl(out: BinaryIO, archive: Mapping[str, Vintages]) -> None:
    """Write the rows of all signals as one JSON object a line."""
    for slug, vintages in archive.items():
        out.writelines(
            orjson.dumps(dict(zip(COLUMNS, (slug, *row), strict=True)), option=orjson.OPT_APPEND_NEWLINE)
            for row in rows_of(vintages)
        )


def rows_of(vintages: Vintages) -> Iterator[tuple[Any, ...]]:
    """Return what the looks at one signal showed, in the order of the observations and then of the looks.

    Observed at, value before, value, whether it vanished, first seen, not before; None where there is none.
    """
    facts = vintages.facts.changes_only()
    again = facts.repeats_observation()
    before = np.where(again, np.append(np.nan, facts.values[:-1])[: len(facts)], np.nan)
    for start in range(0, len(facts), ROWS_AT_A_TIME):
        part = slice(start, start + ROWS_AT_A_TIME)
        yield from zip(
            _moments(facts.times[part]),
            _numbers(before[part]),
            _numbers(facts.values[part]),
            facts.gone[part].tolist(),
            _moments(facts.first_seen[part].view("datetime64[us]")),
            _moments(
                np.where(facts.not_before[part] == NEVER_BEFORE, _NO_TIME, facts.not_before[part]).view("<M8[us]")
            ),
            strict=True,
        )


_NO_TIME = np.datetime64("NaT").astype(np.int64)


def _numbers(values: Any) -> list[float | None]:
    return [None if value != value else value for value in values.tolist()]


def _moments(times: Any) -> list[str | None]:
    """UTC times as text, without a fraction of a second that is 0."""
    texts = np.datetime_as_string(times, unit="us").tolist()
    return [None if text == "NaT" else f"{text.removesuffix('.000000')}Z" for text in texts]
