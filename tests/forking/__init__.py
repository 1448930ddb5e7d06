"""Programs in processes of their own that start in milliseconds, because the packages are imported already.

A new interpreter spends one to two seconds on importing pandas and the like. What a test looks at is seldom that, so
the process is forked from a server that has imported everything once (`server.py`). It has its own environment, folder,
streams, session and end, like any other. Every command is also started the slow way: `tests/addin/cli/test_main.py`.
"""

from tests.forking.programs import Forked, forked, run_code, run_forked, shell_programs, started_code

__all__ = ["Forked", "forked", "run_code", "run_forked", "shell_programs", "started_code"]
