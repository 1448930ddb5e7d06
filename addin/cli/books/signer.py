"""`addin signer`: the key that signs numbers, and whose signatures count here."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from addin.errors import AddinError
from dataservice.terminal import echo, new_group, printable

app = new_group(
    """Show, replace and back up the key that signs your numbers, and say whose signatures count.

\b
Examples:
  addin signer show
  addin signer trust d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a --name "Ann, Treasury"
  addin signer backup signing-key.txt
"""
)

PublicKey = Annotated[str, typer.Argument(metavar="KEY", help="The whole public key, or the name of a trusted one.")]


@app.command("show")
def show() -> None:
    """Print your own public key, and every key that you trust or revoked.

    \b
    Example:
      addin signer show
    """
    from addin.workbook.audit.keys import fingerprint, key_file, known_public_key
    from addin.workbook.audit.trusted import trusted_keys

    own = known_public_key()
    if own is None:
        echo("You have no key for signatures yet; the first --audit makes one.")
    else:
        echo(f"your own key: {own}\n  fingerprint {fingerprint(own)}, kept in {key_file()}")
    for each in trusted_keys():
        valid = [
            f"from {each.since[:10]}" if each.since else "",
            f"until {each.until[:10]}" if each.until else "",
            f"revoked {each.revoked[:10]}" if each.revoked else "",
        ]
        echo(
            f"{printable(each.name)}: {each.key}\n  fingerprint {fingerprint(each.key)} {' '.join(filter(None, valid))}"
        )


@app.command("trust")
def trust(
    key: PublicKey,
    name: Annotated[str, typer.Option(help="Whose key it is.")],
    since: Annotated[datetime | None, typer.Option(help="Signatures count from this day on.")] = None,
    until: Annotated[datetime | None, typer.Option(help="Signatures count until the end of this day.")] = None,
) -> None:
    """Let the signatures of a key count here. Compare its fingerprint with what its owner tells you, not by mail.

    \b
    Example:
      addin signer trust d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a --name Ann --until 2027-12-31
    """
    from addin.workbook.audit.keys import fingerprint
    from addin.workbook.audit.trusted import TrustedKey, save_trusted, trusted_keys, with_key

    known = trusted_keys()
    public = key.casefold()
    if any(each.key == public and each.revoked for each in known):
        raise AddinError(
            f"{fingerprint(public)} was revoked; a revoked key never counts again: its owner needs a new one"
        )
    begin = since.date().isoformat() if since else ""
    end = f"{until.date().isoformat()}T23:59:59.999Z" if until else ""
    save_trusted(with_key(known, TrustedKey(public, name, begin, end)))
    echo(f"Signatures of {printable(name)} with the key {fingerprint(public)} count from now on.")


@app.command("revoke")
def revoke(key: PublicKey) -> None:
    """Let nothing count any more that a key signed, whenever it says that it did: it was lost, or somebody else has it.

    \b
    Example:
      addin signer revoke Ann
    """
    from addin.workbook.audit.keys import fingerprint
    from addin.workbook.audit.trusted import revoked, save_trusted, trusted_keys

    known = trusted_keys()
    public = next((each.key for each in known if key in (each.name, fingerprint(each.key))), key.casefold())
    save_trusted(revoked(known, public, time.time()))
    echo(f"Nothing that the key {fingerprint(public)} signed counts any more.")


@app.command("rotate")
def rotate() -> None:
    """Begin with a new key of your own; what the old one signed until now still counts.

    \b
    Example:
      addin signer rotate
    """
    from addin.workbook.audit.keys import fingerprint, own_key
    from addin.workbook.audit.trusted import replace_own_key

    aside = replace_own_key(time.time())
    public = own_key().public
    echo(f"Your new key is {public}\n  fingerprint {fingerprint(public)}: tell it to those who check your books.")
    echo(f"The old private key is in {aside}; delete it when nobody needs to sign with it any more.")


@app.command("backup")
def backup(file: Annotated[Path, typer.Argument(help="A new file, for a place that only you can read.")]) -> None:
    """Copy your key for signatures to a file: whoever has it can sign in your name.

    \b
    Example:
      addin signer backup signing-key.txt
    """
    from addin.config.settings import write_private
    from addin.workbook.audit.keys import fingerprint, key_file, known_public_key

    public = known_public_key()
    if public is None:
        raise AddinError("there is no key for signatures yet; the first --audit makes one")
    if file.exists():
        raise AddinError(f"{file} exists already; name a new file")
    _writing(lambda: write_private(file, key_file().read_bytes()), file)
    echo(f"The key {fingerprint(public)} is copied to {file}. Whoever can read it can sign in your name.")


@app.command("restore")
def restore(file: Annotated[Path, typer.Argument(help="What `addin signer backup` wrote.")]) -> None:
    """Use a key from its backup again; a key that is there already is never replaced.

    \b
    Example:
      addin signer restore signing-key.txt
    """
    from addin.config.settings import write_private
    from addin.workbook.audit.keys import fingerprint, key_file, known_public_key, own_key

    target = key_file()
    if not file.is_file():
        raise AddinError(f"{file}: there is no such file")
    public = own_key(file).public
    if target.exists() and known_public_key() != public:
        raise AddinError(f"{target} holds another key; put that aside first: addin signer rotate, or move the file")
    _writing(lambda: write_private(target, file.read_bytes()), target)
    echo(f"Your key for signatures is {fingerprint(public)} again.")


def _writing(write: Callable[[], None], file: Path) -> None:
    try:
        write()
    except OSError as error:
        raise AddinError(f"{file} cannot be written ({error.strerror})") from None
