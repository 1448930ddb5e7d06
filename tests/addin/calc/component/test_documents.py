"""Whether a document's cells may be filled in later follows from how it and soffice were opened."""

from types import SimpleNamespace

import pytest

from addin.calc.component.documents import DayCounts, Situation, is_screenless, own_command_line, situation_of


def document(*, url: str = "", view: object = None, **given: object) -> SimpleNamespace:
    return SimpleNamespace(
        getArgs=lambda: tuple(SimpleNamespace(Name=name, Value=value) for name, value in given.items()),
        getURL=lambda: url,
        getCurrentController=lambda: view,
    )


def test_a_document_on_the_screen_is_filled_in_later():
    assert situation_of(document(FilterName="calc8", url="file:///a.ods"), screenless=False) is Situation.SHOWN
    assert situation_of(document(), screenless=False) is Situation.SHOWN


def test_a_document_that_is_being_loaded_unseen_has_its_values_at_the_end_of_loading():
    assert situation_of(document(FilterName="calc8", Hidden=True), screenless=False) is Situation.LOADING
    assert situation_of(document(FilterName="calc8"), screenless=True) is Situation.LOADING


@pytest.mark.parametrize(
    "used",
    [
        document(FilterName="calc8", Hidden=True, url="file:///a.ods", view=object()),
        document(FilterName="calc8", Hidden=True, view=object()),
        document(Hidden=True),
        None,
    ],
)
def test_a_document_that_a_program_uses_has_them_at_once(used):
    assert situation_of(used, screenless=False) is Situation.HIDDEN


@pytest.mark.parametrize("option", ["--headless", "-headless", "--convert-to"])
def test_soffice_without_a_screen_is_known_by_its_options(option):
    assert is_screenless(["soffice.bin", option, "csv"])


def test_other_options_and_file_names_do_not_count():
    assert not is_screenless(["soffice.bin", "--calc", "headless", "--norestore", ""])


def test_the_own_command_line_can_be_read():
    assert any("python" in argument or "pytest" in argument for argument in own_command_line())


def test_how_a_document_counts_days_is_asked_once_a_second():
    now = [0.0]
    counts = DayCounts(lambda: now[0])
    usual = SimpleNamespace(NullDate=SimpleNamespace(Year=1899, Month=12, Day=30))
    mac = SimpleNamespace(NullDate=SimpleNamespace(Year=1904, Month=1, Day=1))
    assert [counts.days_later(each) for each in (usual, mac, mac, None, mac)] == [0, 1462, 1462, 0, 1462]
    mac.NullDate = usual.NullDate
    assert counts.days_later(mac) == 1462
    now[0] = 1.0
    assert counts.days_later(mac) == 0
