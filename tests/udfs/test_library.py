"""What workbooks rely on: the functions, arguments, defaults, fields and options of the library, written down here."""

import inspect

import pytest

import udfs
from udfs import REGISTRY
from udfs.arguments.options import Options

SIGNATURES = {
    "SIGNAL": 'slug, field="value", [at], [options]',
    "SIGNAL_HISTORY": 'slug, start="-1Y", [end], [options]',
    "INDEX": 'slug, field="value"',
    "CURRENT": 'slug, field="momentum_score"',
    "WIRE": (
        "[ticker], [kind], min_importance=0, [since], limit=20, [beat], [source], "
        'fields="published_at, importance_score, kind, headline, source, primary_url", [options]'
    ),
    "SIGNALS": '[search], [category], fields="slug, shortcode, name, category, unit, source", [limit]',
    "INDICES": 'fields="slug, name, value, observed_at, category, scale"',
    "CURRENTS": '[family], fields="slug, name, family, momentum_score, belief_score, maturity_stage", [options]',
    "CODEX": (
        '[story_type], [handle], [since], limit=20, [beat], fields="published_at, story_type, title, handle, slug, url"'
    ),
    "CODEX_POST": 'slug, field="body_md"',
    "QUOTA": 'field="remaining"',
    "STATUS": "[name]",
    "EXPLAIN": "slug",
    "SPARK": 'slug, start="-1Y", points=40, [options]',
    "REVISIONS": "slug, [observed_at], [start]",
}

FIELDS = {
    "SIGNAL": (
        "value observed_at name unit category signal_type source description shortcode is_premium "
        "previous change pct_change rhythm age state"
    ),
    "INDEX": "value observed_at name summary category scale baseline_window_months components",
    "CURRENT": "momentum_score belief_score maturity_stage name family phrase *",
    "CODEX_POST": (
        "published_at story_type title subtitle handle display_name agent_role topic_beat slug url view_count "
        "body_md citations"
    ),
    "QUOTA": "remaining tier cap used_here",
}

KINDS = "news filing press_release data_release fund_flow analyst_rating social_post breaking"

OPTIONS = {
    "SIGNAL": {"asof": "", "vintage": "latest first"},
    "SPARK": {"asof": "", "vintage": "latest first"},
    "SIGNAL_HISTORY": {
        "freq": "raw H D B W M Q Y",
        "agg": "last first mean sum min max",
        "partial": "drop mark keep",
        "align": "union intersect",
        "fill": "none prev next linear zero",
        "fillto": "last end",
        "transform": "",
        "calc": "filled own",
        "count": "periods rows",
        "order": "asc desc",
        "header": "slug name bare none",
        "dates": "show hide",
        "limit": "",
        "layout": "wide long",
        "asof": "",
        "vintage": "latest first",
    },
    "WIRE": {"signal": "", "current": "", "text": ""},
    "CURRENTS": {"sort": "", "top": ""},
}


VECTORIZED = {
    "SIGNAL": "slug field at",
    "INDEX": "slug field",
    "CURRENT": "slug field",
    "CODEX_POST": "slug field",
    "QUOTA": "field",
    "SPARK": "slug start",
}


def signature(function):
    def shown(parameter):
        if parameter.required:
            return parameter.name
        if parameter.default is None:
            return f"[{parameter.name}]"
        return (
            f'{parameter.name}="{parameter.default}"'
            if isinstance(parameter.default, str)
            else (f"{parameter.name}={parameter.default}")
        )

    return ", ".join(shown(parameter) for parameter in function.parameters)


def choices(kind):
    return " ".join(choice.value for choice in kind.choices)


def parameter(function_id, name):
    return next(each for each in REGISTRY[function_id].parameters if each.name == name)


def test_the_released_functions_are_these_in_this_order():
    assert [function_id for function_id in REGISTRY if function_id in SIGNATURES] == list(SIGNATURES)


@pytest.mark.parametrize("function_id", SIGNATURES)
def test_arguments_and_defaults_are_as_documented(function_id):
    assert signature(REGISTRY[function_id]) == SIGNATURES[function_id]


@pytest.mark.parametrize("function_id", FIELDS)
def test_the_fields_that_a_drop_down_offers_are_as_documented(function_id):
    assert choices(parameter(function_id, "field").kind) == FIELDS[function_id]


@pytest.mark.parametrize("function_id", ["INDEX", "CURRENT", "CODEX_POST"])
def test_a_field_that_this_version_does_not_know_may_be_asked_for(function_id):
    assert parameter(function_id, "field").kind.open_choices


def test_kinds_and_story_types_are_closed_lists():
    kind, story_type = parameter("WIRE", "kind").kind, parameter("CODEX", "story_type").kind
    assert (choices(kind), kind.open_choices) == (KINDS, False)
    assert (choices(story_type), story_type.open_choices) == ("alert brief report explainer", False)


@pytest.mark.parametrize("function_id", SIGNATURES)
def test_options_are_as_documented(function_id):
    found = [each.kind for each in REGISTRY[function_id].parameters if isinstance(each.kind, Options)]
    assert bool(found) == (function_id in OPTIONS)
    documented = OPTIONS.get(function_id, {})
    for options in found:
        assert [option.name for option in options.allowed] == [*documented, "err"]
        for option in options.options:
            assert option.kind.open_choices or choices(option.kind) == documented[option.name]


@pytest.mark.parametrize("function_id", SIGNATURES)
def test_the_arguments_that_take_ranges_and_spill_are_as_documented(function_id):
    vectorized = [each.name for each in REGISTRY[function_id].parameters if each.kind.vectorized]
    assert " ".join(vectorized) == VECTORIZED.get(function_id, "")


@pytest.mark.parametrize("function_id", REGISTRY)
def test_a_function_is_offered_by_the_package_under_its_id(function_id):
    assert getattr(udfs, function_id).udf is REGISTRY[function_id]
    assert function_id in udfs.__all__


@pytest.mark.parametrize("function_id", REGISTRY)
def test_help_fits_into_excel_and_says_something_of_every_argument(function_id):
    function = REGISTRY[function_id]
    assert function.summary.endswith(".")
    assert 20 <= len(function.summary) <= 1024
    assert function.details or len(function.parameters) < 2
    assert all(5 <= len(each.kind.help) <= 512 for each in function.parameters)


@pytest.mark.parametrize("function_id", REGISTRY)
def test_every_function_has_examples_that_name_it(function_id):
    examples = REGISTRY[function_id].examples
    assert examples
    assert all(example.startswith(f"=DS.{function_id}(") and example.endswith(")") for example in examples)


@pytest.mark.parametrize("function_id", REGISTRY)
def test_what_a_session_gives_is_keyword_only_and_known(function_id):
    function = REGISTRY[function_id]
    assert set(function.injected) <= {"now", "today", "client"}
    assert inspect.iscoroutinefunction(function.body)
