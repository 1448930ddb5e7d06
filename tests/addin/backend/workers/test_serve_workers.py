"""Several workers on one port are one backend: to users, to the quota, and to whoever stops them."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from select import select
from threading import Event

import httpx

from dataservice.server.db.keys import Tier
from dataservice.worker_processes import STALL_S
from tests.addin.backend.workers.workers import PATIENCE_S, workers_of

SLUGS = ("us-cpi", "cboe.vix", "btc-usd", "eia.wti.spot")
CALLS = [["SIGNAL", slug] for slug in SLUGS]
QUOTA = Tier.PRO.cap
"""Requests a month of the service's Pro tier."""

BETWEEN_LOOKS = Event()
"""Whoever looks without a pause takes the processor from what is looked for."""


def ended(pids) -> bool:
    """Whether all these processes end in time."""
    ends = time.monotonic() + PATIENCE_S
    return all(_ends_before(ends, pid) for pid in pids)


def _ends_before(ends: float, pid: int) -> bool:
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    with os.fdopen(watched) as process:  # readable as soon as it has ended
        return bool(select([process], [], [], max(0.0, ends - time.monotonic()))[0])


def test_all_workers_have_one_cache_one_refresh_one_key_one_status_and_one_end(service, tmp_path):
    with workers_of(service, tmp_path, 2, api_key="") as workers:
        assert {worker["key"]["set"] for worker in statuses(workers)} == {False}
        saved = workers.ask("POST", "/key", {"key": service.key})
        assert {worker["key"]["id"] for worker in statuses(workers)} == {service.key[-4:]}

        replies = workers.at_once(*[CALLS] * 8)
        assert len({str([answer["value"] for answer in reply["answers"]]) for reply in replies}) == 1
        assert {reply["generation"] for reply in replies} == {saved["generation"]}
        assert sum(reply["requests"] for reply in replies) == service.store.usage(service.key) == len(SLUGS)

        generation = workers.ask("POST", "/refresh", {"mode": "force"})["generation"]
        replies = workers.at_once(*[CALLS] * 8)
        assert {reply["generation"] for reply in replies} == {generation} != {saved["generation"]}
        assert sum(reply["requests"] for reply in replies) == len(SLUGS)
        assert service.store.usage(service.key) == 2 * len(SLUGS)

        told = statuses(workers)
        assert [each for each in told if each != told[0]] == []
        assert len(told[0]["resources"]) == len(SLUGS)
        assert told[0]["quota"]["used_here"] == told[0]["requests_total"] == 2 * len(SLUGS)

        lost = workers.ask("POST", "/functions/call?post=lost", {"calls": [["SIGNAL", "eth-usd"]]})
        later = [f"/functions/call?post=later-{number}&lost=lost" for number in range(8)]
        assert [workers.ask("POST", path, {"calls": []})["requests"] for path in later] == [lost["requests"], *[0] * 7]

        workers.ask("DELETE", "/key")
        assert {worker["key"]["set"] for worker in statuses(workers)} == {False}
        leave_nothing_when_stopped(workers)


def statuses(workers):
    """What /status tells to callers who come at once, without what changes while they ask."""
    with ThreadPoolExecutor(8) as threads:
        told = list(threads.map(lambda _: workers.ask("GET", "/status"), range(8)))
    for each in told:
        each["resources"] = [{**row, "age_s": None, "source": None} for row in each["resources"]]
    return told


def leave_nothing_when_stopped(workers):
    """Neither a process nor a line but the usual one stays after Ctrl-C."""
    pids = workers.pids
    workers.process.send_signal(signal.SIGINT)
    printed, errors = workers.process.communicate(timeout=PATIENCE_S)
    assert workers.process.returncode == 0
    assert printed.endswith("Stopped.\n")
    assert "Traceback" not in errors
    assert ended(pids)


def test_the_metrics_of_every_worker_tell_what_is_left_of_the_quota_after_what_others_spent(service, tmp_path):
    with workers_of(service, tmp_path, 2) as workers:
        for spent, slug in enumerate(SLUGS, start=1):
            workers.batch(["SIGNAL", slug])
            left = QUOTA - spent
            assert {told_by(workers, "addin_quota_remaining") for _ in range(8)} == {left}
        free = service.store.create_key("free")
        workers.ask("POST", "/key", {"key": free})
        workers.batch(["SIGNAL", "us-cpi"])
        assert {told_by(workers, "addin_quota_cap") for _ in range(8)} == {Tier.FREE.cap}


def told_by(workers, metric):
    """The value of a metric, as the worker tells it that takes the next connection."""
    text = httpx.get(f"{workers.url}/metrics", trust_env=False).text
    return next((float(line.split()[1]) for line in text.splitlines() if line.startswith(f"{metric} ")), None)


def test_a_worker_that_is_busy_for_a_second_is_in_what_all_tell(service, tmp_path):
    with workers_of(service, tmp_path, 2) as workers, ThreadPoolExecutor(8) as threads:
        for slug in SLUGS:
            workers.batch(["SIGNAL", slug])
        busy = min(workers.answering(2))
        os.kill(busy, signal.SIGSTOP)
        asked = [threads.submit(workers.ask, "GET", "/status") for _ in range(8)]
        BETWEEN_LOOKS.wait(1.0)
        os.kill(busy, signal.SIGCONT)
        assert {each.result()["requests_total"] for each in asked} == {len(SLUGS)}


def test_when_a_worker_is_killed_every_call_ends_and_another_takes_its_place(service, tmp_path):
    with workers_of(service, tmp_path, 2) as workers:
        service.running.latency_s = 0.5
        doomed = min(workers.answering(2))
        with ThreadPoolExecutor(8) as threads:
            under_way = [threads.submit(workers.batch, *CALLS) for _ in range(8)]
            while service.running.request_count == 0:  # the kill shall meet requests under way
                assert not all(each.done() for each in under_way)
                BETWEEN_LOOKS.wait(0.01)
            os.kill(doomed, signal.SIGKILL)
            replies = [each.result() for each in under_way]
        assert all("value" in answer for reply in replies for answer in reply["answers"])
        assert service.store.usage(service.key) <= 2 * len(SLUGS)  # what the dead one had asked for is asked again
        assert doomed not in workers.answering(2)


def test_a_worker_that_does_not_move_keeps_no_other_from_being_replaced_and_all_end_with_who_watches_them(
    service, tmp_path
):
    with workers_of(service, tmp_path, 2) as workers:
        still, doomed = workers.answering(2)
        os.kill(still, signal.SIGSTOP)
        try:
            os.kill(doomed, signal.SIGKILL)
            assert ended([doomed])
            ends = time.monotonic() + STALL_S / 3
            while len(workers.pids) < 2 or doomed in workers.pids:
                assert time.monotonic() < ends
                BETWEEN_LOOKS.wait(0.05)
        finally:
            os.kill(still, signal.SIGCONT)
        pids = workers.pids
        workers.process.kill()
        assert ended(pids)


def test_on_sighup_workers_with_the_settings_of_now_take_the_place_of_the_others(service, tmp_path):
    with workers_of(service, tmp_path, 2) as workers:
        before = set(workers.pids)
        told = workers.ask("GET", "/status")
        (tmp_path / "config" / "dataservice-addin").mkdir(parents=True, exist_ok=True)
        (tmp_path / "config" / "dataservice-addin" / "config.toml").write_text("reserve = 7\n")
        workers.process.send_signal(signal.SIGHUP)
        ends = time.monotonic() + PATIENCE_S
        while before & set(workers.pids) or len(workers.pids) < 2:
            assert time.monotonic() < ends
            assert workers.ask("GET", "/health")["ok"]  # nobody is refused meanwhile
            BETWEEN_LOOKS.wait(0.05)
        after = workers.ask("GET", "/status")
    assert (told["budget"]["reserve"], after["budget"]["reserve"]) == (0, 7)
