"""Short runs: forged packages are refused or told, single alterations named, numbers come again out of evidence."""

from pathlib import Path
from random import Random

import pytest

from tests.attack.forgeries.__main__ import _verdict, attack
from tests.attack.forgeries.again import attack as again
from tests.attack.forgeries.alterations import ALTERATIONS
from tests.attack.forgeries.alterations import attack as altered
from tests.attack.forgeries.forging import FORGERIES, packed, parts_of
from tests.attack.forgeries.meanings import MEANINGS
from tests.attack.forgeries.signed_books import signed_books


@pytest.fixture(autouse=True)
def own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sign with a key of the test's own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def test_each_way_to_forge_a_package_is_told_or_refused_or_shows_every_program_the_same(tmp_path: Path):
    found = attack(len(FORGERIES), 5, tmp_path, with_libreoffice=False)
    assert found.wrong == []
    assert found.verdicts["told"] + found.verdicts["refused"] > 0.8 * len(FORGERIES)
    assert found.forged > 0.4 * len(FORGERIES), "most of them do make a program show another number"


@pytest.mark.parametrize("book", ["live", "frozen"])
def test_whatever_leaves_the_cells_and_shows_them_otherwise_is_told_or_refused(tmp_path: Path, book: str):
    with signed_books(tmp_path) as books:
        signed = {"live": books.live, "frozen": books.frozen}[book]
    forged, passed = tmp_path / "forged.xlsx", []
    for way, forge in MEANINGS.items():
        for seed in range(4):
            parts = parts_of(signed.read_bytes())
            forge(parts, Random(seed))
            forged.write_bytes(packed(parts))
            if parts != parts_of(signed.read_bytes()) and _verdict(forged) not in ("told", "refused"):
                passed.append((way, seed))
    assert passed == []


def test_each_kind_of_alteration_is_named_and_a_copy_that_was_only_saved_again_holds(tmp_path: Path):
    found = altered(2 * len(ALTERATIONS), 5, tmp_path)
    assert found.wrong == []
    assert len(found.kinds) == len(ALTERATIONS)
    assert found.round_trips >= 4


def test_numbers_come_again_out_of_their_evidence_and_an_altered_byte_is_told(tmp_path: Path):
    found = again(3, 5, tmp_path)
    assert found.wrong == []
    assert found.numbers > 10
