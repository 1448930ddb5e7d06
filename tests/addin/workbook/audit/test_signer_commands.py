"""Whose signatures count, as the commands tell it: trust, revocation, rotation, backup, loss."""

from pathlib import Path

from tests.addin.commands import addin, environment
from tests.addin.workbook.books import make_book
from tests.embedded import EmbeddedService

CELLS = {"A1": '=_xldudf_DS_SIGNAL("us-cpi")'}


def run(environ: dict[str, str], *arguments: object, exits: int = 0) -> str:
    done = addin(*map(str, arguments), environ=environ)
    assert done.returncode == exits, done.stdout + done.stderr
    return done.stdout + done.stderr


def key_of(environ: dict[str, str]) -> str:
    return run(environ, "signer", "show").split("your own key: ")[1].split()[0]


def test_a_strangers_signature_counts_from_when_it_is_trusted_until_it_is_revoked(
    service: EmbeddedService, tmp_path: Path
):
    ann, me = environment(tmp_path / "ann", service), environment(tmp_path / "me", service)
    book, audit = make_book(tmp_path / "book.xlsx", CELLS), tmp_path / "numbers.jsonl"
    run(ann, "refresh", book, "--audit", audit)
    told = run(me, "verify", book, exits=4)
    assert "the file as it was signed" in told
    assert "a key that is not yours" in told
    run(me, "freeze", book, "-o", tmp_path / "copy.xlsx", "--audit", tmp_path / "mine.jsonl", exits=4)
    assert not (tmp_path / "copy.xlsx").exists()
    run(me, "signer", "trust", key_of(ann), "--name", "Ann")
    assert "a key that you trust" in run(me, "verify", book)
    run(me, "freeze", book, "-o", tmp_path / "copy.xlsx", "--audit", tmp_path / "mine.jsonl")
    run(me, "signer", "revoke", "Ann")
    assert "a key that was revoked" in run(me, "verify", book, exits=4)
    assert "never counts again" in run(me, "signer", "trust", key_of(ann), "--name", "Ann", exits=1)
    assert "is no key for signatures" in run(me, "signer", "trust", "00" * 32, "--name", "Nobody", exits=1)


def test_a_key_is_rotated_backed_up_lost_and_restored(service: EmbeddedService, tmp_path: Path):
    me = environment(tmp_path, service)
    book, audit = make_book(tmp_path / "book.xlsx", CELLS), tmp_path / "numbers.jsonl"
    run(me, "refresh", book, "--audit", audit)
    old = key_of(me)
    run(me, "signer", "rotate")
    assert key_of(me) != old
    assert "your own key" in run(me, "verify", book), "what the old key signed until now still counts"
    run(me, "signer", "backup", tmp_path / "backup.txt")
    new = key_of(me)
    (key_file,) = (tmp_path / "config").rglob("signing.key")
    key_file.unlink()
    assert "no key for signatures yet" in run(me, "signer", "show")
    assert "your own key" in run(me, "verify", book)
    run(me, "signer", "restore", tmp_path / "backup.txt")
    assert key_of(me) == new
    (list_of_keys,) = (tmp_path / "config").rglob("trusted-keys.json")
    list_of_keys.write_text("[{")
    assert "cannot be read" in run(me, "verify", book, exits=1), "a damaged list trusts nobody"
