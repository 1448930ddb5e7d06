"""API keys: their form, their tiers, and what the database knows of them."""

import re
from datetime import UTC, datetime

import pytest

from dataservice.server import Store, Tier


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "service.db", clock=lambda: datetime(2026, 8, 31, tzinfo=UTC)) as store:
        yield store


def test_a_key_is_a_prefix_and_40_hexadecimal_characters(store):
    assert re.fullmatch(r"ds_[0-9a-f]{40}", store.create_key())


def test_a_new_key_is_on_the_free_tier(store):
    assert store.keys.find(store.create_key()).tier is Tier.FREE


@pytest.mark.parametrize(("tier", "cap"), [("free", 1_000), ("pro", 50_000), ("enterprise", 1_000_000)])
def test_a_tier_has_its_monthly_cap(store, tier, cap):
    assert store.keys.find(store.create_key(tier)).cap == cap


def test_the_wire_is_open_from_the_pro_tier_on():
    assert [tier.value for tier in Tier if tier.reads_wire] == ["pro", "enterprise"]


def test_a_cap_of_its_own_replaces_that_of_the_tier(store):
    assert store.keys.find(store.create_key("enterprise", cap=2_000_000)).cap == 2_000_000


@pytest.mark.parametrize("wrong", [{"tier": "gold"}, {"cap": 0}, {"cap": -1}])
def test_an_impossible_key_is_refused(store, wrong):
    with pytest.raises(ValueError):
        store.create_key(**wrong)


def test_two_keys_are_never_the_same(store):
    assert len({store.create_key() for _ in range(20)}) == 20


def test_the_database_does_not_hold_the_key(store, tmp_path):
    key = store.create_key(label="of Anna")
    store.close()
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"of Anna" in written
    assert key.encode() not in written
    assert key.removeprefix("ds_").encode() not in written


@pytest.mark.parametrize("wrong", ["", "ds_", "ds_" + "0" * 40, "ds_" + "G" * 40, "x" * 10_000, "ds_" + "٠" * 40])
def test_what_is_no_key_of_ours_is_not_found(store, wrong):
    store.create_key()
    assert store.keys.find(wrong) is None


def test_a_revoked_key_is_not_found_but_listed(store):
    key = store.create_key("pro", label="gone")
    record = store.keys.find(key)
    store.keys.revoke(record)
    assert store.keys.find(key) is None
    assert [(r.id, r.label, r.revoked_at) for r in store.keys.records()] == [
        (record.id, "gone", datetime(2026, 8, 31, tzinfo=UTC))
    ]


def test_a_record_never_shows_the_key(store):
    key = store.create_key()
    assert key not in repr(store.keys.records())
