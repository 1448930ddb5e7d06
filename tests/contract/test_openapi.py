"""What the service does is what its OpenAPI document says: schemathesis makes up requests and compares."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES_PER_ENDPOINT = 25  # hundreds found nothing more; this many take seconds


@pytest.mark.usefixtures("embedded")
def test_no_request_is_answered_otherwise_than_the_document_says(target, tmp_path):
    command = [
        str(Path(sys.executable).with_name("schemathesis")),
        *("run", f"{target.url}/openapi.json"),
        *("--header", f"Authorization: Bearer {target.key}"),
        *("--phases", "examples,coverage,fuzzing"),
        *("--max-examples", str(EXAMPLES_PER_ENDPOINT)),
        *("--seed", "1", "--generation-deterministic", "--no-color"),
    ]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "No issues found" in run.stdout
