"""The fields of records as cells: by name, known or not, inside an object by `object.key`.

Times become dates or date-times in UTC, lists are joined by ", ", an object in a list is shown by what names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any, Generic, TypeVar

from dataservice.models import Record
from udfs.arguments.kinds import Choice, Names, Text, shown
from udfs.arguments.other_tools import advice
from udfs.cells import Table, blanks, table
from udfs.errors import ArgumentError
from udfs.records.lookup import nearest

R = TypeVar("R", bound=Record)

MAX_COLUMNS = 256
"""The most columns that a table is asked for: more than any record has fields, and soon filled."""

ALL_FIELDS = "*"
"""In place of field names: every field there is."""

TIME_FIELD = re.compile(r"(^|[._])(at|date|time)$")
"""A field whose last word is one of these holds a time; a headline that looks like a date stays text."""

ADDRESS_FIELD = re.compile(r"(^|[._])(url|uri|link|href)$")
"""A field whose last word is one of these holds an address."""

WEB_ADDRESS = re.compile(r"https?://[^\s\x00-\x1f]+\Z", re.IGNORECASE)

NAMING_KEY = re.compile(r"(^|_)(slug|shortcode|name|id|symbol|ticker|code|signal|series|component)$")
"""The last word of a key that says what an object is about, such as `signal_slug`."""


OTHER_WORDS = {
    ("date", "day", "time", "datetime", "timestamp", "when"): ("observed_at", "published_at"),
    ("price", "close", "last", "latest", "level"): ("value",),
    ("title",): ("name", "headline"),
    ("label",): ("name",),
    ("units",): ("unit",),
    ("percent", "pct", "return"): ("pct_change",),
    ("text", "content"): ("body", "summary", "description"),
    ("link", "url", "href"): ("primary_url",),
}
"""What people call our fields, where the spelling would lead elsewhere: `date` is nearer to `state`."""


def _meant(word: str, names: Collection[str]) -> str | None:
    """The field that other people call so."""
    fields = (each for words, found in OTHER_WORDS.items() if word.casefold() in words for each in found)
    return next((each for each in fields if each in names), None)


@dataclass(frozen=True, slots=True)
class Fields(Generic[R]):
    """The fields of records of one kind: the contract's, `derived` ones, and whatever else they hold."""

    kind: type[R]
    choices: tuple[Choice, ...]
    derived: Mapping[str, Callable[[R], Any]] = field(default_factory=dict)
    _known: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        explained = (choice.value for choice in self.choices)
        known = dict.fromkeys([*explained, *self.derived, *self.kind.field_names()])
        object.__setattr__(self, "_known", tuple(known))

    def columns(self, example: str, choices: Sequence[Choice] = (), *, also: str = "") -> Names:
        """The argument that chooses the columns of a table; `also` tells of further names."""
        return Names(
            help=f"columns to show, as text with commas or as a range; {also}* shows all",
            example=example,
            choices=tuple(choices or self.choices),
            open_choices=True,
            most=MAX_COLUMNS,
        )

    def one(self, help: str, example: str, also: Sequence[Choice] = ()) -> Text:  # noqa: A002 - as `Kind` calls it
        """The argument that chooses one field; a range of fields spills."""
        choices = (*self.choices, *also)
        return Text(help=help, example=example, choices=choices, open_choices=True, vectorized=True)

    def names(self, records: Iterable[R] = ()) -> list[str]:
        """Every name there is: those explained first, then the contract's others, then those met in `records`."""
        names = dict.fromkeys(self._known)
        for record in records:
            names.update(dict.fromkeys(record.extra))
        return list(names)

    def find(self, name: str, records: Sequence[R], argument: str = "field") -> str:
        """The field meant by `name`, in any case; raises `ArgumentError` about `argument`, naming the nearest one.

        Where there are no records, a name may be a field that only records would show, so it passes.
        """
        if name in self._known:
            return name
        names = self.names(records)
        if name in names:
            return name
        known = {each.casefold(): each for each in reversed(names)}
        head, dot, rest = name.partition(".")
        if name.casefold() in known:
            return known[name.casefold()]
        if dot and head.casefold() in known:
            return f"{known[head.casefold()]}.{rest}"
        if not records:
            return name
        guess = _meant(name, names) or nearest(name, names)
        meant = f" (did you mean {guess}?)" if guess else ""
        hint = "" if guess and guess == _meant(name, names) else advice("field", name)
        message = f"there is no field {shown(name)}" + (hint or f"{meant}; there are {', '.join(names)}")
        raise ArgumentError(message).about(argument)

    def select(self, names: Sequence[str], records: Sequence[R]) -> list[str]:
        """The fields meant by `names`, `*` being all of them."""
        found: list[str] = []
        for name in names:
            found.extend(self.names(records) if name == ALL_FIELDS else [self.find(name, records, "fields")])
            if len(found) > MAX_COLUMNS:
                raise ArgumentError(f"a table has at most {MAX_COLUMNS} columns")
        return found

    def raw(self, record: R, name: str) -> Any:
        """The service's own value of a field that `find` gave; None where this record does not have it."""
        derive = self.derived.get(name)
        value = derive(record) if derive else _reach(record, name)
        return None if is_unsafe_address(name, value) else value

    def value(self, record: R, name: str) -> Any:
        """The same value as a cell shows it."""
        return shown_value(name, self.raw(record, name))

    def table(self, names: Sequence[str], records: Sequence[R]) -> Table:
        """A table of shape (records, fields), one row a record; the header says the fields' names."""
        selected = self.select(names, records)
        found = table(selected, [[self.value(record, name) for name in selected] for record in records])
        columns = [
            blanks(len(records), kind)
            if (kind := self._kind(name)) and not any(value is not None for value in column)
            else column
            for name, column in zip(selected, found.columns, strict=True)
        ]
        return replace(found, columns=tuple(columns))

    def _kind(self, name: str) -> type | None:
        """The type of a field's values where it is a number or a time, whatever the records at hand show."""
        if TIME_FIELD.search(name):
            return datetime
        return float if name in self.kind.number_names() else None


def is_unsafe_address(name: str, value: Any) -> bool:
    """Return whether the field is an address that is none of the web, such as `javascript:`: no cell may link to it."""
    return isinstance(value, str) and ADDRESS_FIELD.search(name) is not None and not WEB_ADDRESS.match(value)


def shown_value(name: str, raw: Any) -> Any:
    """A raw value of the field `name` as a cell shows it."""
    match raw:
        case str() if TIME_FIELD.search(name):
            found = moment(raw)
            return raw if found is None else day_or_moment(found)
        case list() | tuple() | Mapping():
            return _in_words(raw)
        case _:
            return raw


def moment(text: str) -> datetime | None:
    """The date-time (UTC) in `text`, a date being its midnight; None where it is neither."""
    try:
        found = datetime.fromisoformat(text)
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def day_or_moment(found: datetime) -> date | datetime:
    """The day alone where the time is midnight (UTC): a daily value belongs to a day, not to a moment."""
    return found.date() if found == datetime(found.year, found.month, found.day, tzinfo=UTC) else found


def naming_texts(item: Mapping[str, Any]) -> list[str]:
    """The texts that name an object, in its order; objects inside it may hold them too."""
    named: list[str] = []
    for key, value in item.items():
        if isinstance(value, Mapping):
            named.extend(naming_texts(value))
        elif isinstance(value, str) and NAMING_KEY.search(key.casefold()):
            named.append(value)
    return named


def _reach(record: Record, name: str) -> Any:
    if name in record.extra:
        return record.extra[name]
    head, _, rest = name.partition(".")
    value = getattr(record, head) if head in record.field_names() else record.extra.get(head)
    for part in rest.split(".") if rest else ():
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _in_words(item: Any) -> str:
    match item:
        case None:
            return ""
        case bool():
            return str(item).upper()
        case float():
            return f"{item:.15g}"
        case Mapping():
            return ", ".join(f"{key}: {_in_words(value)}" for key, value in item.items())
        case list() | tuple():
            return ", ".join(_named(part) for part in item)
        case _:
            return str(item)


def _named(item: Any) -> str:
    """An item of a list: an object is shown by the first text that names it."""
    names = naming_texts(item) if isinstance(item, Mapping) else []
    return names[0] if names else _in_words(item)
