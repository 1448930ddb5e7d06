"""Commands that ask on a terminal."""

import sys

import pytest

from tests.addin.commands import environment
from tests.addin.terminals import CTRL_C, CTRL_D, answered

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")

KEY = "ds_" + "0123456789abcdef" * 2 + "01234567"


def test_ctrl_c_at_a_question_stops_with_the_exit_code_that_shells_expect(tmp_path):
    code, shown = answered(["setup"], [("Address of the service", CTRL_C)], environ=environment(tmp_path))
    assert (code, shown.splitlines()[-1]) == (130, "Stopped.")
    assert list(tmp_path.glob("config/**/*")) == []


def test_the_end_of_the_answers_is_told_in_a_sentence(tmp_path):
    code, shown = answered(["setup"], [("Address of the service", CTRL_D)], environ=environment(tmp_path))
    assert code == 1
    assert shown.splitlines()[-1] == "addin: the question was not answered, and nothing more was done"
