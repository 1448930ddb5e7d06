"""The shapes of whole answers, for the OpenAPI document."""

from typing import Annotated

from pydantic import BaseModel, Field

from dataservice.server.records import (
    CodexPost,
    Current,
    Index,
    Pagination,
    Signal,
    SignalDetail,
    SignalObservation,
    WireItem,
)


class SignalList(BaseModel):
    """Part of the signals catalogue."""

    data: Annotated[list[Signal], Field(max_length=500)]
    pagination: Pagination


class SignalAnswer(BaseModel):
    """One signal."""

    data: SignalDetail


class ObservationList(BaseModel):
    """Part of a window of observations, oldest first."""

    data: Annotated[list[SignalObservation], Field(max_length=1_000)]
    pagination: Pagination


class IndexList(BaseModel):
    """All indices."""

    data: list[Index]


class CurrentList(BaseModel):
    """All currents."""

    data: list[Current]


class PostList(BaseModel):
    """Research posts, newest first."""

    data: Annotated[list[CodexPost], Field(max_length=200)]


class WireList(BaseModel):
    """Wire items, newest first."""

    data: Annotated[list[WireItem], Field(max_length=200)]
