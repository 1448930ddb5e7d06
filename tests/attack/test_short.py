"""Short runs of the attacks that no other test runs, and the page that all of them are written into."""

import re
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.addin.backends import backend_of
from tests.attack.__main__ import BEGIN, END, PAGE, PLAN, Done, Planned, row, run, table, with_rows, written
from tests.attack.client import decoders
from tests.attack.hosted import soak
from tests.attack.pages import hostile_pages
from tests.attack.parts.shared_store import SharedStore
from tests.attack.parts.told import MARK, Told, conclude, heard
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.stores.stores import redis_url  # noqa: F401 - found by being imported here


def test_damaged_and_full_cache_files_give_no_wrong_value():
    command = [sys.executable, "-m", "tests.attack.client.disks", "--rounds", "2", "--seed", "5"]
    ended = subprocess.run(command, cwd=PAGE.parents[1], capture_output=True, text=True, check=False)
    assert heard(ended.stdout) == Told(2), ended.stdout + ended.stderr


def test_pages_with_impossible_times_and_numbers_are_read_rightly_or_refused_and_crash_nothing():
    assert decoders.attack(300, seed=5) == Told(300)


def test_a_hostile_page_gets_no_answer_spends_nothing_and_sees_no_key(service, tmp_path):
    with backend_of(service, tmp_path) as backend:
        found = hostile_pages.attack(backend, service, 300, seed=5)
    assert (found.wrong, found.keys, found.spent) == ([], 0, 0)
    assert found.refused > 100


def test_a_backend_under_load_answers_every_call(tmp_path):
    found = soak.run(3, 5, tmp_path)
    assert found.wrong == []
    assert found.cells > 100
    assert len(found.samples) >= 4


def test_what_grows_in_a_soak_is_named():
    flat = [soak.Sample(100, 20, 4)] * 8
    assert soak.Found(samples=flat).leaks == []
    assert soak.Found(samples=[*flat[:6], *[soak.Sample(150, 90, 4)] * 2]).leaks == [
        "memory_mib grew from 100 to 150",
        "handles grew from 20 to 90",
    ]


def test_attacks_run_side_by_side_in_the_order_of_the_plan_and_those_that_measure_alone(monkeypatch):
    plan = [Planned(str(n), f"parts.tells {n}", "--rounds", 10 + n, 1, is_alone=n == 0) for n in range(3)]
    code = "import sys; print('told: {\"injected\": %s}' % sys.argv[-1])"
    monkeypatch.setattr(Planned, "arguments", lambda self, scale, _: ["-c", code, str(self.full)])
    assert [done.told for done in run(plan, 1.0, jobs=2)] == [Told(10), Told(11), Told(12)]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are listed in /proc")
def test_broken_off_attacks_leave_no_process():
    command = [sys.executable, "-m", "tests.attack", "--only", "soak", "kills", "--jobs", "2"]
    with subprocess.Popen(command, cwd=PAGE.parents[1], stdout=subprocess.PIPE, text=True) as running:
        listed = Path(f"/proc/{running.pid}/task")
        while len(children := children_of(listed)) < 1:
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        printed, _ = running.communicate(timeout=60)
    assert (running.returncode, "broken off" in printed) == (130, True)
    assert [pid for pid in children if Path(f"/proc/{pid}").exists()] == []


def children_of(tasks):
    return [pid for task in tasks.iterdir() for pid in (task / "children").read_text(encoding="ascii").split()]


@pytest.mark.parametrize("kind", ["memory", "sqlite", "redis"])
async def test_leases_end_by_the_clock_of_the_attack(kind, tmp_path, request):
    url = request.getfixturevalue("redis_url") if kind == "redis" else ""
    clock = Clock()
    shared = SharedStore(kind, url, tmp_path, clock)
    one, other = shared.opened(), shared.opened()
    assert (await one.lease("turn", "one", 30), (await one.claim("entry", "one", 30)).granted) == (True, True)
    assert (await other.lease("turn", "other", 30), (await other.claim("entry", "other", 30)).granted) == (False, False)
    clock.advance(31)
    assert (await other.lease("turn", "other", 30), (await other.claim("entry", "other", 30)).granted) == (True, True)
    for store in (one, other):
        await store.aclose()


def test_the_end_of_an_attack_is_read_from_its_output(capsys):
    with pytest.raises(SystemExit) as ended:
        conclude(Told(7, lost=1))
    assert ended.value.code
    assert heard("other lines\n" + capsys.readouterr().out) == Told(7, lost=1)
    assert heard(f"no line begins with {MARK}") is None


def test_the_table_takes_the_place_of_the_one_before():
    done = [Done(planned, Told(10, wrong=1), 2.0) for planned in PLAN]
    shown = table(done, datetime(2026, 8, 31, tzinfo=UTC), 600.0)
    page = written(written(f"before\n{BEGIN}\nobsolete\n{END}\nafter", "first"), shown)
    assert page.startswith("before\n")
    assert page.endswith("\nafter")
    assert page.count("| 10 | 0 | 1 | 0 | 0 | 0 | 2 |") == len(PLAN)
    assert "obsolete" not in page
    assert "first" not in page


def test_attacks_that_are_run_again_replace_their_rows_and_no_others():
    first, later = datetime(2026, 8, 31, tzinfo=UTC), datetime(2026, 9, 1, tzinfo=UTC)
    before = table([Done(planned, Told(1), 1.0) for planned in PLAN], first, 600.0)
    again = [Done(planned, Told(2), 2.0) for planned in PLAN if planned.program == "vintages"]
    head, *changed = [
        new
        for old, new in zip(before.splitlines(), with_rows(before, again, later).splitlines(), strict=True)
        if old != new
    ]
    assert re.match(r"Run in parts, \d+ minutes in all: ", head)
    assert changed == [row(each, later) for each in again]
    assert with_rows(before.replace("cores", "more cores"), again, later) is None


def test_an_attack_that_is_new_gets_its_row_where_the_plan_has_it_and_one_not_run_shows_no_zeros():
    first = datetime(2026, 8, 31, tzinfo=UTC)
    before = table([Done(planned, Told(1), 1.0) for planned in PLAN[:5] + PLAN[7:]], first, 600.0)
    shown = with_rows(before, [Done(PLAN[5], Told(3), 2.0)], first).splitlines()[4:]
    assert [line.split(" | ")[0].removeprefix("| ") for line in shown] == [planned.what for planned in PLAN]
    assert shown[5] == row(Done(PLAN[5], Told(3), 2.0), first)
    assert shown[6] == f"| {PLAN[6].what} |{' – |' * 7} not run yet |"


def test_the_page_shows_a_run_of_every_attack():
    content = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    assert [planned.what for planned in PLAN if f"| {planned.what} |" not in content] == []


def test_every_attack_of_the_plan_is_a_program():
    folder = Path(__file__).parent
    modules = [planned.command.split()[0] for planned in PLAN]
    files = {name: folder / name.replace(".", "/") for name in modules}
    assert [n for n, f in files.items() if not (f.with_suffix(".py").is_file() or (f / "__main__.py").is_file())] == []
