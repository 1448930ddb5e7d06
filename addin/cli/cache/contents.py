"""The work of `addin cache`: the contents of the store, counted by key; the archive exported, pruned and cleared."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from addin.cli.cache.export import writer_for
from addin.cli.output import counted, plain_table, print_json, print_table
from addin.config.api_key import find_key
from addin.config.connect import key_store, open_client, open_store, store_place
from addin.config.settings import Settings, load_settings
from addin.errors import AddinError
from addin.workbook.ooxml.target import Target
from dataservice.client import AsyncClient, Vintages
from dataservice.client.archive.archive import Archive
from dataservice.client.archive.coverage import NEVER_YET
from dataservice.client.cache.inventory import SEALED, Amount, KeyShare, cached_slugs, key_shares
from dataservice.client.contract import moment_of, utc_day_of
from dataservice.client.network.credentials import ApiKey, sealed_for
from dataservice.stores import ResilientStore, SqliteStore, Store, StoreAwayError
from dataservice.stores.migrate_unsealed import migrate_unsealed
from dataservice.terminal import echo, printable

SUFFIX = 6
"""So many characters of a key's hash tell keys apart; the hash tells nothing of the key."""

NEW_FILE_MODE = 0o600
"""An export is for its writer, as the cache is."""


@dataclass(frozen=True, slots=True)
class OpenCache:
    """The store of the settings, what people call it, and the client of the key in use, None without one."""

    store: Store
    place: str
    readable: Store
    """The store as the key in use reads it, where entries are sealed; otherwise the store itself."""
    client: AsyncClient | None = None
    key_id: str | None = None
    """The last four characters of the key."""

    async def archive(self) -> Archive:
        """The archive of the key in use; raises `AddinError` without a key."""
        if self.client is None:
            raise AddinError("no key is set, and each key has its own cache and archive: addin key set")
        await self.client.scope()
        return self.client.archive

    async def scope(self) -> str | None:
        """The hash by which the store names the key in use; None without a key."""
        return None if self.client is None else await self.client.scope()

    async def begun(self) -> dict[str, Vintages]:
        """Return what cached answers alone tell of the past, by signal: those of a version that had no archive yet.

        The next look at such a signal begins its archive with them.
        """
        if self.client is None:
            return {}
        archive, own = await self.archive(), f"{await self.scope()}/"
        cached = cached_slugs(entry.name for entry in await self.readable.entries(own))
        archived = set(await archive.slugs())
        waiting = [slug for slug in cached if slug not in archived]
        with _progress("Reading what is cached", len(waiting)) as advance:
            found = {}
            for slug in waiting:
                found[slug] = await archive.vintages(slug)
                advance()
        return {slug: vintages for slug, vintages in found.items() if vintages.looked.first_look != NEVER_YET}


@asynccontextmanager
async def open_cache() -> AsyncIterator[OpenCache]:
    """The cache of the user's settings; a file is not made if there is none.

    Raises `AddinError` if nothing is cached yet, or if the store cannot be read or written.
    """
    settings = load_settings()
    store = open_store(settings)
    if isinstance(store, SqliteStore) and not store.path.exists():
        raise AddinError(f"nothing is cached yet: there is no file {store.path}")
    place = _place(settings, store)
    key = find_key(key_store(settings))
    try:
        with _told(place):
            await store.salt()  # a damaged file is moved aside now, and a server that is away is told
            if key is None:
                yield OpenCache(store, place, store)
            else:
                async with open_client(settings, key.value, store) as client:
                    readable = sealed_for(ApiKey(key.value), client.base_url, store)
                    await readable.salt()
                    yield OpenCache(store, place, readable, client, key.id)
    finally:
        await store.aclose()


async def show_contents(*, as_json: bool) -> None:
    """Print what the store holds for each key."""
    async with open_cache() as cache:
        scope = await cache.scope()
        shares = await _shares(cache, scope)
        begun = len(await cache.begun())
    if as_json:
        told = [_as_json(share, scope, begun if share.scope == scope else 0) for share in shares]
        print_json({"store": printable(cache.place), "keys": told})
        return
    echo(cache.place)
    if not shares:
        echo("It is empty.")
        return
    table = plain_table(show_header=True)
    for heading in ("key's hash", "answers", "histories", "archived signals"):
        table.add_column(heading, justify="left" if heading == "key's hash" else "right")
    for share in shares:
        used = f"  (in use, the key ends in {cache.key_id})" if share.scope == scope else ""
        amounts = (share.answers, share.histories, share.archive)
        table.add_row(f"…{share.scope[-SUFFIX:]}{used}", *map(amount_text, amounts))
    print_table(table)
    if begun:
        echo(
            f"Beside the archive, cached answers tell what was known of {counted(begun, 'signal')}: the next look at "
            f"{'it' if begun == 1 else 'each'} begins its archive with them."
        )


async def _shares(cache: OpenCache, scope: str | None) -> list[KeyShare]:
    """Return what is kept for each key; of a sealed store the names are known for the key in use only."""
    entries, logs = await cache.store.entries(), await cache.store.logs()
    if scope is None or cache.readable is cache.store:
        return key_shares(entries, logs)
    others = [each for each in entries if not each.name.startswith(scope)]
    other_logs = [each for each in logs if not each.name.startswith(scope)]
    own = f"{scope}/"
    return key_shares([*others, *await cache.readable.entries(own)], [*other_logs, *await cache.readable.logs(own)])


async def export_archive(file: Path, slugs: Sequence[str]) -> None:
    """Write the archive of the key in use, or of some of its signals, to a file, all at once."""
    write, target = writer_for(file), Target(file)
    async with open_cache() as cache:
        archive = await cache.archive()
        begun = await cache.begun()
        known = sorted({*await archive.slugs(), *begun})
        unknown = [slug for slug in slugs if slug not in known]
        if unknown:
            raise AddinError(f"the archive of this key knows nothing of {', '.join(unknown)}")
        found: dict[str, Vintages] = {}
        with _progress("Reading the archive", len(slugs or known)) as advance:
            for slug in slugs or known:
                found[slug] = begun[slug] if slug in begun else await archive.vintages(slug)
                advance()
    target.replace(lambda out: write(out, found), mode=NEW_FILE_MODE)
    rows = sum(len(vintages.facts) for vintages in found.values())
    echo(f"{file}: {counted(rows, 'row')} on {counted(len(found), 'signal')}")


async def prune_archive(before: str) -> None:
    """Forget what was known before a day."""
    today = datetime.now(UTC).date()
    try:
        day = utc_day_of(moment_of(before, "--before", today)) or today
    except ValueError as error:
        raise AddinError(str(error)) from None
    async with open_cache() as cache:
        archive = await cache.archive()
        logs, failed = await archive.logs(), 0
        with _progress("Pruning the archive", len(logs)) as advance:
            for slug in await archive.slugs():
                failed += not await archive.prune(slug, datetime.combine(day, time.min, UTC).timestamp())
                advance()
        left = await archive.logs()
        await _shrink(cache.store)
    if failed:
        raise AddinError(f"{counted(failed, 'signal')} could not be pruned: other programs use the archive; try again")
    sizes = [bytes_text(sum(log.nbytes for log in each)) for each in (logs, left)]
    echo(f"Forgot what was known before {day}: the archive had {sizes[0]}, it has {sizes[1]}.")


async def clear_contents(*, archive: bool, all_keys: bool) -> None:
    """Delete answers and histories, and with `archive` what was known when."""
    async with open_cache() as cache:
        if not all_keys:
            await cache.archive()
        prefix = "" if all_keys else f"{await cache.scope()}/"
        store = cache.store if all_keys else cache.readable
        scopes = await _scopes(cache.store)
        entries = await store.clear(prefix)
        logs = await store.delete_logs(prefix) if archive else 0
        await _reach_running(cache.store, scopes if all_keys else {prefix.rstrip("/")})
        await _shrink(cache.store)
    deleted = f"Deleted {entries:,} cached {'entry' if entries == 1 else 'entries'}"
    echo(f"{deleted} and the archive of {counted(logs, 'signal')}." if archive else f"{deleted}; the archive is kept.")


async def clear_signals(signals: Sequence[str], *, all_keys: bool) -> None:
    """Delete answers and histories of some signals: here those of the key in use, with `all_keys` all by who has them.

    Of another key nobody else can tell what is sealed: its users' backends delete that before they answer again.
    """
    async with open_cache() as cache:
        if not all_keys:
            await cache.archive()
        now = datetime.now(UTC).timestamp()
        entries = sum([await cache.client.purge(slug, now) for slug in signals]) if cache.client is not None else 0
        own = {scope} if (scope := await cache.scope()) else set[str]()
        scopes = own | await _scopes(cache.store) if all_keys else own
        await _reach_running(cache.store, scopes, signals)
    told = f"Deleted {entries:,} cached {'entry' if entries == 1 else 'entries'} of {counted(len(signals), 'signal')}"
    others = len(scopes - own)
    echo(f"{told}; the backends of {counted(others, 'other key')} delete theirs." if others else f"{told}.")


async def _scopes(store: Store) -> set[str]:
    """Return the hashes of all keys of which there is an entry."""
    names = [entry.name for entry in await store.entries()]
    return {name.partition("/")[0].removesuffix(SEALED.rstrip("/")) for name in names if "/" in name}


async def _reach_running(store: Store, scopes: Collection[str], signals: Sequence[str] = ()) -> None:
    """Let backends that run forget these signals, or ask again for all they have in memory, if they share the store."""
    from addin.backend.operation.events import tell
    from addin.backend.workers.refreshes import SharedRefreshes

    marks, now = SharedRefreshes(ResilientStore(store)), datetime.now(UTC).timestamp()
    for scope in scopes:
        await marks.add(scope, now, force=not signals, purge=signals)
    tell("purged", keys=len(scopes), **({"signals": list(signals)} if signals else {}))


async def seal_contents() -> None:
    """Seal what an earlier version kept in Redis for the key in use."""
    async with open_cache() as cache:
        await cache.archive()
        if (scope := await cache.scope()) is None or cache.readable is cache.store:
            echo("There is nothing to seal: only what is kept in Redis is sealed.")
            return
        with _progress("Sealing", None) as advance:
            sealed = await migrate_unsealed(cache.store, cache.readable, scope, advance)
    echo(f"Sealed {sealed:,} {'entry' if sealed == 1 else 'entries'}.")


def amount_text(amount: Amount) -> str:
    """Return how many and how large.

    >>> amount_text(Amount(12, 340_100))
    '12, 340.1 kB'
    """
    return f"{amount.count:,}, {bytes_text(amount.nbytes)}" if amount.count else "none"


def bytes_text(nbytes: int) -> str:
    """A size for people, in powers of ten as disks are sold.

    >>> bytes_text(999), bytes_text(2_000_000)
    ('999 B', '2.0 MB')
    """
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if nbytes >= size:
            return f"{nbytes / size:,.1f} {unit}"
    return f"{nbytes} B"


def _as_json(share: KeyShare, scope: str | None, begun: int) -> dict[str, Any]:
    amounts = {name: asdict(getattr(share, name)) for name in ("answers", "histories", "archive")}
    used = share.scope == scope
    return {"key_hash": share.scope[-SUFFIX:], "in_use": used, **amounts, "archived_by_cached_answers": begun}


def _place(settings: Settings, store: Store) -> str:
    """Return where the cache is, without a password."""
    if isinstance(store, SqliteStore):
        return f"{store.path}, {bytes_text(store.path.stat().st_size)}"
    return store_place(settings)


@contextmanager
def _told(place: str) -> Iterator[None]:
    """Whatever a store raises, as a problem that the user can solve."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise AddinError(f"the cache {place} is in use or cannot be written ({error}); try again") from error
    except (sqlite3.Error, OSError) as error:
        raise AddinError(f"the cache {place} cannot be used: {error}") from error
    except StoreAwayError as error:
        raise AddinError(f"{place} cannot be used: {error}") from error


@contextmanager
def _progress(what: str, steps: int | None) -> Iterator[Callable[[], None]]:
    """A progress bar on a terminal; the function that is given counts one step."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=steps)
        yield lambda: progress.advance(task)


async def _shrink(store: Store) -> None:
    if isinstance(store, SqliteStore) and not await store.shrink():
        echo("Another program uses the file: its disk space is used again, but not given back now.", err=True)
