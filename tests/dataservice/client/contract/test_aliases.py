"""Answers about another slug: believed where it is proven that both name one signal, else an error."""

import pytest

from dataservice.client.contract.aliases import is_alias
from dataservice.client.contract.results import Catalogue
from dataservice.errors import MalformedAnswerError
from dataservice.models import Signal
from tests.dataservice.client.parts.scripted import Scripted, answer


def served(slug, catalogue, **fields):
    def reply(request):
        if request.url.path.endswith("/signals"):
            pagination = {"limit": 500, "offset": 0, "total": len(catalogue)}
            return answer([{"slug": each} for each in catalogue], pagination=pagination)
        latest = {"observed_at": "2026-08-01T00:00:00Z", "value": 3.5}
        return answer({"slug": slug, "latest": latest, "history": [latest], **fields})

    return Scripted(reply)


@pytest.mark.parametrize(
    "fields", [{"shortcode": "us-cpi"}, {"aliases": ["cpi", "US-CPI"]}, {"former_slug": "us-cpi"}, {"id": "us-cpi"}]
)
async def test_a_record_that_bears_the_name_asked_for_costs_one_request(fields):
    service = served("bls.cpi", [], **fields)
    async with service.client() as client:
        detail = await client.signal("us-cpi")
    assert (detail.latest.value, detail.signal.slug) == (3.5, "us-cpi"), "windows are asked for by the same name"
    assert len(service.requests) == 1


@pytest.mark.parametrize("catalogue", [["us-cpi", "x"], ["bls.cpi", "x"]])
async def test_of_two_slugs_of_which_the_catalogue_lists_one_both_name_one_signal(catalogue):
    async with served("bls.cpi", catalogue).client() as client:
        assert (await client.signal("us-cpi")).latest.value == 3.5
        assert (await client.signal("us-cpi")).latest.value == 3.5, "from the cache"


@pytest.mark.parametrize("catalogue", [["us-cpi", "bls.cpi"], ["x", "y"]])
async def test_what_may_be_an_answer_to_another_question_is_an_error(catalogue):
    async with served("bls.cpi", catalogue).client() as client:
        with pytest.raises(MalformedAnswerError, match=r"an answer about 'bls\.cpi', asked for 'us-cpi'"):
            await client.signal("us-cpi")


def test_a_catalogue_that_may_be_cut_proves_nothing():
    assert not is_alias(Signal(slug="bls.cpi"), "us-cpi", Catalogue((Signal(slug="us-cpi"),), may_be_cut=True))
