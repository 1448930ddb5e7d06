"""The template that comes with the program: what is always written in the same way need not be worked out again."""

from __future__ import annotations

from pathlib import Path
from shutil import copyfileobj

from addin.workbook.ooxml.errors import WorkbookError
from addin.workbook.ooxml.target import Target

NAME = "workbook_template.xlsx"


def refuse_unwritable(target: Path) -> None:
    """Raise `WorkbookError` where no template can be written to `target`, before any work."""
    if target.suffix.lower() != ".xlsx":
        raise WorkbookError(f"{target}: a workbook's name ends in .xlsx")
    Target(target)


def copy_template(target: Path) -> bool:
    """Write the template with the functions' usual namespace to `target`; return False where it is not here."""
    refuse_unwritable(target)
    here = Path(__file__)
    for ready in (here.with_name(NAME), here.parents[3] / NAME):  # in a wheel, in a checkout
        if ready.is_file():
            with ready.open("rb") as content:
                Target(target).replace(lambda stream: copyfileobj(content, stream), mode=ready.stat().st_mode)
            return True
    return False
