"""The function library, for type checkers and editors. Generated: `make reference` writes it again."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from udfs.engine.binding import Call as Call
from udfs.engine.in_python.python_function import use as use
from udfs.engine.outcome import Outcome as Outcome
from udfs.engine.registry import REGISTRY as REGISTRY
from udfs.engine.session import Session as Session
from udfs.engine.shared_session import close as close

_Day: TypeAlias = date | np.datetime64 | pd.Period | str

async def SIGNAL(
    slug: str | Iterable[Any],
    field: str | Iterable[Any] | None = "value",
    at: _Day | Iterable[Any] | None = None,
    options: str | Mapping[str, Any] | None = None,
    *,
    asof: _Day | None = None,
    vintage: str | None = None,
) -> Any:
    """The latest value of a signal, its value on a day, or one of its fields.

      slug     slug or shortcode of a signal, or a range of them; udfs.SIGNALS() lists all
      field    the field to show, also any other field by name; a range of fields spills: value,
               observed_at, name, unit, category, signal_type, source, description, shortcode,
               is_premium, previous, change, pct_change, rhythm, age, state
      at       show the value on or before this day or time: a date, or text such as 2024-12-31, -1Y, or
               PYE for the end of last year
      options  text such as asof=2026-06-30, or err=blank

    Options, also by keyword:
      asof     as known here at the end of that day (UTC), by answers that had arrived, at no request;
               today is the present
      vintage  which value of an observation that was revised: latest, first

        await udfs.SIGNAL("us-cpi")

    `addin functions SIGNAL` prints all rules.
    """

async def SIGNAL_HISTORY(
    slug: str | Iterable[str],
    start: _Day | None = "-1Y",
    end: _Day | None = None,
    options: str | Mapping[str, Any] | None = None,
    *,
    freq: str | None = None,
    agg: str | None = None,
    partial: str | None = None,
    align: str | None = None,
    fill: str | None = None,
    fillto: str | None = None,
    transform: str | None = None,
    calc: str | None = None,
    count: str | None = None,
    order: str | None = None,
    header: str | None = None,
    dates: str | None = None,
    limit: int | None = None,
    layout: str | None = None,
    asof: _Day | None = None,
    vintage: str | None = None,
) -> pd.DataFrame:
    """The observations of one or several signals: a column of dates and a column of values for each,
    oldest first.

      slug     slugs or shortcodes of signals: one, several separated by commas, or a range
      start    the first day or time: a date, text such as 2020-01-31, -5Y (back from end, or from
               today), -6H, YTD, PYE, MAX, or N60 for the last 60 rows
      end      the last day or time; if omitted, the newest observation
      options  text such as freq=M; fill=prev, or a range of two columns

    Options, also by keyword:
      freq       one row for each period that has observations, dated by its last day; W-FRI, Q-JAN,
                 Y-MAR end otherwise: raw, H, D, B, W, M, Q, Y
      agg        how the values within a period are combined: last, first, mean, sum, min, max
      partial    a first or last period of which only a part was observed; if omitted, drop where a
                 transform is given, else mark: drop, mark, keep
      align      which rows to show for several signals: union, intersect
      fill       how gaps are filled: none, prev, next, linear, zero
      fillto     how far fill=prev goes: last, end
      transform  one or several, separated by | and applied in this order; several chains separated by
                 commas are one for each signal, or columns of a single one: none, pct(n), diff(n), log,
                 yoy, mom, yoydiff, ann(n), ma(n), sum(n), std(n), median(n), rank(n), zscore(n),
                 ewm(n), index(x), cum, drawdown, lag(n), corr(n)
      calc       which values a transform sees: filled, own
      count      what the n of a transform counts: periods, rows
      order      which row is first: asc, desc
      header     the header of the columns: slug, name, bare, none
      dates      the column of dates: show, hide
      limit      only the newest n rows
      layout     the form of the table: wide, long
      asof       as known here at the end of that day (UTC), by answers that had arrived, at no request;
                 today is the present
      vintage    which value of an observation that was revised: latest, first

        await udfs.SIGNAL_HISTORY("us-cpi")

    `addin functions SIGNAL_HISTORY` prints all rules.
    """

async def INDEX(
    slug: str | Iterable[Any],
    field: str | Iterable[Any] | None = "value",
) -> Any:
    """The current reading of a composite index, or one of its fields.

      slug   slug of an index, or a range of them; INDICES lists all
      field  the field to show, also weight: with a component's name, or any other field; a range of
             fields spills: value, observed_at, name, summary, category, scale, baseline_window_months,
             components

        await udfs.INDEX("pressure-gauge")

    `addin functions INDEX` prints all rules.
    """

async def CURRENT(
    slug: str | Iterable[Any],
    field: str | Iterable[Any] | None = "momentum_score",
) -> Any:
    """The momentum score of a current (a named macro motion), or one of its other fields.

      slug   slug of a current, or a range of them; CURRENTS lists all
      field  the field to show, also any other field by name; * shows the whole row; a range of fields
             spills: momentum_score, belief_score, maturity_stage, name, family, phrase, *

        await udfs.CURRENT("energy-repricing")

    `addin functions CURRENT` prints all rules.
    """

async def WIRE(
    ticker: str | Iterable[str] | None = None,
    kind: str | None = None,
    min_importance: int | None = 0,
    since: _Day | None = None,
    limit: int | None = 20,
    beat: str | None = None,
    source: str | None = None,
    fields: str | Iterable[str] | None = "published_at, importance_score, kind, headline, source, primary_url",
    options: str | Mapping[str, Any] | None = None,
    *,
    signal: str | None = None,
    current: str | None = None,
    text: str | None = None,
) -> pd.DataFrame:
    """The newest items of the wire: news, filings, press releases, data releases and more, newest first.
    Needs Pro.

      ticker          only items with this ticker; several separated by commas or as a range
      kind            only items of this kind: news, filing, press_release, data_release, fund_flow,
                      analyst_rating, social_post, breaking
      min_importance  the minimum importance, 0 to 100
      since           only items since then: a date, or text such as -7D, -6H or MTD
      limit           the maximum number of items, up to 200
      beat            only items of this topic
      source          only items from this feed, exactly as it is spelled
      fields          columns to show, as text with commas or as a range; payload.<key> too; * shows
                      all: published_at, importance_score, kind, headline, source, primary_url, summary,
                      tickers, signal_slugs, current_slugs, beat, image_url, id, payload
      options         signal=, current= and text= filter further

    Options, also by keyword:
      signal   only items about this signal (slug or shortcode)
      current  only items about this current
      text     only items with all these words in headline or summary

        await udfs.WIRE()

    `addin functions WIRE` prints all rules.
    """

async def SIGNALS(
    search: str | None = None,
    category: str | None = None,
    fields: str | Iterable[str] | None = "slug, shortcode, name, category, unit, source",
    limit: int | None = None,
) -> pd.DataFrame:
    """The catalogue of signals, or the signals that match a search, best match first.

      search    what to look for, in your own words: a name, a subject, a source, a category
      category  only signals of this category
      fields    columns to show, as text with commas or as a range; * shows all: slug, shortcode, name,
                category, signal_type, source, description, unit, is_premium, rhythm
      limit     the maximum number of signals

        await udfs.SIGNALS()

    `addin functions SIGNALS` prints all rules.
    """

async def INDICES(
    fields: str | Iterable[str] | None = "slug, name, value, observed_at, category, scale",
) -> pd.DataFrame:
    """A table of all composite indices with their current readings.

      fields  columns to show, as text with commas or as a range; * shows all: value, observed_at, name,
              summary, category, scale, baseline_window_months, components, slug

        await udfs.INDICES()

    `addin functions INDICES` prints all rules.
    """

async def CURRENTS(
    family: str | None = None,
    fields: str | Iterable[str] | None = "slug, name, family, momentum_score, belief_score, maturity_stage",
    options: str | Mapping[str, Any] | None = None,
    *,
    sort: str | None = None,
    top: int | None = None,
) -> pd.DataFrame:
    """A table of all currents with their scores, strongest momentum first.

      family   only currents of this family
      fields   columns to show, as text with commas or as a range; * shows all: slug, momentum_score,
               belief_score, maturity_stage, name, family, phrase
      options  sort= a field, top= the number of rows

    Options, also by keyword:
      sort  the field to sort by: scores highest first, text from A to Z; a leading minus reverses the
            order: slug, momentum_score, belief_score, maturity_stage, name, family, phrase
      top   the maximum number of rows

        await udfs.CURRENTS()

    `addin functions CURRENTS` prints all rules.
    """

async def CODEX(
    story_type: str | None = None,
    handle: str | None = None,
    since: _Day | None = None,
    limit: int | None = 20,
    beat: str | None = None,
    fields: str | Iterable[str] | None = "published_at, story_type, title, handle, slug, url",
) -> pd.DataFrame:
    """The newest research posts, newest first.

      story_type  only posts of this type: alert, brief, report, explainer
      handle      only posts by this author (handle)
      since       only posts since then: a date, or text such as -3M, -6H or YTD
      limit       the maximum number of posts, up to 200
      beat        only posts by authors on this topic
      fields      columns to show, as text with commas or as a range; * shows all: published_at,
                  story_type, title, subtitle, handle, display_name, agent_role, topic_beat, slug, url,
                  view_count, body_md, citations

        await udfs.CODEX()

    `addin functions CODEX` prints all rules.
    """

async def CODEX_POST(
    slug: str | Iterable[Any],
    field: str | Iterable[Any] | None = "body_md",
) -> Any:
    """The text of one research post (Markdown), or one of its other fields.

      slug   slug or address of a post, or a range of them; CODEX lists them
      field  the field to show, also byline.<key> or any other field by name; a range of fields spills:
             published_at, story_type, title, subtitle, handle, display_name, agent_role, topic_beat,
             slug, url, view_count, body_md, citations

        await udfs.CODEX_POST("what-moved-12")

    `addin functions CODEX_POST` prints all rules.
    """

async def QUOTA(
    field: str | Iterable[Any] | None = "remaining",
) -> Any:
    """The requests left this month, or the key's tier, its cap, or the requests sent by this installation.

      field  the field to show; a range of fields spills: remaining, tier, cap, used_here

        await udfs.QUOTA()

    `addin functions QUOTA` prints all rules.
    """

async def STATUS(
    name: str | None = None,
) -> pd.DataFrame:
    """A table of every resource read so far: name, state, age in seconds, source, last error, last
    revision.

      name  only resources with this text in their name

        await udfs.STATUS()

    `addin functions STATUS` prints all rules.
    """

async def EXPLAIN(
    slug: str,
) -> pd.DataFrame:
    """Where a number comes from: a table of what, value and link.

      slug  slug or shortcode of a signal, or the slug of an index or current that the workbook shows

        await udfs.EXPLAIN("us-cpi")

    `addin functions EXPLAIN` prints all rules.
    """

async def SPARK(
    slug: str | Iterable[Any],
    start: _Day | Iterable[Any] | None = "-1Y",
    points: int | None = 40,
    options: str | Mapping[str, Any] | None = None,
    *,
    asof: _Day | None = None,
    vintage: str | None = None,
) -> Any:
    """A signal's history as a line of block characters, from the lowest value (▁) to the highest (█).

      slug     slug or shortcode of a signal, or a range of them
      start    the first day: a date, or text such as -5Y, -6H, YTD, MAX or N60
      points   characters at most
      options  text such as asof=2026-06-30

    Options, also by keyword:
      asof     as known here at the end of that day (UTC), by answers that had arrived, at no request;
               today is the present
      vintage  which value of an observation that was revised: latest, first

        await udfs.SPARK("us-cpi")

    `addin functions SPARK` prints all rules.
    """

async def REVISIONS(
    slug: str,
    observed_at: _Day | None = None,
    start: _Day | None = None,
) -> pd.DataFrame:
    """What changed in the observations of a signal, as answers that arrived here showed it: a row for each
    change.

      slug         slug or shortcode of a signal
      observed_at  only the observations of this day, with all the values they had
      start        only observations from this day on: a date, or text such as -1Y

        await udfs.REVISIONS(A2)

    `addin functions REVISIONS` prints all rules.
    """
