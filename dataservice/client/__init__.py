"""The Data Service as a Python client: sync and async, with a cache that spends as few requests as can be.

>>> from dataservice.client import Client
"""

from dataservice.client.answers import Answer, Source
from dataservice.client.async_client import AsyncClient
from dataservice.client.blocking import Client
from dataservice.client.budget import Budget
from dataservice.client.collections import Catalogue, Currents, Indices, Page, SignalDetail
from dataservice.client.quota import Quota
from dataservice.client.resources import (
    CatalogueResource,
    CurrentsResource,
    HistoryResource,
    IndicesResource,
    PostsResource,
    Resource,
    SignalResource,
    WireResource,
)
from dataservice.client.states import ResourceState, State

__all__ = [
    "Answer",
    "AsyncClient",
    "Budget",
    "Catalogue",
    "CatalogueResource",
    "Client",
    "Currents",
    "CurrentsResource",
    "HistoryResource",
    "Indices",
    "IndicesResource",
    "Page",
    "PostsResource",
    "Quota",
    "Resource",
    "ResourceState",
    "SignalDetail",
    "SignalResource",
    "Source",
    "State",
    "WireResource",
]
