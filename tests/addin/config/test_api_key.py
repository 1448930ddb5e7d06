"""The API key is found in a fixed order, kept in the keychain or a private file, and never shown."""

import stat

import pytest

from addin.config.api_key import (
    ConfiguredKey,
    KeychainError,
    KeySource,
    KeyStore,
    checked_key,
    find_key,
    no_keychain,
    stored_addresses,
)
from addin.errors import SettingsError

KEY = "ds_" + "0123456789abcdef" * 2 + "01234567"
OTHER = "ds_" + "f" * 40
URL = "https://api.example"


class MemoryKeychain:
    """A keychain that works."""

    def __init__(self):
        self.secrets = {}

    def get_password(self, service, username):
        return self.secrets.get((service, username))

    def set_password(self, service, username, password):
        self.secrets[service, username] = password

    def delete_password(self, service, username):
        del self.secrets[service, username]


class LockedKeychain:
    """A keychain that is there and fails, as on a desktop nobody is logged in to."""

    def get_password(self, service, username):
        raise OSError("locked")

    set_password = delete_password = get_password


class LockableKeychain(MemoryKeychain):
    """A keychain that works while it is unlocked."""

    locked = False

    def _or_locked(self):
        if self.locked:
            raise OSError("locked")

    def get_password(self, service, username):
        self._or_locked()
        return super().get_password(service, username)

    def set_password(self, service, username, password):
        self._or_locked()
        super().set_password(service, username, password)

    def delete_password(self, service, username):
        self._or_locked()
        super().delete_password(service, username)


class ForgetfulKeychain(MemoryKeychain):
    """A keychain that takes secrets and drops them."""

    def set_password(self, service, username, password):
        pass


@pytest.fixture
def file(tmp_path):
    return tmp_path / "folder" / "keys.json"


@pytest.mark.parametrize("text", [KEY, f"  {KEY}\n", KEY.upper().replace("DS_", "ds_")])
def test_a_key_of_the_documented_form_is_taken(text):
    assert checked_key(text) == text.strip()


@pytest.mark.parametrize("text", ["", "ds_", KEY[:-1], KEY + "0", "ds_" + "g" * 40, f"{KEY} x", "Bearer " + KEY])
def test_anything_else_is_refused_without_showing_it(text):
    with pytest.raises(SettingsError) as caught:
        checked_key(text)
    assert not text.strip() or text.strip() not in str(caught.value)


def test_a_kept_key_is_found_again_in_the_keychain(file):
    keychain = MemoryKeychain()
    assert KeyStore(URL, open_keychain=lambda: keychain, file=file).save(KEY).source is KeySource.KEYCHAIN
    assert KeyStore(URL, open_keychain=lambda: keychain, file=file).load() == ConfiguredKey(KEY, KeySource.KEYCHAIN)
    assert not file.exists()


@pytest.mark.parametrize("keychain", [None, LockedKeychain(), ForgetfulKeychain()], ids=["none", "locked", "forgetful"])
def test_without_a_working_keychain_the_key_lies_in_a_file_for_its_owner_only(file, keychain):
    store = KeyStore(URL, open_keychain=lambda: keychain, file=file)
    assert store.save(KEY).source is KeySource.FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert store.load() == ConfiguredKey(KEY, KeySource.FILE)


def test_a_kept_key_belongs_to_one_service(file):
    KeyStore(URL, open_keychain=no_keychain, file=file).save(KEY)
    assert KeyStore("https://elsewhere.example", open_keychain=no_keychain, file=file).load() is None


def test_a_key_that_moves_into_the_keychain_leaves_the_file(file):
    KeyStore(URL, open_keychain=no_keychain, file=file).save(KEY)
    KeyStore(URL, open_keychain=MemoryKeychain, file=file).save(OTHER)
    assert not file.exists()


@pytest.mark.parametrize("keychain", [None, MemoryKeychain()], ids=["file", "keychain"])
def test_a_forgotten_key_is_gone(file, keychain):
    store = KeyStore(URL, open_keychain=lambda: keychain, file=file)
    store.save(KEY)
    assert store.forget() is True
    assert store.load() is None
    assert store.forget() is False


def test_a_damaged_file_counts_as_empty(file):
    file.parent.mkdir()
    file.write_text("{")
    store = KeyStore(URL, open_keychain=no_keychain, file=file)
    assert store.load() is None
    assert store.save(KEY).source is KeySource.FILE


def test_forgetting_a_key_in_a_locked_keychain_says_that_it_may_still_be_there(file):
    keychain = LockableKeychain()
    KeyStore(URL, open_keychain=lambda: keychain, file=file).save(KEY)
    keychain.locked = True
    with pytest.raises(KeychainError, match="may still be in there"):
        KeyStore(URL, open_keychain=lambda: keychain, file=file).forget()
    keychain.locked = False
    store = KeyStore(URL, open_keychain=lambda: keychain, file=file)
    assert store.load() is None, "it was to be forgotten, so nobody uses it"
    assert stored_addresses(file.parent) == {URL}, "what removes everything still finds it"
    assert store.forget() is True
    assert keychain.secrets == {}
    assert stored_addresses(file.parent) == set()


def test_a_key_in_a_keychain_that_cannot_be_opened_any_more_is_not_said_to_be_gone(file):
    keychain = LockableKeychain()
    KeyStore(URL, open_keychain=lambda: keychain, file=file).save(KEY)
    with pytest.raises(KeychainError, match="may still be in there"):
        KeyStore(URL, open_keychain=no_keychain, file=file).forget()
    assert KeyStore("https://other.example", open_keychain=no_keychain, file=file).forget() is False


def test_a_key_saved_while_the_keychain_is_locked_wins_over_the_older_one_in_it(file):
    keychain = LockableKeychain()
    KeyStore(URL, open_keychain=lambda: keychain, file=file).save(KEY)
    keychain.locked = True
    store = KeyStore(URL, open_keychain=lambda: keychain, file=file)
    assert store.save(OTHER).source is KeySource.FILE
    keychain.locked = False
    assert store.load() == ConfiguredKey(OTHER, KeySource.FILE)
    assert store.save(OTHER).source is KeySource.KEYCHAIN
    assert store.load() == ConfiguredKey(OTHER, KeySource.KEYCHAIN)


def test_a_damaged_file_is_kept_aside_because_it_may_hold_the_keys_of_others(file):
    file.parent.mkdir()
    for text in ('{"https://other.example": "', "{"):
        file.write_text(text)
        KeyStore(URL, open_keychain=no_keychain, file=file).save(KEY)
    assert [path.read_text() for path in sorted(file.parent.glob("*damaged*"))] == ['{"https://other.example": "', "{"]


def test_the_environment_wins_over_the_kept_key_and_that_over_the_config_file(file, tmp_path):
    config = tmp_path / "config.toml"
    config.write_text(f'api_key = "{OTHER}"')
    store = KeyStore(URL, open_keychain=no_keychain, file=file)
    assert find_key(store, {}, config) == ConfiguredKey(OTHER, KeySource.CONFIG)
    store.save(KEY)
    assert find_key(store, {}, config) == ConfiguredKey(KEY, KeySource.FILE)
    assert find_key(store, {"DATA_SERVICE_API_KEY": OTHER}, config) == ConfiguredKey(OTHER, KeySource.ENVIRONMENT)
    (tmp_path / "secret").write_text(f"{OTHER}\n")
    named = {"DATA_SERVICE_API_KEY_FILE": str(tmp_path / "secret")}
    assert find_key(store, named, config) == ConfiguredKey(OTHER, KeySource.ENVIRONMENT)
    (tmp_path / "api_key").write_text(OTHER)
    assert find_key(store, {"CREDENTIALS_DIRECTORY": str(tmp_path)}, config).source is KeySource.ENVIRONMENT


def test_no_key_anywhere_is_none(file, tmp_path):
    assert find_key(KeyStore(URL, open_keychain=no_keychain, file=file), {}, tmp_path / "none.toml") is None


def test_a_key_shows_its_last_four_characters_at_most():
    key = ConfiguredKey(KEY, KeySource.KEYCHAIN)
    assert key.id == "4567"
    assert KEY not in repr(key)
    assert "4567" not in repr(key)


def test_a_keychain_that_cannot_be_opened_is_none(file):
    def broken():
        raise ImportError("no such library")

    assert KeyStore(URL, open_keychain=broken, file=file).save(KEY).source is KeySource.FILE


def test_a_key_in_the_environment_opens_no_keychain(file):
    opened = []
    store = KeyStore(URL, open_keychain=lambda: opened.append(1), file=file)
    find_key(store, {"DATA_SERVICE_API_KEY": KEY})
    assert opened == []


def test_the_services_whose_keys_are_stored_are_known_until_each_is_forgotten(file):
    keychain = MemoryKeychain()
    stores = [
        KeyStore(URL, open_keychain=lambda: keychain, file=file),
        KeyStore("https://other.example/", open_keychain=no_keychain, file=file),
        KeyStore("", open_keychain=lambda: keychain, file=file),
    ]
    for store in stores:
        store.save(KEY)
    assert stored_addresses(file.parent) == {URL, "https://other.example", "default"}
    assert KEY not in (file.parent / "keychain.json").read_text()
    for store in stores:
        assert store.forget()
    assert stored_addresses(file.parent) == set()
    assert list(file.parent.iterdir()) == []
