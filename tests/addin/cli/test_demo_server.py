"""The demo shows everything on made-up data, asks nothing of the network, and leaves nothing behind."""

import re
import signal

import httpx

from addin.cli.demo_server import FORMULAS, running_demo
from tests.addin.commands import addin, environment
from tests.addin.serving import started


def test_every_formula_of_the_demo_gives_what_it_is_there_for():
    with running_demo() as demo:
        sent = demo.send()
    errors = [formula for formula, answer in zip(FORMULAS, sent.answers, strict=True) if "error" in answer]
    assert errors == ['=DS.SIGNAL("us-cpii")', '=DS.SIGNAL("us-cpi", "price")']
    tables = [answer for answer in sent.answers if "columns" in answer]
    assert len(tables) >= 4
    assert all(answer["rows"] > 0 for answer in tables)


def test_the_same_formulas_again_cost_nothing():
    with running_demo() as demo:
        first, again = demo.send(), demo.send()
    assert first.requests == first.quota["cap"] - first.quota["remaining"] > 0
    assert again.requests == 0
    assert again.quota["remaining"] == first.quota["remaining"]


def test_it_shows_a_revision_of_what_it_looked_at_before():
    with running_demo() as demo:
        sent = demo.send()
        assert demo.look.requests == 1
    answers = dict(zip(FORMULAS, sent.answers, strict=True))
    _, before, value, seen, not_before = (
        column["values"] for column in answers['=DS.REVISIONS("us-cpi", , "-3M")']["columns"]
    )
    assert any(old is not None and old != new for old, new in zip(before, value, strict=True))
    assert {round(last - first) for first, last in zip(not_before, seen, strict=True)} == {35}


def test_nothing_is_left_behind():
    with running_demo() as demo:
        assert demo.folder.is_dir()
    assert not demo.folder.exists()


def test_once_prints_values_and_what_they_cost_and_ends(tmp_path):
    done = addin("demo", "--once", environ=environment(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    printed = re.sub(r"\s+", " ", done.stdout)
    assert '=DS.INDEX("risk-dial")' in printed
    assert re.search(r"First look at us-cpi on \d{4}-\d\d-\d\d, .* 1 request ", printed)
    assert re.search(r"Today \d+ formulas, \d+ requests", printed)
    assert re.search(r"Same again \d+ formulas, 0 requests", printed)
    assert list(tmp_path.rglob("*.sqlite")) == []


def test_it_goes_on_serving_until_told_to_stop_and_cleans_up(tmp_path):
    with started("demo", environ=environment(tmp_path) | {"TMPDIR": str(tmp_path)}) as process:
        url = next(line.split()[1] for line in process.stdout if line.startswith("Backend"))
        assert httpx.get(f"{url}/health", trust_env=False).json() == {"ok": True}
        assert len(list(tmp_path.glob("dataservice-demo-*"))) == 1
        process.send_signal(signal.SIGTERM)
        printed, errors = process.communicate(timeout=30)
    assert "Traceback" not in printed + errors
    assert process.returncode == 0
    assert list(tmp_path.glob("dataservice-demo-*")) == []
