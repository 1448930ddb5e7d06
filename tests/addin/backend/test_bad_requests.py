"""Whatever is sent to the backend, it answers: with a refusal that says why, or an error in the cell concerned."""

import httpx
import pytest

from tests.addin.backends import backend_of

JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"{}", b'{"calls": 3}', b"\xff", b'{"calls": ' + b"[" * 50_000],
    ids=lambda body: repr(body[:16]),
)
@pytest.mark.parametrize("path", ["/functions/call", "/functions/cost"])
def test_what_is_no_batch_is_refused(sample_backend, path, body):
    response = sample_backend.http.post(path, content=body, headers=JSON)
    assert response.status_code == 400
    assert "calls" in response.json()["error"] or "nested" in response.json()["error"]


def test_a_bad_call_harms_no_other(sample_backend):
    good = ["INDEX", "risk-dial"]
    deep: list = []
    for _ in range(200):
        deep = [deep]
    bad = [
        ["NO_SUCH_FUNCTION", 1],
        ["SIGNAL"],
        ["SIGNAL", None],
        ["SIGNAL", {"a": 1}],
        ["SIGNAL", deep],
        ["SIGNAL", "x" * 100_000],
        ["SIGNAL", "us-cpi", "no-such-field"],
        ["SIGNAL", "us-cpi", "value", "yesterday-ish"],
        ["SIGNAL", "us-cpi", "value", 1e300],
        ["SIGNAL", *["us-cpi"] * 50],
        ["SIGNAL", [["us-cpi"], ["us-10y", "us-cpi"]], [["value"], ["unit"]], [[1], [2]]],
        ["__class__", "__init__"],
        "SIGNAL",
        {"id": "SIGNAL"},
        7,
        None,
        [],
        [["SIGNAL"]],
    ]
    mixed = [call for item in bad for call in (item, good)]
    answers = sample_backend.batch(*mixed)["answers"]
    assert len(answers) == len(mixed)
    assert [answer for answer in answers[1::2] if "value" not in answer] == []
    for call, answer in zip(bad, answers[::2], strict=True):
        assert answer.get("error") in ("#VALUE!", "#N/A") or "columns" in answer, call
        assert len(answer.get("message", "")) < 1_000
        assert "Traceback" not in str(answer)


@pytest.mark.parametrize("bad", [b"NaN", b"-Infinity", rb'"\ud800"', rb'[[1, "x"], [NaN, 2]]'])
def test_a_cell_that_json_has_no_form_for_harms_no_other(sample_backend, bad):
    body = b'{"calls": [["INDEX", "risk-dial"], ["SIGNAL", "us-cpi", "value", ' + bad + b"]]}"
    response = sample_backend.http.post("/functions/call", content=body, headers=JSON)
    good, answer = response.json()["answers"]
    assert isinstance(good["value"], float)
    assert answer["error"] == "#VALUE!"
    assert answer["message"].startswith("the call cannot be read")


def test_an_unknown_function_is_told_with_those_that_exist(sample_backend):
    (answer,) = sample_backend.batch(["NOPE"])["answers"]
    assert answer["error"] == "#VALUE!"
    assert "'NOPE'" in answer["message"]
    assert "SIGNAL_HISTORY" in answer["message"]


def test_an_empty_batch_has_no_answers(backend, service):
    empty = backend.batch()
    assert {name: empty[name] for name in ("answers", "requests", "quota")} == {
        "answers": [],
        "requests": 0,
        "quota": None,
    }
    assert service.running.request_count == 0


def test_too_many_calls_are_refused_with_the_limit(service, tmp_path):
    with backend_of(service, tmp_path, max_calls=3) as backend:
        assert len(backend.batch(*[["INDEX", "risk-dial"]] * 3)["answers"]) == 3
        response = backend.http.post("/functions/call", json={"calls": [["INDEX"]] * 4})
    assert response.status_code == 413
    assert "max_calls" in response.json()["error"]


def test_a_body_that_is_too_large_is_refused_with_the_limit(service, tmp_path):
    with backend_of(service, tmp_path, max_body_bytes=1_000) as backend:
        response = backend.http.post("/functions/call", json={"calls": [["SIGNAL", "x" * 1_000]]})
        assert response.status_code == 413
        assert "max_body_bytes" in response.json()["error"]
        assert backend.batch(["INDEX", "risk-dial"])["answers"]


def test_a_body_without_a_length_is_cut_off_at_the_limit(service, tmp_path):
    def endless():
        for _ in range(100):
            yield b" " * 1_000

    with backend_of(service, tmp_path, max_body_bytes=5_000) as backend:
        response = backend.http.post("/functions/call", content=endless(), headers=JSON)
        assert response.status_code == 413


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nowhere", 404), ("GET", "/functions/call", 405), ("PUT", "/key", 405), ("GET", "/../etc/passwd", 404)],
)
def test_what_is_not_served_is_said_in_json(sample_backend, method, path, status):
    response = sample_backend.http.request(method, path)
    assert response.status_code == status
    assert "not served" in response.json()["error"]


@pytest.mark.parametrize("content", [b"", b"[]", b'{"mode": "all"}', b'{"mode": 3}'])
def test_a_refresh_of_no_known_mode_is_refused(sample_backend, content):
    response = sample_backend.http.post("/refresh", content=content, headers=JSON)
    assert response.status_code == 400
    assert response.json()["error"]


def test_half_a_request_leaves_the_sample_backend_working(sample_backend):
    with httpx.Client(base_url=sample_backend.url) as caller, pytest.raises(httpx.HTTPError):
        caller.post("/functions/call", content=_broken(), headers={**JSON, "content-length": "1000"})
    assert sample_backend.http.get("/health").json() == {"ok": True}


def _broken():
    yield b'{"calls"'
    raise httpx.WriteError("the caller is gone")
