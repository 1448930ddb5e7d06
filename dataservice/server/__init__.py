"""The Data Service embedded: the whole API on one database, for trying, for testing, and for a team's own data.

>>> from dataservice.server import Store, import_directory, running, write_sample
"""

try:
    import fastapi as _fastapi  # noqa: F401 - looked for, so that what is missing is told in one sentence
    import pydantic as _pydantic  # noqa: F401
    import sqlalchemy as _sqlalchemy  # noqa: F401
except ModuleNotFoundError as error:
    from dataservice.extras import MissingPackagesError, install_command

    raise MissingPackagesError(f"the embedded service needs more packages: {install_command('service')}") from error

from dataservice.server.db.keys import KeyRecord, Tier
from dataservice.server.db.repository import Store
from dataservice.server.errors import DatabaseUnavailableError, ImportRefusedError, ServiceError
from dataservice.server.http.app import create_app
from dataservice.server.imports.importer import ImportSummary, import_directory
from dataservice.server.running import RunningService, running
from dataservice.server.sample import DailySample, write_sample

__all__ = [
    "DailySample",
    "DatabaseUnavailableError",
    "ImportRefusedError",
    "ImportSummary",
    "KeyRecord",
    "RunningService",
    "ServiceError",
    "Store",
    "Tier",
    "create_app",
    "import_directory",
    "running",
    "write_sample",
]
