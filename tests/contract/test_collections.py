"""GET /v1/indices and /v1/currents (contract: Endpoints, Resources)."""

from tests.contract.shapes import CURRENT, INDEX, misfits


def test_indices_come_with_every_field_of_the_contract(pro):
    indices = pro.data("/v1/indices")
    assert [misfits(index, INDEX) for index in indices] == [[]] * len(indices)


def test_currents_come_with_every_field_of_the_contract(pro):
    currents = pro.data("/v1/currents")
    assert [misfits(current, CURRENT) for current in currents] == [[]] * len(currents)


def test_no_two_indices_and_no_two_currents_share_a_slug(pro):
    for path in ("/v1/indices", "/v1/currents"):
        slugs = [record["slug"] for record in pro.data(path)]
        assert len(slugs) == len(set(slugs))
