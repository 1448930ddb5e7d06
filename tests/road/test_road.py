"""The whole road: TLS, a real nginx that renews its connections, distance, limits and losses."""

import pytest

from tests.attack.client.road import LIMITS, closed, limited, lossy, renewed, slowed


@pytest.mark.parametrize("http2", [False, True])
@pytest.mark.parametrize("keepalive_requests", [1, 2, 100])
def test_no_request_is_lost_when_nginx_renews_its_connections(keepalive_requests, http2):
    found = renewed(120, keepalive_requests, http2=http2)
    assert (found.failed, found.told, found.counted) == (0, 120, 120)


@pytest.mark.parametrize("retry_after", LIMITS)
def test_processes_share_a_limit_a_second_and_every_value_comes(retry_after):
    found = limited(60, a_second=20, retry_after=retry_after, processes=2)
    assert (found.failed, found.told, found.counted) == (0, 60, 60)
    assert found.refused <= 20  # a tenth when quiet; a busy machine lets some catch up; unpaced: twice what is read


def test_slow_answers_and_lost_connections_fail_no_cell():
    found = lossy(160)
    assert found.failed == 0
    assert found.told >= found.counted


def test_a_service_that_slows_down_under_load_answers_every_read():
    found = slowed(240)
    assert (found.failed, found.told, found.counted) == (0, 240, 240)


@pytest.mark.parametrize("requests_a_connection", [1, 3])
def test_what_a_closed_connection_took_with_it_is_sent_again_and_not_counted(requests_a_connection):
    found = closed(60, requests_a_connection)
    assert (found.failed, found.told, found.counted) == (0, 60, 60)
