"""The browser of the task pane's tests."""

from tests.addin.excel.parts.chromium import chromium

__all__ = ["chromium"]
