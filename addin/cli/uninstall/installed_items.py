"""Everything of the add-in on this machine, in the order in which it is removed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import platformdirs

from addin.autostart.log_file import log_file
from addin.autostart.record import record_file
from addin.cli.autostart.removal import entries_here, remove_autostart
from addin.cli.autostart.status import wait_for_end
from addin.cli.uninstall.installed_item import InstalledItem, Part, item_of_files, remove_if_empty
from addin.cli.uninstall.office import calc_items, excel_items
from addin.config.api_key import ADDRESSES, KeyStore, stored_addresses, system_keychain
from addin.config.connect import archive_file
from addin.config.settings import APP, Settings, config_dir
from addin.errors import AddinError
from addin.sheet.component import FOLDER as SHEET_FOLDER
from addin.tls.certificates import AUTHORITY_NAME, KNOWN_AUTHORITIES, certificates
from addin.tls.trust import may_be_trusted, untrust
from dataservice.extras import this_environment
from dataservice.stores import default_archive_path, default_sqlite_path

ENDS_WITHIN_S = 10.0
"""A backend looks for its record every few seconds."""

ARCHIVE_NOTE = "what was known when, which nobody can give again"
SIGNING_NOTE = "with the key that signs numbers, if you have one"


def installed_items(settings: Settings, home: Path) -> list[InstalledItem]:
    """Return what is there now; nothing is changed."""
    return [
        *_autostart(settings),
        *excel_items(home),
        *calc_items(home),
        *_trust(home),
        *_keys(settings),
        *item_of_files("the certificate for localhost", [certificates().folder]),
        *_cache(settings),
        *item_of_files("the log of the backend", sorted(log_file().parent.glob(f"{log_file().name}*"))),
        *_sheet(),
        *completion_items(home),
        *_settings(),
        *_own_service(),
    ]


def folders_of_ours() -> list[Path]:
    """The folders that are deleted when nothing is left in them, inner ones first."""
    log, data = log_file().parent, platformdirs.user_data_path("dataservice", appauthor=False)
    return [log, log.parent, default_sqlite_path().parent, default_archive_path().parent, config_dir(), data]


def tidy() -> None:
    """Delete the folders of ours that are empty."""
    for folder in folders_of_ours():
        if folder.name in (APP, "dataservice", "log", "Logs"):
            remove_if_empty(folder)


def _autostart(settings: Settings) -> Iterator[InstalledItem]:
    places = [entry.place for entry in entries_here()] or [str(record_file())]
    if not (entries_here() or record_file().exists()):
        return

    def remove() -> None:
        remove_autostart()
        for http in (False, True):  # it holds its log and its cache open until it ends
            wait_for_end(settings, http=http, within_s=ENDS_WITHIN_S)

    yield InstalledItem("the backend that starts at login", ", ".join(places), remove)


def _trust(home: Path) -> Iterator[InstalledItem]:
    """The trust in every authority that was ever made here, also those that a renewal replaced."""
    own = certificates()
    known = own.remembered()
    trusted = [each for each, authority in known.items() if may_be_trusted(each, authority, home=home)]
    if not trusted:
        yield from item_of_files("the list of former certificates", [config_dir() / KNOWN_AUTHORITIES])
        return

    def forget() -> None:
        if (wrong := untrust(own, home=home)) is not None:
            raise AddinError(wrong)

    more = f" and {len(trusted) - 1} earlier ones" if len(trusted) > 1 else ""
    yield InstalledItem("the system's trust in the certificate", f"{AUTHORITY_NAME}{more}", forget)


def _keys(settings: Settings) -> Iterator[InstalledItem]:
    """The stored key of every service, in the keychain or in the file."""
    for address in sorted({settings.url.rstrip("/"), *stored_addresses()}):
        store = KeyStore("" if address == "default" else address, open_keychain=system_keychain)
        if (key := store.load()) is not None:
            place = "the system's keychain" if key.source == "keychain" else str(store.file)
            yield InstalledItem(f"the API key ending in {key.id}", place, store.forget, Part.SETTINGS)
        elif store.may_hold_more():
            yield InstalledItem(f"an API key for {address}", "the system's keychain", store.forget, Part.SETTINGS)


def _cache(settings: Settings) -> Iterator[InstalledItem]:
    """The cache file, what SQLite keeps beside it, and damaged ones that were moved aside."""
    name = default_sqlite_path().name
    folders = {default_sqlite_path().parent, *([settings.cache_dir] if settings.cache_dir else [])}
    files = [path for folder in sorted(folders) for path in sorted(folder.glob(f"{name}*"))]
    yield from item_of_files("the cache", files, Part.CACHE)
    archive = archive_file(settings)
    yield from item_of_files("the archive", sorted(archive.parent.glob(f"{archive.name}*")), Part.CACHE, ARCHIVE_NOTE)


def _sheet() -> Iterator[InstalledItem]:
    """Return what was downloaded into the installed program; a checkout is deleted as a whole."""
    if not this_environment().is_editable:
        yield from item_of_files("the sheet's component", [SHEET_FOLDER])


def _settings() -> Iterator[InstalledItem]:
    """Whatever else is in our own folder: it is only ours."""
    stores = {
        config_dir() / "keys.json",
        config_dir() / ADDRESSES,
    }  # they go with the last key, or tell where it still is
    authorities = config_dir() / KNOWN_AUTHORITIES  # they are remembered until the system trusts none of them
    apart = {certificates().folder, authorities, record_file(), config_dir() / "manifest.xml", *stores}
    files = [path for path in sorted(config_dir().glob("*")) if path not in apart]
    yield from item_of_files("settings", files, Part.SETTINGS, SIGNING_NOTE if _signs(files) else "")


def _signs(files: list[Path]) -> bool:
    return any(path.name.startswith("signing") for path in files)


def _own_service() -> Iterator[InstalledItem]:
    """The database of `dataservice serve`, where it is unless another was named."""
    folder = platformdirs.user_data_path("dataservice", appauthor=False)
    files = sorted(folder.glob("dataservice.db*"))
    yield from item_of_files("the database of your own service", files, Part.DATA, "with the data you imported")


PROGRAMS = ("addin", "dataservice")
BASHRC = ".bashrc"


def completion_items(home: Path) -> Iterator[InstalledItem]:
    """The files that our programs' completion consists of, and bash's lines that load them."""
    for program in PROGRAMS:
        files = {
            "bash": home / ".bash_completions" / f"{program}.sh",
            "zsh": home / ".zfunc" / f"_{program}",
            "fish": home / ".config" / "fish" / "completions" / f"{program}.fish",
        }
        for shell, file in files.items():
            if file.exists():
                remove = partial(_remove, file, home / BASHRC)
                yield InstalledItem(f"completion of {program} in {shell}", str(file), remove)


def _remove(file: Path, rc: Path) -> None:
    """Delete the file, and the line of the shell's start file that loads it."""
    file.unlink(missing_ok=True)
    if not rc.exists():
        return
    lines = rc.read_text(encoding="utf-8", errors="surrogateescape").splitlines(keepends=True)
    kept = [line for line in lines if line.strip() not in (f"source '{file}'", f"source {file}")]
    if kept != lines:
        rc.write_text("".join(kept), encoding="utf-8", errors="surrogateescape")
