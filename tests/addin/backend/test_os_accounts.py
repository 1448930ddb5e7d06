"""Another account of the machine can neither use the backend, nor replace or forget its key, nor read its files."""

import os
import shutil
import socket
import subprocess
import sys

import pytest

from addin.backend.connections import LimitedSocket
from addin.backend.os_accounts import is_of_another_account
from tests.addin.commands import environment
from tests.addin.serving import address_in, started

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose a connection is"),
    pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be another account"),
    pytest.mark.skipif(not (shutil.which("setpriv") and shutil.which("curl")), reason="setpriv or curl is missing"),
]

OTHER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def as_another(*command):
    """What a command prints that another account runs."""
    done = subprocess.run([*OTHER, *command], capture_output=True, text=True, check=False, timeout=30, cwd="/")
    return done.stdout + done.stderr


def ask(url, *options):
    return as_another("curl", "-sS", "-m", "20", "-H", "content-type: application/json", *options, url)


def test_another_account_neither_spends_nor_replaces_nor_forgets_the_key_nor_reads_any_file(service, tmp_path):
    with started("serve", "--http", "--port", "0", environ=environment(tmp_path, service)) as process:
        url = address_in(process)
        for options in (
            ("-d", '{"calls":[["SIGNAL","us-cpi"]]}', f"{url}/functions/call"),
            ("-d", '{"key":"ds_stolen"}', f"{url}/key"),
            ("-X", "DELETE", f"{url}/key"),
            (f"{url}/status",),
        ):
            told = ask(options[-1], *options[:-1])
            assert "another account" in told, told
        own = subprocess.run(["curl", "-sS", f"{url}/status"], capture_output=True, text=True, check=True).stdout
        assert service.key[-4:] in own
        readable = [path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_mode & 0o077]
    assert service.running.request_count == 0
    assert [path.name for path in readable if path.suffix != ".csv"] == []


def test_a_setting_lets_other_accounts_in_and_a_shared_backend_does_not_ask(service, tmp_path):
    environ = environment(tmp_path, service, other_accounts="true")
    with started("serve", "--http", "--port", "0", environ=environ) as process:
        assert '"answers"' in ask(f"{address_in(process)}/functions/call", "-d", '{"calls":[["VERSION"]]}')


def listening(family, host):
    bound = socket.create_server((host, 0), family=family, dualstack_ipv6=family == socket.AF_INET6 and host == "::")
    return LimitedSocket(bound, 10, is_private=True)


def connected_as(account, family, address):
    """A connection that a process of this account holds until the process that is returned ends."""
    child = os.fork()
    if child == 0:
        os.setuid(account)
        with socket.socket(family) as caller:
            caller.connect(address)
            caller.recv(1)
        os._exit(0)
    return child


@pytest.mark.parametrize(
    ("family", "host", "to"),
    [(socket.AF_INET, "127.0.0.1", "127.0.0.1"), (socket.AF_INET6, "::1", "::1"), (socket.AF_INET6, "::", "::1")],
)
def test_whose_a_connection_is_is_known_in_every_family(family, host, to):
    with socket.create_server((host, 0), family=family) as server:
        address = (to, server.getsockname()[1])
        for account, is_another in ((65534, True), (0, False)):
            child = connected_as(account, family, address)
            connection, _ = server.accept()
            with connection:
                assert is_of_another_account(connection) is is_another
            os.waitpid(child, 0)


def test_who_closes_before_being_looked_at_is_nobody_and_refused():
    with listening(socket.AF_INET, "127.0.0.1") as server:
        with socket.create_connection(server.getsockname()) as caller:
            caller.sendall(b"POST /key HTTP/1.1\r\n\r\n")
        with pytest.raises(ConnectionAbortedError):
            server.accept()
