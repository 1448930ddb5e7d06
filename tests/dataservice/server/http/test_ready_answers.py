"""What was answered before is sent again as it was, counted like any other, until other data are there."""

import csv
import shutil

import httpx
import pytest

from dataservice.server import Store, import_directory, running


@pytest.fixture
def asked(service):
    """The answer to a path, with a key of the service."""

    def ask(path, key=service.key, **headers):
        return httpx.get(service.url + path, headers={"Authorization": f"Bearer {key}", **headers})

    return ask


DETAIL = "/v1/signals/us-cpi?history=365"


def test_the_same_question_has_the_same_answer_and_is_counted_again(service, asked):
    first, second = asked(DETAIL), asked(DETAIL)
    assert (first.status_code, first.content) == (second.status_code, second.content)
    left = [int(answer.headers["x-service-ratelimit-remaining"]) for answer in (first, second)]
    assert left == [49_999, 49_998]
    assert service.store.usage(service.key) == 2


@pytest.mark.parametrize("packing", ["gzip", "identity"])
def test_each_packing_has_its_own_answer(asked, packing):
    plain = asked(DETAIL, **{"Accept-Encoding": "identity"})
    for _ in range(2):
        answer = asked(DETAIL, **{"Accept-Encoding": packing})
        assert answer.json() == plain.json()
        assert answer.headers.get("content-encoding", "identity") == packing


def test_what_is_refused_to_one_tier_is_not_answered_from_what_another_got(service, asked):
    assert asked("/v1/wire").status_code == 200
    assert asked("/v1/wire", service.free_key).status_code == 402
    assert asked("/v1/wire").status_code == 200


def test_after_an_import_in_this_process_or_another_the_new_data_are_shown(service, asked, sample_data, tmp_path):
    before = asked(DETAIL).json()["data"]["latest"]["value"]
    for place, value in enumerate(("71.5", "72.5")):
        changed = _with_last_value(sample_data, tmp_path / str(place), value)
        if place:
            with Store(service.store.database.location) as other:
                import_directory(other, changed)
        else:
            import_directory(service.store, changed)
        assert asked(DETAIL).json()["data"]["latest"]["value"] == float(value) != before


def test_an_answer_to_get_is_never_sent_to_another_method(service):
    methods = ["OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE"]
    with httpx.Client(base_url=service.url, headers={"Authorization": f"Bearer {service.key}"}) as http:
        before = [http.request(method, DETAIL) for method in methods]
        assert http.get(DETAIL).status_code == 200
        after = [http.request(method, DETAIL) for method in methods]
    assert [answer.status_code for answer in after] == [answer.status_code for answer in before] == [204] + 5 * [405]
    assert [answer.content for answer in after] == [answer.content for answer in before]
    assert {answer.headers["allow"] for answer in after} == {"GET, HEAD, OPTIONS"}


def test_head_has_the_headers_of_get_without_the_body_and_is_counted(service):
    dated_or_counted = {"date", "x-service-ratelimit-remaining"}
    with httpx.Client(base_url=service.url, headers={"Authorization": f"Bearer {service.key}"}) as http:
        answers = [http.request(method, DETAIL) for method in ("HEAD", "GET", "HEAD", "GET")]
    assert [(answer.status_code, bool(answer.content)) for answer in answers] == 2 * [(200, False), (200, True)]
    kept = [{k: v for k, v in answer.headers.items() if k not in dated_or_counted} for answer in answers]
    assert kept == 4 * kept[:1]
    assert service.store.usage(service.key) == 4


def test_a_refusal_is_never_kept(asked):
    assert [asked("/v1/signals/none").status_code for _ in range(2)] == [404, 404]


def test_a_key_that_another_process_revokes_is_refused_at_once(service, asked):
    key = service.store.create_key("pro")
    assert asked(DETAIL, key).status_code == 200
    with Store(service.store.database.location) as other:
        other.keys.revoke(next(record for record in other.keys.records() if record.used == 1))
    assert asked(DETAIL, key).status_code == 401


def test_two_processes_and_an_import_under_way_never_give_more_than_the_cap(service, sample_data):
    key = service.store.create_key(cap=40)
    headers = {"Authorization": f"Bearer {key}"}
    with (
        Store(service.store.database.location) as other,
        running(other) as second,
        httpx.Client(headers=headers) as http,
    ):
        statuses = []
        for number in range(60):
            if number == 20:
                import_directory(other, sample_data)
            statuses.append(http.get((service.url, second.url)[number % 2] + DETAIL).status_code)
    assert statuses == [200] * 40 + [429] * 20
    assert service.store.usage(key) == 40


def _with_last_value(data, folder, value):
    """A copy of the data whose newest observation of us-cpi has another value."""
    shutil.copytree(data, folder)
    path = folder / "observations" / "us-cpi.csv"
    with path.open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    rows[-1][1] = value
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return folder
