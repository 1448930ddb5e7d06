"""Values of cells as spreadsheets join them to texts."""

from __future__ import annotations

from decimal import Decimal

LONGEST = 20
"""Characters of a number that is written without an exponent."""


def as_text(value: float) -> str:
    """A number as `&` joins it: 15 digits, an exponent only where it would be long, never "-0".

    >>> as_text(1 / 3), as_text(-0.0), as_text(12.0), as_text(1e-7)
    ('0.333333333333333', '0', '12', '0.0000001')
    >>> as_text(123456789012345678.0), as_text(1e20), as_text(1.2345678901234567e-05)
    ('123456789012346000', '1E+20', '1.23456789012346E-05')
    """
    if value == 0:
        return "0"
    plain = f"{Decimal(f'{value:.14e}'):f}"
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    if len(plain.lstrip("-")) <= LONGEST:
        return plain
    digits, _, exponent = f"{value:.14E}".partition("E")
    return f"{digits.rstrip('0').rstrip('.')}E{exponent}"
