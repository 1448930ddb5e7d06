"""Workers that stop, start and renew while users work: no call is lost, and nobody is asked twice."""

import datetime as dt
import os
import signal
import ssl
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import pytest

from addin.tls.certificates import Certificates
from tests.addin.backend.workers.test_serve_workers import BETWEEN_LOOKS, ended
from tests.addin.backend.workers.workers import PATIENCE_S, Workers, workers_of
from tests.addin.commands import environment
from tests.addin.serving import address_in, ctrl_c, started
from tests.attack.hosted.stopping import as_pages_ask, attack
from tests.attack.parts.many_signals import service_of, slug_of, value_of
from tests.attack.parts.told import Told

SIGNALS = 300
CALLS = [["SIGNAL", slug_of(number)] for number in range(SIGNALS)]


def loading(workers, service, threads):
    """A page that loads all signals, once the first requests have gone out."""
    asking = threads.submit(as_pages_ask, workers.url, CALLS)
    while service.running.request_count < 20:
        assert not asking.done()
        BETWEEN_LOOKS.wait(0.01)
    return asking


def test_a_worker_that_is_stopped_while_it_loads_loses_no_call():
    assert attack(SIGNALS, seed=1) == Told(SIGNALS)


def test_stopped_as_a_whole_they_answer_what_they_can_and_tell_the_rest_to_ask_again(tmp_path):
    with (
        service_of(tmp_path, SIGNALS) as service,
        workers_of(service, tmp_path, 2, ask_above="100000") as workers,
        ThreadPoolExecutor(2) as threads,
    ):
        service.running.latency_s = 0.2
        content = {"calls": CALLS}
        whole = threads.submit(httpx.post, f"{workers.url}/functions/call", json=content, timeout=60, trust_env=False)
        loading(workers, service, threads)
        pids = workers.pids
        workers.process.send_signal(signal.SIGTERM)
        printed, errors = workers.process.communicate(timeout=PATIENCE_S)
        reply = whole.result(PATIENCE_S)
        assert (reply.status_code, reply.json()["kind"], reply.headers["retry-after"]) == (503, "restarting", "1")
        assert (workers.process.returncode, printed.endswith("Stopped.\n"), errors) == (0, True, "")
        assert ended(pids)


@pytest.mark.parametrize("is_long", [False, True], ids=["short TMPDIR", "TMPDIR too long for sockets"])
def test_ctrl_c_while_they_load_ends_them_with_one_line(service, tmp_path, is_long):
    with TemporaryDirectory() as short:
        folder = Path(short, "x" * 90 if is_long else "x")
        folder.mkdir()
        environ = environment(tmp_path, service) | {"TMPDIR": str(folder)}
        with started("serve", "--http", "--port", "0", "--workers", "2", environ=environ) as process:
            workers = Workers(address_in(process), process)
            while len(pids := workers.pids) < 2:
                assert process.poll() is None
                BETWEEN_LOOKS.wait(0.02)
            if is_long:
                workers.answering(2)
            ctrl_c(process)
            printed, errors = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, printed.splitlines()[-1], errors) == (0, "Stopped.", "")
        assert ended(pids)
        assert not list(folder.iterdir())


def test_a_worker_that_starts_after_a_yes_does_not_ask_again(tmp_path):
    with service_of(tmp_path, 60) as service, workers_of(service, tmp_path, 2, ask_above="10") as workers:
        calls = [["SIGNAL", slug_of(number)] for number in range(30)]
        path = "/functions/call?pending=yes&asks=yes"
        question = workers.ask("POST", path, {"calls": calls})["question"]
        assert workers.ask("POST", "/functions/consent", {"question": question["id"], "load": True})["taken"]
        before = workers.pids
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        assert ended(before)
        workers.answering(2)
        found = as_pages_ask(workers.url, calls)
        assert [found[place].get("value") for place in range(30)] == [value_of(number) for number in range(30)]


def test_all_workers_take_up_a_renewed_certificate(service, tmp_path):
    with workers_of(service, tmp_path, 2, scheme="https") as workers:
        own = Certificates(tmp_path / "config" / "dataservice-addin" / "certificates")
        address = workers.url.removeprefix("https://localhost:")
        before = ssl.get_server_certificate(("127.0.0.1", int(address)))
        own.ensure(dt.datetime.now(dt.UTC) + dt.timedelta(days=380))
        renewed = own.leaf.certificate.read_text(encoding="ascii").strip()
        assert renewed != before.strip()
        ends, in_a_row = time.monotonic() + PATIENCE_S, 0
        while in_a_row < 40 and time.monotonic() < ends:
            is_new = ssl.get_server_certificate(("127.0.0.1", int(address))).strip() == renewed
            in_a_row = in_a_row + 1 if is_new else 0
        assert in_a_row == 40
