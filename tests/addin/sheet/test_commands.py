"""`addin sheet` and `addin demo` with the sheet."""

import signal
import socket
from contextlib import closing
from urllib.parse import urlsplit

import httpx
import pytest

from addin.backend.serving import PORTS_TRIED, listen_at_home
from addin.cli.commands.serve import SHEET_PORT
from addin.cli.demo_server import running_demo
from addin.errors import AddinError
from tests.addin.commands import addin, environment
from tests.addin.serving import address_in, ctrl_c, started
from tests.addin.workbook.books import make_book

pytestmark = pytest.mark.usefixtures("component")


def test_a_book_is_served_with_the_users_key_until_told_to_stop(service, tmp_path):
    book = make_book(tmp_path / "report.xlsx", {"A1": "=_xldudf_DS_SIGNAL(1)"})
    before = book.read_bytes()
    with started("sheet", str(book), environ=environment(tmp_path, service)) as process:
        url = address_in(process)
        assert url.endswith("/sheet")
        assert urlsplit(url).port in range(SHEET_PORT, SHEET_PORT + PORTS_TRIED), "where the browser keeps its drafts"
        assert "DS.SIGNAL(1)" in httpx.get(f"{url}/book", trust_env=False).text
        status = httpx.get(url.replace("/sheet", "/status"), trust_env=False).json()
        assert status["key"]["id"] == service.key[-4:]
        process.send_signal(signal.SIGINT)
        printed, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, "")
    assert printed.endswith("Stopped.\n")
    assert book.read_bytes() == before


def test_a_page_has_the_same_port_each_time_and_the_next_one_while_that_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as free:
        home = free.getsockname()[1]
    for _ in range(2):
        with closing(listen_at_home(None, home).socket) as first, closing(listen_at_home(None, home).socket) as second:
            assert first.getsockname()[1] == home
            assert second.getsockname()[1] > home
            with pytest.raises(AddinError, match="Choose another port"):
                listen_at_home(home, home)


@pytest.mark.parametrize(("name", "reason"), [("nothing.xlsx", "no such file"), ("broken.xlsx", "is not an .xlsx")])
def test_what_cannot_be_opened_is_told_at_once(service, tmp_path, name, reason):
    (tmp_path / "broken.xlsx").write_text("no book")
    done = addin("sheet", str(tmp_path / name), environ=environment(tmp_path, service))
    assert done.returncode == 1
    assert reason in done.stderr


def test_fetching_again_says_that_it_is_here():
    assert addin("sheet", "--fetch").stdout == "It is here already.\n"


def test_the_demo_serves_the_filled_template():
    with running_demo(sheet=True) as demo:
        book = demo.http.get("/sheet/book").json()
        assert demo.http.get("/sheet").status_code == 200
        spent = demo.http.get("/status").json()["requests_total"]
    assert book["values"]["Dashboard"]["D6"][0][0] > 0
    assert spent == 0, "filling the template is not the user's expense"
    assert not demo.folder.exists()


def test_ctrl_c_while_the_demo_fills_its_workbook_ends_it_with_one_line(tmp_path):
    with started("demo", "--no-browser", environ=environment(tmp_path) | {"TMPDIR": str(tmp_path)}) as process:
        assert any(line.startswith("Same again") for line in process.stdout)
        [folder] = tmp_path.glob("dataservice-demo-*")
        while not list(tmp_path.glob("tmp*")):  # the layout of the workbook is written there
            assert not (folder / "workbook_template.xlsx").exists()
        ctrl_c(process)
        printed, errors = process.communicate(timeout=60)
    assert (process.returncode, printed, errors) == (0, "Stopped.\n", "")
    assert not list(tmp_path.glob("*demo*"))
