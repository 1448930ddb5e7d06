"""The Data Service as a Python client: sync and async, with a cache that spends as few requests as can be.

>>> from dataservice.client import Client
"""

from dataservice.client.archive.seen import SeenSignals, SeenSignalsResource
from dataservice.client.archive.vintages import Vintages, VintagesResource
from dataservice.client.async_client import AsyncClient
from dataservice.client.cache.answer import Answer, Miss, Source
from dataservice.client.contract.quota import Quota
from dataservice.client.contract.resources import (
    CatalogueResource,
    CurrentsResource,
    HistoryResource,
    IndicesResource,
    KnownDaysResource,
    PostsResource,
    Resource,
    SignalResource,
    WireResource,
)
from dataservice.client.contract.results import Catalogue, Currents, Indices, Page, SignalDetail
from dataservice.client.cost import Cost, Refresh
from dataservice.client.network.budget import Budget
from dataservice.client.network.call_context import Bound, Meter
from dataservice.client.status import ResourceState, State
from dataservice.client.sync_client import Client
from dataservice.client.unknown_names import CatalogueCheck

__all__ = [
    "Answer",
    "AsyncClient",
    "Bound",
    "Budget",
    "Catalogue",
    "CatalogueCheck",
    "CatalogueResource",
    "Client",
    "Cost",
    "Currents",
    "CurrentsResource",
    "HistoryResource",
    "Indices",
    "IndicesResource",
    "KnownDaysResource",
    "Meter",
    "Miss",
    "Page",
    "PostsResource",
    "Quota",
    "Refresh",
    "Resource",
    "ResourceState",
    "SeenSignals",
    "SeenSignalsResource",
    "SignalDetail",
    "SignalResource",
    "Source",
    "State",
    "Vintages",
    "VintagesResource",
    "WireResource",
]
