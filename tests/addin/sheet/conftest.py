"""Fixtures of the sheet's tests: they need the component, which is downloaded and not in the repository."""

import pytest

from addin.sheet.component import is_here


@pytest.fixture
def component():
    """Skip a test where the sheet's component is not here."""
    if not is_here():
        pytest.skip("the sheet's component is not here: make sheet")
