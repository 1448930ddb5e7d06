"""Pages with impossible, odd and extreme times and numbers: whatever a service sends is read, left out or refused.

    python -m tests.attack.client.decoders --pages 20000

They are read in processes of their own: a crash in compiled code ends the process that it happens in. No row that is as
the contract has it may be lost among odd ones, unless the whole page is refused.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from dataservice.client.contract import decode
from dataservice.errors import MalformedAnswerError
from dataservice.observations import Observations
from tests.attack.parts.told import Told, conclude, heard

PAGES_A_PROCESS = 500
MOST_ROWS = 1_000
LIMIT_S = 300.0
BEGIN = datetime(1995, 1, 1, tzinfo=UTC)

TIMES: tuple[Any, ...] = (
    # days and times that there are not
    *("2021-02-30T00:00:00Z", "2021-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2021-04-31T00:00:00Z"),
    *("2021-00-01T00:00:00Z", "2021-13-01T00:00:00Z", "2021-01-00T00:00:00Z", "2021-01-32T00:00:00Z"),
    *("2021-01-01T24:00:00Z", "2021-01-01T25:00:00Z", "2021-01-01T00:60:00Z", "2021-01-01T00:00:61Z"),
    *("2016-12-31T23:59:60Z", "2016-12-31T23:58:60Z", "2017-01-01T00:59:60+01:00", "2016-12-31T23:59:60.5Z"),
    *("0000-01-01T00:00:00Z", "0000-00-00T00:00:00Z", "9999-99-99T99:99:99Z", "2021-02-30", "2021-02-29T12:00"),
    # the ends of time
    *("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00+00:01"),
    *("9999-12-31T23:59:59-00:01", "1582-10-10T00:00:00Z", "1969-12-31T23:59:59Z", "2262-04-12T00:00:00Z"),
    *("10000-01-01T00:00:00Z", "-0001-01-01T00:00:00Z", "292277-01-01T00:00:00Z", "99999999999999999999"),
    # odd, and some of them right
    *("2021-01-01", "2021-01-01T00:00Z", "2021-01-01 00:00:00Z", "2021-01-01t00:00:00z", "2021-01-01T00:00:00"),
    *("2021-01-01T00:00:00.1Z", "2021-01-01T00:00:00.123456789Z", "2021-01-01T00:00:00.Z", "2021-01-01T00:00:00,5Z"),
    *("2021-01-01T00:00:00+14:00", "2021-01-01T00:00:00-00:00", "2021-01-01T00:00:00+24:00", "2021-01-01T00:00:00+1"),
    *("2021-01-01T00:00:00ZZ", " 2021-01-01T00:00:00Z", "2021-01-01T00:00:00Z\n", "2021-01-01T00:00:00Z\0"),
    *("２０２１-01-01T00:00:00Z", "2021-01-01T00:00:0٣Z", "20210101T000000Z", "2021-W01-1", "2021-001", "2021-01"),
    *("NaT", "now", "today", "", "Z", "T", "é" * 20, "\ud800" + "0" * 19, "0" * 20, "9" * 19 + "Z", "x" * 5_000),
    *("2021-01-01T00:00:00[Europe/Paris]", "1609459200", "2021-1-1T0:0:0Z", "2021/01/01T00:00:00Z", "-2021-01-01T00"),
    *(None, 1609459200, 1.5, True, [], {}, ["2021-01-01"]),
)
NUMBERS = (
    *("0", "-0", "-0.0", "1e308", "-1e308", "1e309", "-1e999", "1e-400", "5e-324", "1" + "0" * 400, "0.1" + "0" * 400),
    *("9007199254740993", "18446744073709551616", "-9223372036854775809", "1E+2", "NaN", "Infinity", "-Infinity"),
    *("null", "true", "false", '"1"', '""', '"NaN"', "[]", "{}", "[1]", "01", "+1", "1.", ".5", "0x10", "1_000", ""),
)
DECODERS = ("observations", "bare observations", "detail", "latest")


def page(chance: random.Random) -> tuple[str, bytes]:
    """The name of a decoder and a body for it: right rows, and among them some that are not."""
    rows = chance.choice((1, 2, 3, 30, 364, 365, 499, 500, 501, 513, 800, 999, MOST_ROWS))
    step = timedelta(minutes=chance.choice((1, 60, 1_440)))
    ending = chance.choice(("Z", "Z", "Z", "+00:00", ".000Z", "", "mixed"))
    times: list[Any] = [_written(BEGIN + row * step, chance, ending) for row in range(rows)]
    values = [repr(float(row)) for row in range(rows)]
    for _ in range(chance.choice((0, 1, 1, 1, 2, 10))):
        times[chance.randrange(rows)] = chance.choice(TIMES)
    for _ in range(chance.choice((0, 0, 1, 2))):
        values[chance.randrange(rows)] = chance.choice(NUMBERS)
    if chance.random() < 0.1:
        chance.shuffle(times)
    name = chance.choice(DECODERS)
    if name == "latest":
        times[0], values[0] = chance.choice(TIMES), chance.choice((*NUMBERS, "1"))
    body = ",".join(
        f'{{"observed_at":{json.dumps(time)},"value":{value}}}' for time, value in zip(times, values, strict=True)
    )
    return name, _enveloped(name, body)


def _written(moment: datetime, chance: random.Random, ending: str) -> str:
    text = moment.strftime("%Y-%m-%dT%H:%M:%S")
    return text + (chance.choice(("Z", "+00:00", ".5Z", "-03:30", "z")) if ending == "mixed" else ending)


def _enveloped(name: str, rows: str) -> bytes:
    signal = '"slug":"s","name":"s"'
    text = {
        "observations": f'{{"data":[{rows}],"pagination":{{"limit":1000,"offset":0,"total":3}}}}',
        "bare observations": f"[{rows}]",
        "detail": f'{{"data":{{{signal},"history":[{rows}]}}}}',
        "latest": f'{{"data":{{{signal},"history":[],"latest":{_first(rows)}}}}}',
    }[name]
    return text.encode(errors="surrogatepass")


def _first(rows: str) -> str:
    return f"{rows.partition('},')[0].rstrip('}')}}}"


def wrong_with(name: str, body: bytes) -> str:
    """What is wrong with how a body was read; empty where it was read rightly, or refused as unreadable."""
    decoder = decode.readable(decode.observations_page if "observations" in name else decode.signal_detail)
    try:
        found: Any = decoder(body)
    except MalformedAnswerError:
        return ""
    except Exception as error:  # noqa: BLE001 - that there is none is what is tested
        return f"{type(error).__name__}: {error}"
    rows = json.loads(body)
    rows = rows["data"] if isinstance(rows, dict) else rows
    rows = rows.get("history", []) if isinstance(rows, dict) else rows
    return _differs(found.observations if isinstance(found, decode.ObservationsPage) else found.history, rows)


def _differs(found: Observations, rows: list[Any]) -> str:
    """The first row as the contract has it that is missing in what was read; odd rows may be read, or left out."""
    told = dict(found)
    for row in rows:
        time = _moment(row)
        if time is not None and time not in told:
            return f"{row} is lost"
    return ""


def _moment(row: Any) -> datetime | None:
    """The time of a row that is as the contract has it."""
    with suppress(ValueError, TypeError, KeyError):
        if _CONTRACT(row["observed_at"]) and type(row["value"]) is float and math.isfinite(row["value"]):
            return datetime.fromisoformat(row["observed_at"])
    return None


_CONTRACT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z").fullmatch


def read(pages: int, seed: int) -> Iterator[str]:
    """Read so many pages in this process; what was wrong with each that was read wrongly."""
    chance = random.Random(seed)
    for number in range(pages):
        name, body = page(chance)
        if wrong := wrong_with(name, body):
            yield f"page {number} of seed {seed}, {name}: {wrong}"


def attack(pages: int, seed: int) -> Told:
    """Read so many pages in processes of their own; one that dies is lost."""
    wrong = hung = lost = 0
    for first in range(0, pages, PAGES_A_PROCESS):
        part = min(PAGES_A_PROCESS, pages - first)
        command = ["--here", "--pages", str(part), "--seed", str(seed * 1_000_003 + first)]
        try:
            ended = subprocess.run(
                [sys.executable, "-m", __spec__.name, *command], capture_output=True, text=True, timeout=LIMIT_S
            )
        except subprocess.TimeoutExpired:
            hung += 1
            continue
        told = heard(ended.stdout)
        lost += told is None
        wrong += told.wrong if told else 0
        if told is None or told.wrong:
            sys.stdout.write(f"{command}, exit code {ended.returncode}: {(ended.stdout + ended.stderr)[-2_000:]}\n")
    return Told(pages, hung=hung, wrong=wrong, lost=lost)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--here", action="store_true", help="in this process")
    given = parser.parse_args()
    if not given.here:
        conclude(attack(given.pages, given.seed))
    found = list(read(given.pages, given.seed))
    sys.stdout.write("".join(f"{each}\n" for each in found[:5]))
    conclude(Told(given.pages, wrong=len(found)))


if __name__ == "__main__":
    main()
