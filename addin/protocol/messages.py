"""The backend's protocol, version 1: every message between hosts and the backend, as types.

Routes encode these types, but for the answers and their parts, of which there are many: `encoding.py` writes them,
Calc's `values.py` reads them, and tests hold both to `Answer`. The pages' `protocol.d.ts`, Calc's reader of all else
and the tables of `docs/protocol.md` are generated (`make reference`). Times are in seconds; a date is a serial number
as spreadsheets count it; a member that may be absent is `UNSET`.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

Scalar: TypeAlias = bool | int | float | str | None
"""What one cell of an argument can hold; a blank cell is null."""

Argument: TypeAlias = Scalar | list[list[Scalar]]
"""An argument of a call: a value, or a range as rows."""

Item: TypeAlias = Scalar | dict[str, Scalar]
"""One place of a column whose kinds mix: a value, a `TimeCell` or an `ErrorCell`."""

Code: TypeAlias = Literal["#N/A", "#VALUE!"]
"""The two codes that can carry a text in Excel."""

TimeKind: TypeAlias = Literal["date", "datetime"]
"""What a number stands for that is a time."""

RefreshMode: TypeAlias = Literal["stale", "force"]
"""Ask again for what is stale, or for everything."""

HelpShape: TypeAlias = Literal["value", "table", "either"]
"""What a function gives."""

MAX_ROWS, MAX_COLUMNS = 1_048_576, 16_384
"""Of a sheet."""

HostType: TypeAlias = Literal["string", "number", "boolean", "any"]
"""The type of an argument as Excel declares it."""


class Stale(Struct, frozen=True):
    """Why a value is the last known one."""

    age_s: Annotated[float, Meta(description="how old the value is")]
    reason: Annotated[str, Meta(description="why no newer one came, in one sentence")]


class TimeCell(Struct, frozen=True, forbid_unknown_fields=True):
    """A time in a column whose kinds mix."""

    value: Annotated[float, Meta(description="the serial number")]
    type: TimeKind


class ErrorCell(Struct, frozen=True, forbid_unknown_fields=True):
    """An error in a column whose kinds mix."""

    error: Code
    message: Annotated[str, Meta(description="why, and what to do")]
    kind: Annotated[str | UnsetType, Meta(description="the kind of error, where it is known")] = UNSET
    argument: Annotated[str | UnsetType, Meta(description="the argument at fault")] = UNSET
    instead: Annotated[str | UnsetType, Meta(description="a search that finds something, unlike this one")] = UNSET


class Column(Struct, frozen=True, forbid_unknown_fields=True):
    """A column of a table."""

    type: Literal["number", "date", "datetime", "any"]
    values: Annotated[list[Item], Meta(description="numbers, and nulls; of the type `any` whatever a cell can hold")]


class Answer(Struct, frozen=True, forbid_unknown_fields=True):
    """The answer to one call: a value, an error, a table, or that it is still to come."""

    fresh_s: Annotated[float, Meta(description="how long a host may show it without asking again")]
    value: Annotated[Scalar | UnsetType, Meta(description="of a single cell")] = UNSET
    type: Annotated[TimeKind | UnsetType, Meta(description="where the value is a time")] = UNSET
    error: Annotated[Code | UnsetType, Meta(description="where there is no value")] = UNSET
    message: Annotated[str | UnsetType, Meta(description="why, and what to do")] = UNSET
    kind: Annotated[str | UnsetType, Meta(description="the kind of error (docs/errors.md), where it is known")] = UNSET
    argument: Annotated[str | UnsetType, Meta(description="the argument at fault, or `option` and the name of one")] = (
        UNSET
    )
    instead: Annotated[str | UnsetType, Meta(description="a search that finds something, unlike this one")] = UNSET
    rows: Annotated[int | UnsetType, Meta(description="of a table, without its header")] = UNSET
    header: Annotated[list[str] | UnsetType | None, Meta(description="of a table; null where it has none")] = UNSET
    columns: list[Column] | UnsetType = UNSET
    stale: Annotated[Stale | UnsetType, Meta(description="where the value is the last known one")] = UNSET
    pending: Annotated[
        Literal[True] | UnsetType, Meta(description="it is still to come: the call is to be posted again")
    ] = UNSET


class Quota(Struct, frozen=True):
    """What is left of the month, as the service told it last."""

    tier: str
    cap: Annotated[int, Meta(description="requests of a month")]
    remaining: int
    used_here: Annotated[int, Meta(description="spent by this installation in this month")]


class Progress(Struct, frozen=True):
    """How far loading is, while something is pending."""

    done: int
    of: int
    left_s: Annotated[float | None, Meta(description="about how long the rest takes; null where nobody can know")]
    pace: Annotated[str | UnsetType, Meta(description="what limits it, in one sentence, where that is known")] = UNSET


class Question(Struct, frozen=True):
    """Whether so many requests may be sent: a cell that depends on it says so, or shows its last known value."""

    id: Annotated[int, Meta(description="to be sent with the user's answer")]
    requests: int
    left: Annotated[int | None, Meta(description="what is left of the month, where it is known")]
    text: Annotated[str, Meta(description="one sentence for the user")]


class Batch(Struct, frozen=True):
    """Many calls: each a list that begins with the function's id."""

    calls: list[list[Argument]]


class Reply(Struct, frozen=True):
    """The answers to a batch, in its order."""

    answers: list[Answer]
    requests: Annotated[int, Meta(description="spent since the last reply, each told once")]
    quota: Quota | None
    generation: Annotated[int, Meta(description="when it grows, a host forgets all that it kept of answers")]
    progress: Progress | UnsetType = UNSET
    question: Question | UnsetType = UNSET


class ConsentAnswer(Struct, frozen=True):
    """The user's answer to a question."""

    question: Annotated[int, Meta(description="its id")]
    load: Annotated[bool, Meta(description="whether to send the requests")]


class ConsentTaken(Struct, frozen=True):
    """Whether an answer was taken."""

    taken: Annotated[bool, Meta(description="false if the question is not open any more")]


class AdviceRequest(Struct, frozen=True):
    """A formula that a host cannot read, as its user typed it."""

    formula: Annotated[str, Meta(max_length=8_192, description="such as `=SIGNAL(1)`")]


class Advice(Struct, frozen=True):
    """What to change in a formula."""

    advice: Annotated[str | None, Meta(description="a sentence; null where nothing is known")]


class CellBlock(Struct, frozen=True):
    """Cells of a sheet as a host read them, row by row."""

    top: Annotated[int, Meta(ge=0, lt=MAX_ROWS, description="rows and columns are counted from 0")]
    left: Annotated[int, Meta(ge=0, lt=MAX_COLUMNS, description="the first column")]
    values: list[list[Scalar]]
    formulas: Annotated[list[list[str | None]], Meta(description="with their equals signs; null where a cell has none")]
    spilled: Annotated[bool, Meta(description="whether formulas elsewhere may fill some of these cells")]


class OpenSheet(Struct, frozen=True):
    """A sheet of a workbook that is open in a host."""

    name: str
    rows: Annotated[int, Meta(description="up to the last one that holds something")]
    formulas: Annotated[
        dict[int, str],
        Meta(description="ours to be refreshed, by 16,384 times their row plus their column"),
    ]
    others: Annotated[dict[int, str], Meta(description="our other formulas")]
    cells: list[CellBlock]


class OpenBook(Struct, frozen=True):
    """A workbook that is open in a host: our formulas, and what is known of the cells that they lead to."""

    sheets: list[OpenSheet]
    names: Annotated[
        dict[str, str],
        Meta(description="the formulas of defined names, in upper case; a sheet's own as `SHEET!NAME`"),
    ]
    is_part: Annotated[bool, Meta(description="whether there is more that the host does not hand over")] = False


class WantedCells(Struct, frozen=True):
    """Cells that a host is to read; rows and columns are counted from 0, the last ones included."""

    sheet: Annotated[int, Meta(description="its place among the sheets")]
    top: int
    bottom: int
    left: int
    right: int


class ExpectedCalls(Struct, frozen=True):
    """The calls that a recalculation makes."""

    expected: Annotated[int, Meta(description="so many for sure")]
    depend: Annotated[bool, Meta(description="whether further ones may follow, as where cells rest on each other")]


class Cost(Struct, frozen=True):
    """What a batch would spend if it were sent now, or after a refresh."""

    requests: Annotated[int, Meta(description="the highest number where there is one, else the likely one")]
    at_least: int
    at_most: Annotated[int | None, Meta(description="null where nobody can know")]
    text: Annotated[str, Meta(description="such as `3 requests`, `2 to 4 requests` or `at least 2 requests, likely 5`")]
    calls: int
    fresh_calls: Annotated[int, Meta(description="calls that spend nothing")]
    quota: Quota | None
    allowed: bool
    reason: Annotated[str | None, Meta(description="why it is not allowed")]


class BookCost(Struct, frozen=True):
    """What a refresh of a workbook would spend."""

    wanted: Annotated[list[WantedCells], Meta(description="cells to be handed over with the same book once more")]
    cost: Annotated[Cost | None, Meta(description="null as long as cells are wanted; its calls are formulas")]


class LivePart(Struct, frozen=True):
    """An area that a defined name calls of no use in a copy without formulas."""

    name: Annotated[str, Meta(description="the end of that name")]
    sheet: Annotated[str, Meta(description="the one that the name belongs to")]
    address: Annotated[str, Meta(description="with its sheet")]
    numbers: Annotated[
        dict[int, str], Meta(description="the cells of it that hold no text, by their places, with their formulas")
    ]


class FilledArea(Struct, frozen=True):
    """Cells that a formula filled until it was replaced by its value."""

    sheet: str
    formula: str
    top: int
    bottom: int
    left: int
    right: int


class LiveParts(Struct, frozen=True):
    """What may be of no use in a copy, and what tells of this machine."""

    parts: list[LivePart]
    filled: list[FilledArea]


class PartsOfTemplate(Struct, frozen=True):
    """Which of these parts the template made, in their order: nothing else is emptied."""

    ours: list[bool]


class RefreshRequest(Struct, frozen=True):
    """A refresh of a key."""

    mode: RefreshMode = "stale"


class Refreshed(Struct, frozen=True):
    """A refresh has begun: what is asked for from now on is new."""

    generation: int
    quota: Quota | None


class KeyState(Struct, frozen=True):
    """What may be shown of the backend's own key."""

    set: bool
    source: Annotated[str, Meta(description="where it comes from")]
    id: Annotated[str | None, Meta(description="its last four characters")]


class KeySaved(Struct, frozen=True):
    """The key in use after one was stored or forgotten."""

    key: KeyState
    generation: int


class KeyVerdict(Struct, frozen=True):
    """What the service says of a key."""

    ok: bool
    tier: str | None
    message: str
    kind: Annotated[str | UnsetType, Meta(description="the kind of error, where it is refused")] = UNSET


class ProbeFinding(Struct, frozen=True):
    """What a service answers otherwise than documented."""

    question: str
    found: str
    does: Annotated[str, Meta(description="what the add-in does about it")]


class ProbeVerdict(Struct, frozen=True):
    """What a probe of the service found."""

    ok: bool
    message: Annotated[str, Meta(description="why nothing was found out; else empty")]
    requests: Annotated[int, Meta(description="the requests that it spent")]
    findings: list[ProbeFinding]


class Budget(Struct, frozen=True):
    """What is kept from being spent."""

    reserve: Annotated[int, Meta(description="requests that are never spent")]
    monthly: Annotated[int | None, Meta(description="the most requests of a month, where there is a limit")]


class ResourceReport(Struct, frozen=True):
    """A resource that was asked for, and the state of the backend's answer."""

    resource: str
    state: str
    age_s: float | None
    source: str | None
    last_error: str | None
    last_error_kind: str | None


class PersonReport(Struct, frozen=True):
    """Who is signed in."""

    name: str
    role: Literal["user", "admin"]
    key: Annotated[str | None, Meta(description="the last characters of their key")]


class Status(Struct, frozen=True):
    """The backend's state."""

    version: str
    service: Annotated[str, Meta(description="the Data Service's address")]
    namespace: str
    ttl_s: Annotated[float, Meta(description="how long an answer stays fresh")]
    shared: Annotated[bool, Meta(description="each user's key comes with the requests, none is kept here")]
    key: KeyState
    quota: Quota | None
    budget: Budget
    question: Annotated[Question | None, Meta(description="null while nothing is asked")]
    resources: list[ResourceReport]
    generation: int
    requests_total: int
    started_at: Annotated[float, Meta(description="seconds since 1970")]
    person: Annotated[PersonReport | UnsetType, Meta(description="only where sign-in is set up")] = UNSET


class ChoiceHelp(Struct, frozen=True):
    """One value that an argument accepts."""

    value: str
    help: str


class OptionHelp(Struct, frozen=True):
    """An option of a function, such as `freq=M`."""

    name: str
    default: Annotated[Scalar, Meta(description="what leaving it out means, where that is one value")]
    help: str
    example: str
    type: HostType
    lifted: Annotated[bool, Meta(description="whether a range gives a result for each of its cells")]
    open_choices: Annotated[bool, Meta(description="whether other values than the choices are accepted")]
    choices: list[ChoiceHelp]


class ParameterHelp(OptionHelp, frozen=True):
    """An argument of a function."""

    required: bool
    options: list[OptionHelp]


class FunctionHelp(Struct, frozen=True):
    """A function of the library, as the registry describes it."""

    id: str
    group: str
    summary: str
    details: str
    shape: HelpShape
    examples: list[str]
    parameters: list[ParameterHelp]


BUSY = "busy"
"""The kind of a refusal because too much is under way."""


class Refusal(Struct, frozen=True):
    """A request that was refused, with a status of 400 or more."""

    error: Annotated[str, Meta(description="why, and what to do")]
    kind: Annotated[
        str | UnsetType, Meta(description="where a host does something about it: `restarting`, `busy`, `sign_in`")
    ] = UNSET


def encode(message: Struct | list[FunctionHelp]) -> bytes:
    """The JSON of a message."""
    return msgspec.json.encode(message)


def encode_around(reply: Reply) -> tuple[bytes, bytes]:
    """The JSON of a reply before and after its answers, which are encoded already and may be many."""
    before = b'{"answers":['
    return before, encode(reply)[len(before) :]
