"""The contract as values: resources, requests, decoded answers, paging, quota."""

from dataservice.client.contract.completeness.density import detail_may_be_thin
from dataservice.client.contract.completeness.evidence import NOTHING_SEEN
from dataservice.client.contract.completeness.sources import SEVERAL
from dataservice.client.contract.dates import DAYS, FORMS, HOURS, MONTHS, Back, PeriodEnd, ToDate, date_in, moment_of
from dataservice.client.contract.nearest import COMPARED, NearestNames
from dataservice.client.contract.profile import Profile
from dataservice.client.contract.requests import HISTORY_LIMIT, LIST_LIMIT, OBSERVATIONS_LIMIT, first_request
from dataservice.client.contract.resources import (
    CATALOGUE_AGE_S,
    HistoryResource,
    IndicesResource,
    SignalResource,
    narrowed,
    wider,
)
from dataservice.client.contract.results import ALL, WIDEST, Collection, places, published_since
from dataservice.client.contract.windows import Window, day_after, utc_day, utc_day_of

__all__ = [
    "ALL",
    "CATALOGUE_AGE_S",
    "COMPARED",
    "DAYS",
    "FORMS",
    "HISTORY_LIMIT",
    "HOURS",
    "LIST_LIMIT",
    "MONTHS",
    "NOTHING_SEEN",
    "OBSERVATIONS_LIMIT",
    "SEVERAL",
    "WIDEST",
    "Back",
    "Collection",
    "HistoryResource",
    "IndicesResource",
    "NearestNames",
    "PeriodEnd",
    "Profile",
    "SignalResource",
    "ToDate",
    "Window",
    "date_in",
    "day_after",
    "detail_may_be_thin",
    "first_request",
    "moment_of",
    "narrowed",
    "places",
    "published_since",
    "utc_day",
    "utc_day_of",
    "wider",
]
