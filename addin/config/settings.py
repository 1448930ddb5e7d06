"""The settings of the add-in: one frozen record from the environment, a config file and the defaults, in this order."""

from __future__ import annotations

import difflib
import logging
import os
import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec
import platformdirs

from addin.errors import SettingsError
from addin.protocol.limits import BatchLimits

APP = "dataservice-addin"
"""The name of our folders and of our entry in the keychain."""

PREFIX = "DATA_SERVICE_"
"""What the environment variable of every setting begins with: `ttl_s` is `DATA_SERVICE_TTL_S`."""

SECRETS = frozenset({"api_key", "oidc_client_secret", "session_secret", "session_secret_other", "metrics_token"})
"""What is looked up in the same places but is no setting: nothing shows it."""

_log = logging.getLogger(__name__)

_Positive = Annotated[float, msgspec.Meta(gt=0)]
_Count = Annotated[int, msgspec.Meta(ge=0)]
_AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]

EXCEL_FRAMES = (
    "https://*.officeapps.live.com",
    "https://*.sharepoint.com",
    "https://*.cloud.microsoft",
    "https://*.office.com",
)
"""Where Excel on the web may show our task pane."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of the add-in; every field is also an environment variable and a line of the config file.

    >>> Settings(url="https://api.example").ttl_s
    900.0
    """

    url: str = ""
    """The Data Service's base URL, without /v1."""
    namespace: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z][A-Za-z0-9]{0,31}$")] = "DS"
    """The prefix of function names in Excel and Calc: DS.SIGNAL."""
    ttl_s: _Positive = 900.0
    """How long an answer stays fresh, in seconds."""
    deadline_s: _Positive = 20.0
    """How long one batch of formulas may take before cells show their last known value, in seconds."""
    cache_dir: Path | None = None
    """The folder where answers survive a restart; by default the user's cache folder."""
    archive_dir: Path | None = None
    """The folder of the archive of what was known when; by default `cache_dir`, or the user's data folder."""
    ca_file: Path | None = None
    """Further certificate authorities (PEM), such as those of a firm's proxy, for the service and for Redis."""
    stamp_url: str | None = None
    """The time-stamping authority (RFC 3161) that confirms when books were signed, such as https://tsa.example.com."""
    stamp_ca_file: Path | None = None
    """Certificates (PEM) of time-stamping authorities that you trust; `addin verify` checks stamps against them."""
    redis_url: str | None = None
    """A Redis or Valkey that several machines share, instead of the cache folder: redis://, rediss:// (TLS), or through
    redis+sentinel:// or redis+cluster://."""
    archive_bytes: _AtLeastOne = 256 * 1024**2
    """Room for the archive of what was known when; the signals that did not change for longest are dropped first."""
    reserve: _Count = 0
    """The last requests of the month, which are never spent."""
    monthly_budget: _AtLeastOne | None = None
    """The maximum number of requests per month; by default the key's whole quota."""
    ask_above: _Count = 200
    """The maximum number of requests that a recalculation sends without asking first."""
    max_pages: _AtLeastOne = 100
    """The maximum number of requests for one answer: a long history, or the catalogue."""
    max_answer_bytes: _AtLeastOne = 16 * 1024**2
    """The maximum size of one answer of the service, unpacked."""
    background_refresh: bool = False
    """Whether the backend refreshes stale answers that were used in the last hour; never with a Free key."""
    host: str = "127.0.0.1"
    """The address the backend listens on."""
    port: Annotated[int, msgspec.Meta(ge=0, le=65_535)] = 8765
    """The port the backend listens on; 0 picks a free one."""
    other_accounts: bool = False
    """Whether other accounts of this machine may use the backend, where the system (Linux) tells them apart."""
    workers: _AtLeastOne = 1
    """The number of processes that answer on the port, each on a processor of its own; 1 is enough for one user."""
    stop_timeout_s: _Positive = 2.0
    """How long batches under way may take after the signal to stop, in seconds."""
    drain_s: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    """How long the backend answers everybody after the signal to stop, while `/ready` says 503: as long as a proxy
    needs to notice that, in seconds."""
    public_url: str | None = None
    """The https address of a shared deployment, as users reach it."""
    allowed_hosts: tuple[str, ...] = ()
    """Further names that the backend accepts in the Host header."""
    allowed_origins: tuple[str, ...] = ()
    """Further pages (https://host) that may call the backend."""
    frame_ancestors: tuple[str, ...] = EXCEL_FRAMES
    """Pages that may show the task pane in a frame."""
    per_user_keys: bool = False
    """Whether a request may carry its own API key (header X-Data-Service-Key, HTTPS only)."""
    oidc_issuer: str | None = None
    """The OpenID Connect provider at which users of a shared backend sign in, such as https://login.example.com."""
    oidc_client_id: str = ""
    """The name by which the provider knows this backend."""
    oidc_users: str = ""
    """Who may sign in, as a claim and its value: groups=finance; by default everybody whom the provider knows."""
    oidc_admins: str = ""
    """Who sees everybody's usage and may stop users, as a claim and its value: groups=dataservice-admins."""
    session_hours: _Positive = 10.0
    """How long a sign-in lasts, in hours."""
    recheck_minutes: _Positive = 15.0
    """How often the provider is asked whether who signed in still may, where it gives refresh tokens, in minutes."""
    max_users: _AtLeastOne = 200
    """The maximum number of users' keys in memory."""
    max_users_bytes: _AtLeastOne = 512 * 1024**2
    """Memory for the answers of all users together; the least recently active user is closed first."""
    max_new_keys: _AtLeastOne = 60
    """The maximum number of unknown keys per minute from one address."""
    max_user_batches: _AtLeastOne = 8
    """The maximum number of whole batches of one key that are worked on at a time; others wait for their turn."""
    max_calls: _AtLeastOne = 100_000
    """The maximum number of formulas in one batch."""
    max_values: _AtLeastOne = 500_000
    """The maximum number of values in one batch: arguments and the cells of ranges."""
    max_cells: _AtLeastOne = 50_000
    """The maximum number of values in the arguments of one formula."""
    max_body_bytes: _AtLeastOne = 16 * 1024**2
    """The maximum size of a request; one with a key that was never accepted may have 1 MiB."""
    requests_bytes: _AtLeastOne = 160 * 1024**2
    """Memory for requests under way, and answers not sent yet; what does not fit waits, and is refused after 20 s."""
    max_batch_bytes: _AtLeastOne = 256 * 1024**2
    """The maximum size of the answers of one batch."""
    memory_bytes: _AtLeastOne = 128 * 1024**2
    """Memory for the service's decoded answers, which are also in the cache file."""
    memo_bytes: _AtLeastOne = 128 * 1024**2
    """Memory for encoded answers to formulas."""
    max_connections: _AtLeastOne = 500
    """The maximum number of connections to the backend; at most half of the file handles the system allows."""
    max_service_connections: _AtLeastOne = 64
    """The maximum number of requests under way to the service, for all users together; it begins with fewer."""
    receive_timeout_s: _Positive = 30.0
    """How long a request may take to arrive, and how long an answer may wait for its reader, in seconds."""
    serve_sheet: bool = False
    """Whether `addin serve` also serves the sheet in the browser; its page needs the policy 'unsafe-eval'."""
    log_json: bool = False
    """Whether the backend writes its log as JSON, one object per line, with the id of the request."""
    log_requests: bool = False
    """Whether the backend writes one line per request to its log; never a key, a formula or an argument."""

    def __post_init__(self) -> None:
        for name, value in (("url", self.url), ("public_url", self.public_url), ("stamp_url", self.stamp_url)):
            if value and not _is_web_address(value):
                raise SettingsError(f"{name} {value!r} is not an address such as https://api.example.com")
        self._check_sign_in()
        for origin in self.allowed_origins:
            if not _is_web_address(origin) or urlsplit(origin).path:
                raise SettingsError(f"allowed_origins {origin!r} is not of the form https://host or https://host:port")

    def _check_sign_in(self) -> None:
        if self.oidc_issuer is not None:
            if not _is_web_address(self.oidc_issuer):
                problem = "is not an address such as https://login.example.com"
                raise SettingsError(f"oidc_issuer {self.oidc_issuer!r} {problem}")
            if not is_safe_address(self.oidc_issuer):
                raise SettingsError(f"oidc_issuer {self.oidc_issuer!r} must begin with https://: it says who signed in")
        for name, rule in (("oidc_users", self.oidc_users), ("oidc_admins", self.oidc_admins)):
            if rule and not all(part.strip() for part in rule.partition("=")):
                raise SettingsError(f"{name} {rule!r} is not a claim and its value, such as groups=finance")

    @property
    def base_url(self) -> str:
        """The Data Service's address without a slash at the end; raises `SettingsError` if none is set."""
        if not self.url:
            raise SettingsError(
                f'no address of the Data Service is set; put it into {PREFIX}URL or as url = "https://…" into '
                f"{config_file()}, or try `addin demo`"
            )
        return self.url.rstrip("/")

    def __repr__(self) -> str:
        """Only what is not a default; of the address of Redis, which may hold a password, that it is set."""
        own = {name: getattr(self, name) for name in self.__struct_fields__}
        changed = {name: repr(value) for name, value in own.items() if value != getattr(_DEFAULTS, name)}
        if "redis_url" in changed:
            changed["redis_url"] = "…"
        return f"Settings({', '.join(f'{name}={value}' for name, value in changed.items())})"

    @property
    def batch_limits(self) -> BatchLimits:
        """The limits of one batch."""
        return BatchLimits(self.max_calls, self.max_values, self.max_cells, self.max_batch_bytes)

    @property
    def is_shared(self) -> bool:
        """Return whether others than the user whose machine it is may reach the backend."""
        is_elsewhere = self.host not in ("localhost", "127.0.0.1", "::1")
        return self.per_user_keys or bool(self.public_url) or self.oidc_issuer is not None or is_elsewhere

    @property
    def is_store_shared(self) -> bool:
        """Return whether several machines share the store and the ledger."""
        return bool(self.redis_url)

    @property
    def is_private(self) -> bool:
        """Return whether the backend is for one account of one machine."""
        return not (self.is_shared or self.other_accounts)


_DEFAULTS = Settings()


def config_dir() -> Path:
    """The user's folder for our config file."""
    return platformdirs.user_config_path(APP, appauthor=False)


def config_file() -> Path:
    """The user's config file, whether or not it exists; DATA_SERVICE_CONFIG names another one.

    Raises `SettingsError` if the one named does not exist.
    """
    named = os.environ.get(f"{PREFIX}CONFIG", "").strip()
    if not named:
        return config_dir() / "config.toml"
    file = Path(named).expanduser()
    if not file.exists():
        raise SettingsError(f"{PREFIX}CONFIG names {file}, which does not exist; create it, or unset the variable")
    return file


def write_private(file: Path, content: bytes) -> None:
    """Write a file all at once; only its owner can read it, from its first byte on."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(content)
        draft.replace(file)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise OSError(error.errno, error.strerror, str(file)) from None


def load_settings(environ: Mapping[str, str] | None = None, file: Path | None = None) -> Settings:
    """The settings in `environ` (the process's own when None), over those in `file`, over the defaults.

    Raises `SettingsError` with the setting, where it was set, and the closest known one if there is none of that name.
    """
    file = config_file() if file is None else file
    given = {name: (value, str(file)) for name, value in read_config(file).items() if name not in SECRETS}
    environ = os.environ if environ is None else environ
    for variable, text in environ.items():
        name = variable.removeprefix(PREFIX).lower()
        if not variable.startswith(PREFIX) or not text.strip():
            continue
        if name in Settings.__struct_fields__:
            given[name] = (_split(text) if isinstance(getattr(_DEFAULTS, name), tuple) else text.strip(), variable)
    for variable, meant in misspelt(environ).items():
        # No error: other programs may have variables that begin like ours.
        _log.warning("%s is no setting; did you mean %s%s?", variable, PREFIX, meant.upper())
    return _checked(given)


def misspelt(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that are no settings but look like one, with the name of that one.

    >>> misspelt({f"{PREFIX}OIDC_ISSUR": "https://login.example", f"{PREFIX}URL": "https://data.example"})
    {'DATA_SERVICE_OIDC_ISSUR': 'oidc_issuer'}
    """
    found = {}
    for variable, text in environ.items():
        name = variable.removeprefix(PREFIX).lower()
        if not variable.startswith(PREFIX) or not text.strip() or name in Settings.__struct_fields__:
            continue
        if meant := difflib.get_close_matches(name, Settings.__struct_fields__, 1, cutoff=0.8):
            found[variable] = meant[0]
    return found


def read_config(file: Path) -> dict[str, Any]:
    """Return what the config file sets, including `api_key`; nothing if there is no file."""
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError(f"{file} is not a config file in TOML: {error}") from None
    known = {*Settings.__struct_fields__, *SECRETS}
    for name in content.keys() - known:
        close = difflib.get_close_matches(name, known, 1)
        advice = f"did you mean {close[0]}?" if close else f"there are {', '.join(sorted(known))}"
        raise SettingsError(f"{file}: there is no setting {name!r}; {advice}")
    return content


def _checked(given: Mapping[str, tuple[Any, str]]) -> Settings:
    """The settings, each value converted and checked by itself so that an error can say where it came from."""
    values: dict[str, Any] = {}
    for name, (value, place) in given.items():
        try:
            values[name] = getattr(msgspec.convert({name: value}, Settings, strict=False, dec_hook=_path), name)
        except msgspec.ValidationError as error:
            raise SettingsError(f"{name} = {value!r} in {place} cannot be used: {_worded(error)}") from None
    return Settings(**values)


def _path(kind: type, text: Any) -> Path:
    if kind is not Path or not isinstance(text, str):
        raise msgspec.ValidationError("Expected a path")
    return Path(text).expanduser()


def _split(text: str) -> tuple[str, ...]:
    """The values of a setting that has several; in the environment they are separated by commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and not re.search(r"\s", text)
    except ValueError:
        return False


def is_safe_address(text: str) -> bool:
    """Return whether nobody on the way can read or change what is sent to this address: https, or this very machine."""
    parts = urlsplit(text)
    return parts.scheme == "https" or parts.hostname in ("localhost", "127.0.0.1", "::1")


def _worded(error: Exception) -> str:
    """The reason in the words of a config file."""
    text = re.sub(r"(, got `\w+`)?( - at `\$\.\w+`)?$", "", str(error))
    for word, meaning in (("float", "a number"), ("int", "a whole number"), ("bool", "true or false"), ("str", "text")):
        text = text.replace(f"`{word}`", meaning)
    return text.replace("Expected", "expected").replace("array", "list")
