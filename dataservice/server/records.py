"""The records of the contract, once: imports are checked against them and the OpenAPI document shows them."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, AnyUrl, AwareDatetime, BaseModel, ConfigDict, Field, FiniteFloat, StringConstraints

Slug = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=200)]
"""Goes into paths and file names; dots are allowed, slashes and spaces are not."""

Text = Annotated[str, StringConstraints(min_length=1)]
Ticker = Annotated[str, StringConstraints(max_length=100)]


def _web_address(text: str) -> str:
    if AnyUrl(text).scheme not in {"http", "https"} or text != text.strip():
        raise ValueError("must be an address that begins with https:// or http://")
    return text  # as it was written: a normalised one may not be the one the source signed


def _in_utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise ValueError("is outside of the calendar in UTC") from None


Instant = Annotated[AwareDatetime, AfterValidator(_in_utc)]
Url = Annotated[str, AfterValidator(_web_address), Field(json_schema_extra={"format": "uri"})]


class Open(BaseModel):
    """A record that may carry more fields than the contract names; they are kept and returned."""

    model_config = ConfigDict(extra="allow", strict=True, json_schema_serialization_defaults_required=True)


class StoryType(StrEnum):
    """What kind of research post it is."""

    ALERT = "alert"
    BRIEF = "brief"
    REPORT = "report"
    EXPLAINER = "explainer"


class WireKind(StrEnum):
    """What kind of primary source a wire item comes from."""

    NEWS = "news"
    FILING = "filing"
    PRESS_RELEASE = "press_release"
    DATA_RELEASE = "data_release"
    FUND_FLOW = "fund_flow"
    ANALYST_RATING = "analyst_rating"
    SOCIAL_POST = "social_post"
    BREAKING = "breaking"


class SignalObservation(Open):
    """One value of a signal at one time."""

    observed_at: Instant
    value: FiniteFloat


class Signal(Open):
    """The definition of a data series."""

    slug: Slug
    shortcode: str | None = None
    name: Text
    category: Text
    signal_type: Text
    source: Text
    description: str | None = None
    unit: str | None = None
    is_premium: bool


class SignalDetail(Signal):
    """A signal with its latest observation and recent history."""

    latest: SignalObservation | None = Field(description="null while a signal has no observation")
    history: list[SignalObservation] = Field(description="the newest observations, oldest first", max_length=365)


class Index(Open):
    """A composite index: methodology, components and current reading."""

    slug: Slug
    name: Text
    summary: str | None = None
    category: str | None = None
    components: list[dict[str, Any]]
    baseline_window_months: int | None = None
    scale: str | None = None
    latest: SignalObservation | None = Field(None, description="the current reading")


class Current(Open):
    """A named macro motion."""

    slug: Slug
    name: Text
    family: str | None = None
    phrase: str | None = None
    momentum_score: FiniteFloat | None = None
    belief_score: FiniteFloat | None = None
    maturity_stage: str | None = None


class Byline(Open):
    """Who wrote a post."""

    handle: Text
    display_name: Text
    agent_role: str | None = None
    topic_beat: str | None = None
    avatar_url: str | None = None


class Citation(Open):
    """A wire item a post rests on."""

    wire_item_id: UUID
    citation_number: int
    quoted_text: str | None = None


class CodexPost(Open):
    """A published research post."""

    slug: Slug
    url: Url
    title: Text
    subtitle: str | None = None
    body_md: str
    published_at: Instant
    story_type: StoryType
    view_count: Annotated[int, Field(ge=0)]
    byline: Byline
    citations: list[Citation]


class WireItem(Open):
    """A primary-source item: headline, summary, links and enrichment, never the raw text."""

    id: UUID
    source: Text
    kind: WireKind
    headline: Text
    summary: str | None = None
    primary_url: Url | None = None
    image_url: Url | None = None
    published_at: Instant
    tickers: list[Ticker]
    signal_slugs: list[str]
    current_slugs: list[str]
    beat: str | None = None
    importance_score: Annotated[FiniteFloat, Field(ge=0, le=100)]
    payload: dict[str, Any] | None = None


class Pagination(BaseModel):
    """Which part of a list an answer holds."""

    limit: int
    offset: int
    total: int


class ErrorBody(BaseModel):
    """Why a request was not answered."""

    error: str
