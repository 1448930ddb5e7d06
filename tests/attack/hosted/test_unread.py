"""A short run of callers that do not read their answers."""

from tests.attack.hosted.unread import PEAK_MIB, SPREADSHEETS, attack


def test_callers_who_do_not_read_their_answers_fill_no_memory_and_refuse_nobody(tmp_path):
    found = attack(6, ["free"], ["distinct"], tmp_path, program=SPREADSHEETS, afterwards_s=0.5)
    assert found.wrong == []
    assert found.callers == 6
    assert found.peak_mib < PEAK_MIB
