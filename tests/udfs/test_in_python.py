"""What programs get: values, series by the names given, frames that fit together, one sentence for what is missing."""

import os
import subprocess
import sys
import traceback
from pathlib import Path

import pandas as pd
import pytest

import udfs
import udfs.sync
from tests.udfs.parts.asking import session_on
from tests.udfs.parts.programs import User
from udfs.errors import ArgumentError, CellError

SLUGS = ["us-cpi", "eia.wti.spot"]


@pytest.fixture
async def session(service):
    async with session_on(service) as found:
        udfs.use(found)
        yield found


@pytest.mark.parametrize("given", [SLUGS, tuple(SLUGS), pd.Series(SLUGS), (each for each in SLUGS)], ids=type)
async def test_a_list_of_slugs_gives_a_series_by_slug(session, given):
    values = await udfs.SIGNAL(given)
    assert values.to_dict() == {slug: await udfs.SIGNAL(slug) for slug in SLUGS}
    assert (values.dtype, values.index.name) == ("float64", "slug")


async def test_a_list_of_one_slug_is_a_list_as_well(session):
    assert (await udfs.SIGNAL(["us-cpi"])).index.tolist() == ["us-cpi"]
    assert (await udfs.SIGNAL(["us-cpi"], ["value", "unit"])).shape == (1, 2)


async def test_slugs_and_fields_give_a_frame(session):
    frame = await udfs.SIGNAL(SLUGS, ["value", "unit", "unit"])
    assert (frame.index.tolist(), frame.columns.tolist()) == (SLUGS, ["value", "unit", "unit"])
    assert frame.loc["us-cpi", "value"] == await udfs.SIGNAL("us-cpi")
    assert [frame.dtypes.iloc[0], frame.columns.name] == ["float64", "field"]


async def test_days_label_their_values(session):
    days = pd.date_range("2025-03-31", periods=3, freq="ME", tz="UTC")
    values = await udfs.SIGNAL("us-cpi", at=days)
    assert values.index.tolist() == days.tolist()
    assert values.iloc[0] == await udfs.SIGNAL("us-cpi", at=days[0])
    assert (await udfs.SIGNAL(SLUGS, at=days)).shape == (2, 3)


async def test_periods_label_their_values_as_they_were_given(session):
    months = pd.period_range("2025-03", periods=3, freq="M")
    values = await udfs.SIGNAL("us-cpi", at=months)
    assert values.index.equals(months)
    assert values.iloc[0] == await udfs.SIGNAL("us-cpi", at="2025-03-31")
    assert (await udfs.SIGNAL(SLUGS, at=months)).columns.equals(months)


async def test_a_name_that_fails_holds_its_error_beside_the_others(session):
    values = await udfs.SIGNAL([*SLUGS, "no-such-signal", None])
    assert isinstance(values["no-such-signal"], CellError)
    assert values.iloc[0] == await udfs.SIGNAL("us-cpi")
    assert values.iloc[3] is None


async def test_a_frame_of_names_gives_a_frame_of_values(session):
    values = await udfs.SIGNAL(pd.DataFrame({"a": SLUGS, "b": SLUGS[::-1]}))
    assert values.iloc[0, 0] == values.iloc[1, 1] == await udfs.SIGNAL("us-cpi")


async def test_a_function_that_waits_labels_its_results_too(service, tmp_path):
    program = 'import udfs.sync\nprint(udfs.sync.SIGNAL(["us-cpi", "WTI"], "shortcode").to_dict())'
    assert User(service, tmp_path).runs(program) == "{'us-cpi': 'CPI', 'WTI': 'WTI'}\n"


async def test_all_frames_have_times_in_utc_and_can_be_joined_by_them(session):
    history = await udfs.SIGNAL_HISTORY("us-cpi", "-1Y")
    wire = await udfs.WIRE(limit=5)
    posts = await udfs.CODEX(limit=5)
    for times in (history.index, wire["published_at"], posts["published_at"]):
        assert str(times.dtype).endswith("UTC]")
    joined = pd.merge_asof(wire.sort_values("published_at"), history, left_on="published_at", right_index=True)
    assert len(joined) == 5


async def test_values_and_times_of_several_signals_have_the_types_of_all_other_frames(session):
    found = await udfs.SIGNAL(["us-cpi", "us-10y"], ["value", "observed_at"])
    assert found.dtypes.astype(str).tolist() == ["float64", "datetime64[us, UTC]"]
    assert (await udfs.SIGNAL(["us-cpi", "us-10y"], "observed_at")).dtype == "datetime64[us, UTC]"


@pytest.mark.parametrize(
    ("function", "nothing"), [(udfs.WIRE, {"text": "no such words"}), (udfs.CODEX, {"beat": "none"})]
)
async def test_a_frame_without_rows_keeps_the_types_of_one_with_rows(session, function, nothing):
    with_rows = await function(limit=5)
    empty = await function(**nothing)
    assert (len(empty), len(with_rows)) == (0, 5)
    numbers_and_times = with_rows.select_dtypes(["number", "datetimetz"]).dtypes
    assert empty.dtypes[numbers_and_times.index].equals(numbers_and_times)


@pytest.mark.parametrize("options", [{}, {"freq": "M"}, {"freq": "Q", "agg": "mean", "transform": "yoy"}])
async def test_columns_keep_their_names_whatever_the_options(session, options):
    assert (await udfs.SIGNAL_HISTORY(SLUGS, "-5Y", **options)).columns.tolist() == SLUGS
    long = await udfs.SIGNAL_HISTORY(SLUGS, "-5Y", layout="long", **options)
    assert long.columns.tolist() == ["signal", "value"]


async def test_an_error_that_the_caller_can_mend_shows_no_frames_of_ours(session):
    with pytest.raises(ArgumentError) as caught:
        await udfs.SIGNAL("us-cpi", "no such field")
    frames = [Path(frame.filename).name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert frames == [Path(__file__).name, "python_function.py"]


@pytest.mark.parametrize(
    ("set_already", "sentence"),
    [
        ({}, "no address of the Data Service is set; put it into DATA_SERVICE_URL"),
        ({"DATA_SERVICE_URL": "https://data.example"}, "no API key is configured; put it into DATA_SERVICE_API_KEY"),
    ],
)
def test_where_no_address_or_key_is_set_one_sentence_says_so(tmp_path, set_already, sentence):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DATA_SERVICE")}
    homes = dict.fromkeys(["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "APPDATA"], str(tmp_path))
    keyring = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
    done = subprocess.run(
        [sys.executable, "-c", "from udfs.sync import SIGNAL\nSIGNAL('us-cpi')"],
        env=kept | homes | keyring | set_already, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = done.stderr.splitlines()
    assert sentence in lines[-1]
    assert sum(line.startswith("  File") for line in lines) <= 2
