"""What the embedded service raises to those who run it.

    ServiceError
    ├── ImportRefusedError         a file of a data directory does not fit; names file and line
    └── DatabaseUnavailableError   the database cannot be opened

Callers over HTTP see none of these, only the statuses of the contract.
"""

from pathlib import Path


class ServiceError(Exception):
    """The embedded service cannot do what it was told; the message says why."""


class ImportRefusedError(ServiceError):
    """Nothing was imported: `file`, `line` (None when the file as a whole is the matter) and `problem` say why."""

    def __init__(self, file: Path, line: int | None, problem: str) -> None:
        super().__init__(f"{file}:{line}: {problem}" if line else f"{file}: {problem}")
        self.file = file
        self.line = line
        self.problem = problem


class DatabaseUnavailableError(ServiceError):
    """The database cannot be opened: missing driver, missing rights, or something that is no database of ours."""
