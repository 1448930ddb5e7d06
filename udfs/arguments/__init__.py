"""How the arguments of a formula are read: kinds, dates, options, ranges."""

from udfs.arguments.dates import Day, Last, Max, Since, SinceDay, Start, StartOf, as_day, since_moment
from udfs.arguments.kinds import (
    CELL_ERRORS,
    MAX_TEXT_ARGUMENT,
    Choice,
    Count,
    Flag,
    Kind,
    Names,
    Number,
    OneOf,
    Text,
    shown,
)
from udfs.arguments.options import Options
from udfs.arguments.parameters import Parameter, signature_of

__all__ = [
    "CELL_ERRORS",
    "MAX_TEXT_ARGUMENT",
    "Choice",
    "Count",
    "Day",
    "Flag",
    "Kind",
    "Last",
    "Max",
    "Names",
    "Number",
    "OneOf",
    "Options",
    "Parameter",
    "Since",
    "SinceDay",
    "Start",
    "StartOf",
    "Text",
    "as_day",
    "shown",
    "signature_of",
    "since_moment",
]
