"""A short run of callers that do not read their answers."""

from tests.attack.hosted.unread import GROWS_AT_MOST, attack


def test_callers_who_do_not_read_their_answers_fill_no_memory_and_refuse_nobody(tmp_path):
    found = attack(12, ["made up", "free"], ["distinct", "open"], tmp_path, afterwards_s=0.5)
    assert found.wrong == []
    assert found.peak_mib < 2 * found.before_mib * (1 + GROWS_AT_MOST)
