"""One process, one session: whoever awaits a function shares one client, one cache and one request."""

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import udfs
from dataservice.client.unknown_names import MANY_NAMES
from tests.udfs.parts.asking import session_on
from tests.udfs.parts.programs import User
from udfs.engine.shared_session import SharedSession
from udfs.errors import NoDataError

GATHERED = """
import asyncio, udfs
async def main():
    return await asyncio.gather(*[udfs.SIGNAL("us-cpi") for _ in range(50)])
print(len(set(asyncio.run(main()))))
"""

CELLS = """
import asyncio, udfs
for call in (lambda: udfs.SIGNAL("us-cpi"), lambda: udfs.SIGNAL("us-cpi", "name"),
             lambda: udfs.SPARK("us-cpi"), lambda: udfs.SIGNAL_HISTORY("us-cpi", "-6M")):
    async def cell():
        return await call()
    asyncio.run(cell())
"""

UNKNOWN = """
import asyncio, udfs
async def main():
    asked = [udfs.{}(f"nope-{{n}}") for n in range(240)]
    return await asyncio.gather(*asked, return_exceptions=True)
print({{type(error).__name__ for error in asyncio.run(main())}})
"""

UNKNOWN_IN_THREADS = """
import udfs.sync as ds
from concurrent.futures import ThreadPoolExecutor
def failed(n):
    try:
        return ds.SIGNAL(f"nope-{n}")
    except Exception as error:
        return type(error).__name__
with ThreadPoolExecutor(240) as pool:
    print(set(pool.map(failed, range(240))))
"""

CLIENT_IN_THREADS = """
from concurrent.futures import ThreadPoolExecutor
from dataservice.client import Client
from dataservice.errors import NotFoundError
from dataservice.stores import SqliteStore
def failed(n):
    try:
        client.{}(f"nope-{{n}}")
    except NotFoundError as error:
        return type(error).__name__
with Client(store=SqliteStore()) as client, ThreadPoolExecutor(240) as pool:
    print(set(pool.map(failed, range(240))))
"""

ONE_LOOP = """
import asyncio, udfs
loop = asyncio.new_event_loop()
for _ in range(4):
    loop.run_until_complete(loop.create_task(udfs.SIGNAL("us-cpi")))
loop.close()
"""

THREADS = """
import asyncio, threading, udfs
ready = threading.Barrier(8)
def work():
    ready.wait()
    asyncio.run(udfs.SIGNAL("us-cpi"))
threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""

INTERRUPTED = """
import asyncio, udfs
async def main():
    call = asyncio.ensure_future(udfs.SIGNAL("us-cpi"))
    await asyncio.sleep(0)
    call.cancel()
asyncio.run(main())
"""

FORKED = """
import asyncio, os, sys, udfs, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of newer Pythons, about forking a process with threads
async def cell():
    return await udfs.SIGNAL("us-cpi")
before = asyncio.run(cell())
child = os.fork()
if child == 0:
    sys.exit(0 if asyncio.run(cell()) == before else 1)
assert os.waitpid(child, 0)[1] == 0
assert asyncio.run(cell()) == before
"""


@pytest.fixture
def user(service, tmp_path) -> User:
    return User(service, tmp_path)


@pytest.mark.parametrize("program", [GATHERED, CELLS, ONE_LOOP, THREADS], ids=["gather", "cells", "loop", "threads"])
def test_a_new_process_spends_one_request_and_the_next_one_none(service, user, program):
    user.runs(program)
    assert service.running.request_count == 1
    user.runs_forked(program)
    assert service.running.request_count == 1


@pytest.mark.parametrize(
    "program",
    [*(UNKNOWN.format(function) for function in ("SIGNAL", "SIGNAL_HISTORY", "SPARK")), UNKNOWN_IN_THREADS],
    ids=["values", "histories", "sparks", "threads"],
)
def test_many_unknown_names_asked_for_one_by_one_find_out_together_that_they_do_not_exist(service, user, program):
    assert user.runs_forked(program).strip() == "{'NoDataError'}"
    assert service.running.request_count <= 4


@pytest.mark.parametrize(
    ("program", "error"),
    [
        (UNKNOWN.format("SIGNAL"), "NoDataError"),
        (UNKNOWN.format("SIGNAL_HISTORY"), "NoDataError"),
        (UNKNOWN_IN_THREADS, "NoDataError"),
        (CLIENT_IN_THREADS.format("signal"), "NotFoundError"),
        (CLIENT_IN_THREADS.format("observations"), "NotFoundError"),
    ],
    ids=["values", "histories", "threads", "signals of the client", "observations of the client"],
)
def test_many_unknown_names_asked_for_in_two_processes_at_a_time_cost_few_requests(service, user, program, error):
    with ThreadPoolExecutor(2) as processes:
        printed = list(processes.map(user.runs_forked, [program] * 2))
    assert [each.strip() for each in printed] == [f"{{'{error}'}}"] * 2
    # On a busy machine fewer than four names come first, and are asked for as they are; then the catalogue is.
    assert service.running.request_count <= 2 * (MANY_NAMES - 1) + 2


def test_a_process_that_ends_in_the_middle_of_a_call_leaves_nothing_open(user):
    user.runs(INTERRUPTED)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_has_a_session_of_its_own_on_the_same_cache(service, user):
    user.runs(FORKED)
    assert service.running.request_count == 1


def test_the_key_and_settings_are_those_of_the_add_in(service, user):
    folder = user.home / "config" / "dataservice-addin"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(
        f'url = "{service.url}"\napi_key = "{service.key}"\ncache_dir = "{user.home}/elsewhere"\n', encoding="utf-8"
    )
    user.runs_forked(GATHERED, DATA_SERVICE_URL="", DATA_SERVICE_API_KEY="")
    assert service.running.request_count == 1
    assert list((user.home / "elsewhere").iterdir())


def test_a_session_that_cannot_be_opened_is_tried_again(service, user):
    user.runs_forked(f"""
import asyncio, os, udfs
try:
    asyncio.run(udfs.SIGNAL("us-cpi"))
except ValueError as error:
    assert "DATA_SERVICE_URL" in str(error)
os.environ["DATA_SERVICE_URL"] = {service.url!r}
asyncio.run(udfs.SIGNAL("us-cpi"))
""", DATA_SERVICE_URL="")  # fmt: skip
    assert service.running.request_count == 1


def test_after_close_the_next_call_opens_a_session_again(service, user):
    user.runs_forked("""
import asyncio, udfs
for _ in range(2):
    asyncio.run(udfs.SIGNAL("us-cpi"))
    udfs.close()
    udfs.close()
""")
    assert service.running.request_count == 1


def test_an_error_reaches_every_loop_that_waits_for_it(service):
    shared = SharedSession(lambda: session_on(service))
    errors = []

    def work():
        with pytest.raises(NoDataError) as caught:
            asyncio.run(shared.value("SIGNAL", ["x.y"]))
        errors.append(str(caught.value))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shared.close()
    assert len(errors) == 4
    assert service.running.request_count <= 2


async def test_a_caller_that_is_cancelled_leaves_the_others_their_answer(service):
    shared = SharedSession(lambda: session_on(service))
    first, second = (asyncio.ensure_future(shared.value("SIGNAL", ["us-cpi", "shortcode"])) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == "CPI"
    assert first.cancelled()
    await asyncio.to_thread(shared.close)
    assert service.running.request_count == 1


async def test_a_session_in_use_goes_before_the_shared_one(service):
    async with session_on(service) as session:
        udfs.use(session)
        assert await udfs.SIGNAL("us-cpi", field="shortcode") == "CPI"
        assert session.client.requests_sent == 1
