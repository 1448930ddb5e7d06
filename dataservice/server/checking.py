"""Records held against the contract before anything is imported."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import ValidationError

from dataservice.server.instants import microseconds
from dataservice.server.readers import Place
from dataservice.server.records import Open

# Enough of a wrong value to find it by.
_SHOWN_CHARACTERS = 80


@dataclass(frozen=True)
class CheckedRecord:
    """A record that fits the contract: unknown fields kept, nullable ones left out set to null, date-times in UTC."""

    fields: dict[str, Any]
    published_at_us: int = 0

    @property
    def json(self) -> str:
        """The record as the API returns it."""
        return orjson.dumps(self.fields).decode()


def checked(model: type[Open], place: Place, text: str) -> CheckedRecord:
    """The record of a JSON text; `ImportRefusedError` at its place when it does not fit the model."""
    try:
        orjson.loads(text)  # stricter than pydantic: NaN and infinities are no JSON
        record = model.model_validate_json(text)
    except orjson.JSONDecodeError as error:
        raise place.refuse(f"is not JSON: {error}") from error
    except ValidationError as error:
        raise place.refuse(_first_problem(error)) from error
    if "\\u0000" in text:  # PostgreSQL cannot hold it
        raise place.refuse("holds a NUL character")
    published_at = getattr(record, "published_at", None)
    return CheckedRecord(record.model_dump(mode="json"), 0 if published_at is None else microseconds(published_at))


def checked_records(model: type[Open], texts: Iterator[tuple[Place, str]], *, identity: str) -> list[CheckedRecord]:
    """The records of JSON texts; one that repeats the identity of another, in whatever case, is refused."""
    first: dict[str, int] = {}
    records = []
    for place, text in texts:
        record = checked(model, place, text)
        name = str(record.fields[identity]).lower()
        if name in first:
            raise place.refuse(f"{identity}: {name} stands on line {first[name]} already")
        first[name] = place.line
        records.append(record)
    return records


def shown(value: Any) -> str:
    """A wrong value in a message: quoted, and short."""
    return repr(str(value)[:_SHOWN_CHARACTERS])


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"]) or "the record"
    return f"{where}: {problem['msg'].removeprefix('Value error, ')}, not {shown(problem['input'])}"
