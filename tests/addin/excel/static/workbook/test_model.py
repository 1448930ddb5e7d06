"""A short life of a workbook: what pages tell is what the service counted, and each preview holds what is spent."""

import shutil

import pytest

from tests.addin.backends import backend_of
from tests.attack.pages import workbook_model


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js here")
def test_whatever_happens_to_a_workbook_all_is_told_and_nothing_more_is_spent_than_was_announced(service, tmp_path):
    with backend_of(service, tmp_path, ask_above=1_000_000) as backend:
        found = workbook_model.attack(backend, service, steps=60, seed=3)
    assert (found["outside"], found["untold"], found["steps"]) == ([], [], 60)
    assert found["refreshes"] > 5
