"""The alert rules: each fires in its incident and in no other, tried by Prometheus's own promtool."""

import asyncio
import json
import re
import shutil
import subprocess

import pytest
import yaml

from addin.backend.operation.metrics import FACTS, GAUGES, Metrics, WorkerMeasures
from tests.project.files import PROJECT

FILES = PROJECT / "docs" / "hosting-files"
RULES = yaml.safe_load((FILES / "alerts.yaml").read_text(encoding="utf-8"))["groups"][0]["rules"]

OF = '{job="addin",instance="a"}'
OK_RESPONSES = 'addin_responses_total{job="addin",instance="a",status="200"}'
FAILED_RESPONSES = 'addin_responses_total{job="addin",instance="a",status="500"}'
FAST = 'addin_batch_seconds_bucket{job="addin",instance="a",le="2.0"}'

HEALTHY = {
    **{f"{name}{OF}": "1x180" for name in ("up", *(f"addin_{part}_up" for part in ("service", "store", "ledger")))},
    f"addin_provider_up{OF}": "1x180",
    f"addin_budget_remaining{OF}": "9000x180",
    f"addin_quota_cap{OF}": "10000x180",
    f"addin_disk_free_bytes{OF}": "5000000000x180",
    f"addin_certificate_end_seconds{OF}": "7776000x180",
    f"addin_workers{OF}": "4x180",
    f"addin_workers_wanted{OF}": "4x180",
    OK_RESPONSES: "0+600x180",
    FAILED_RESPONSES: "0x180",
    FAST: "0+600x180",
    f"addin_batch_seconds_count{OF}": "0+600x180",
}
"""Three hours, a value a minute, in which all is well."""

INCIDENTS = {
    "": {f"addin_workers{OF}": "4x60 5x3 4x117"},
    "AddinDown": {f"up{OF}": "1x60 0x120"},
    "AddinServiceAway": {f"addin_service_up{OF}": "1x60 0x120"},
    "AddinStoreAway": {f"addin_store_up{OF}": "1x60 0x120"},
    "AddinLedgerAway": {f"addin_ledger_up{OF}": "1x60 0x120", FAILED_RESPONSES: "0x60 0+300x120"},
    "AddinProviderAway": {f"addin_provider_up{OF}": "1x60 0x120"},
    "AddinQuotaLow": {f"addin_budget_remaining{OF}": "9000x60 900x120"},
    "AddinDiskFull": {f"addin_disk_free_bytes{OF}": "5000000000x60 400000000x120"},
    "AddinCertificateEnds": {f"addin_certificate_end_seconds{OF}": "1000000x180"},
    "AddinWorkersMissing": {f"addin_workers{OF}": "4x60 3x120"},
    "AddinErrors": {FAILED_RESPONSES: "0x60 0+20x120"},
    "AddinSlow": {FAST: "0+600x60 36000+590x120"},
}
"""What is otherwise from the second hour on, by the only alert that is to fire."""


def test_each_alert_fires_in_its_incident_and_in_no_other(tmp_path):
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("no promtool on this machine")
    assert {rule["alert"] for rule in RULES} == {*INCIDENTS} - {""}
    shutil.copy(FILES / "alerts.yaml", tmp_path)
    tests = [
        {
            "name": fires or "all is well",
            "interval": "1m",
            "input_series": [{"series": name, "values": values} for name, values in {**HEALTHY, **change}.items()],
            "alert_rule_test": [
                {"eval_time": "85m", "alertname": rule["alert"], "exp_alerts": expected(rule, fires)} for rule in RULES
            ],
        }
        for fires, change in INCIDENTS.items()
    ]
    content = {"rule_files": ["alerts.yaml"], "evaluation_interval": "1m", "tests": tests}
    (tmp_path / "tests.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    ended = subprocess.run(
        [promtool, "test", "rules", "tests.yaml"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def expected(rule, fires):
    if rule["alert"] != fires:
        return []
    has_instance = "by (job)" not in rule["expr"]
    labels = {**rule["labels"], "job": "addin", **({"instance": "a"} if has_instance else {})}
    summary = rule["annotations"]["summary"].replace("{{ $labels.instance }}", "a")
    return [{"exp_labels": labels, "exp_annotations": {**rule["annotations"], "summary": summary}}]


def told_metrics():
    facts = dict.fromkeys(FACTS, 1.0)
    metrics = Metrics()
    asyncio.run(metrics.answered([b'{"value":1'], 1))
    metrics.service(200, 0.1)
    metrics.responses.labels("200").inc()
    text = metrics.text([WorkerMeasures()], facts, "1.0").decode()
    return set(re.findall(r"^(addin_\w+)", text, re.MULTILINE))


def test_alerts_and_dashboard_name_metrics_that_there_are_and_runbooks_that_are_written():
    told = told_metrics()
    dashboard = (FILES / "dashboard.json").read_text(encoding="utf-8")
    json.loads(dashboard)
    named = set(re.findall(r"\baddin_\w+", dashboard + " ".join(rule["expr"] for rule in RULES)))
    assert named <= told
    assert {name for name, _ in GAUGES.values()} <= told
    page = (PROJECT / "docs" / "operations.md").read_text(encoding="utf-8")
    for rule in RULES:
        assert f"{{ #{rule['annotations']['runbook'].partition('#')[2]} }}" in page
    assert [
        name for name in told if not name.endswith(("_created", "_bucket", "_sum", "_count")) and name not in page
    ] == []
