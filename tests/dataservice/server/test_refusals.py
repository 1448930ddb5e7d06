"""Every kind of bad row is refused with its file and line, and nothing of the directory is imported."""

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataservice.server import ImportRefusedError, Store, import_directory
from dataservice.server.imports.file_readers import MAX_LINE_BYTES
from tests.dataservice.server.imports.test_importer import POST, ROW, SIGNALS, WIRE, write

OBSERVATIONS = "observations/us-cpi.csv"
HEAD = "observed_at,value\n2026-06-01,1\n"
INDEX = {"slug": "gauge", "name": "g", "components": [{"signal_slug": "us-cpi", "weight": 1}]}

BAD = {
    "no header": ("signals.csv", "", ":1: the header lacks category, is_premium, name"),
    "missing column": ("signals.csv", SIGNALS.replace("source,", "") + ROW, ":1: the header lacks source"),
    "column twice": ("signals.csv", SIGNALS.replace("unit", "name") + ROW, ":1: the header names a column twice"),
    "computed column": ("signals.csv", SIGNALS.replace("unit", "latest") + ROW, ":1: latest cannot be a column"),
    "too few values": ("signals.csv", SIGNALS + ROW + "a,b\n", ":3: has 2 values where the header names 9"),
    "duplicate slug": ("signals.csv", SIGNALS + ROW + ROW.replace("us-", "US-"), ":3: slug: us-cpi stands on line 2"),
    "slug with a slash": ("signals.csv", SIGNALS + ROW.replace("us-cpi", "us/cpi"), ":2: slug: "),
    "empty name": ("signals.csv", SIGNALS + ROW.replace("Consumer prices", ""), ":2: name: "),
    "unclear premium": ("signals.csv", SIGNALS + ROW.replace("false", "maybe"), ":2: is_premium: must be true or"),
    "open quote": ("signals.csv", SIGNALS + ROW + 'x,"y\n', ":3: is not CSV: "),
    "UTF-16": ("signals.csv", (SIGNALS + ROW).encode("utf-16"), ":1: holds a NUL character"),
    "Latin-1": ("signals.csv", (SIGNALS + ROW + "caf\xe9").encode("latin-1"), ":3: is not UTF-8 text (byte 4"),
    "huge line": ("signals.csv", SIGNALS + "x" * (MAX_LINE_BYTES + 1), ":2: the line is longer than 8 MiB"),
    "huge field": ("signals.csv", SIGNALS + "x" * 200_000, ":2: is not CSV: field larger"),
    "unknown signal": ("observations/uk-cpi.csv", HEAD, ": signals.csv names no signal 'uk-cpi'"),
    "extra column": (OBSERVATIONS, "observed_at,value,note\n", ":1: the columns are observed_at and value only"),
    "bad date": (OBSERVATIONS, HEAD + "2026-06-31,1\n", ":3: observed_at: must be a"),
    "number as date": (OBSERVATIONS, HEAD + "45000,1\n", ":3: observed_at: must be a"),
    "date twice": (OBSERVATIONS, HEAD + "2026-06-01T00:00:00Z,2\n", ":3: observed_at: 2026-06-01T00:00:00Z is there"),
    "NaN": (OBSERVATIONS, HEAD + "2026-07-01,NaN\n", ":3: value: must be a finite number, not 'NaN'"),
    "infinity": (OBSERVATIONS, HEAD + "2026-07-01,-inf\n", ":3: value: must be a finite number"),
    "overflow": (OBSERVATIONS, HEAD + "2026-07-01,1e999\n", ":3: value: must be a finite number"),
    "no value": (OBSERVATIONS, HEAD + "2026-07-01,\n", ":3: value: must be a finite number, not ''"),
    "thousands": (OBSERVATIONS, HEAD + "2026-07-01,1_000\n", ":3: value: must be a finite number"),
    "not an array": ("indices.json", json.dumps(INDEX), ":1: must hold one JSON array"),
    "broken array": ("indices.json", "[\n" + json.dumps(INDEX) + ",\n{]", ":3: is not JSON"),
    "unfinished array": ("indices.json", "[" + json.dumps(INDEX), ":1: is not JSON: the array does not go on"),
    "trailing comma": ("indices.json", "[" + json.dumps(INDEX) + ",]", ":1: is not JSON"),
    "text after the array": ("indices.json", "[]\n[]", ":2: something follows the JSON array"),
    "deep nesting": ("indices.json", "[" * 100_000, ":1: is not JSON"),
    "index twice": ("indices.json", "[\n" + json.dumps(INDEX) + ",\n" + json.dumps(INDEX) + "]", ":3: slug: gauge"),
    "text for a number": ("currents.json", '[{"slug": "c", "name": "c", "belief_score": "7"}]', ":1: belief_score: "),
    "NaN in JSON": ("currents.json", '[{"slug": "c", "name": "c", "belief_score": NaN}]', ":1: is not JSON"),
    "NaN in a payload": ("wire.jsonl", '{"payload": {"x": NaN}}', ":1: is not JSON"),
    "half a line": ("wire.jsonl", json.dumps(WIRE) + "\n" + json.dumps(WIRE)[:40], ":2: is not JSON"),
    "unknown kind": ("wire.jsonl", json.dumps({**WIRE, "kind": "rumour"}), ":1: kind: "),
    "importance": ("wire.jsonl", json.dumps({**WIRE, "importance_score": 100.1}), ":1: importance_score: "),
    "no uuid": ("wire.jsonl", json.dumps({**WIRE, "id": "7"}), ":1: id: "),
    "item twice": (
        "wire.jsonl",
        json.dumps(WIRE) + "\n" + json.dumps({**WIRE, "id": WIRE["id"].upper()}),
        f":2: id: {WIRE['id']} stands on line 1",
    ),
    "time without a zone": ("wire.jsonl", json.dumps({**WIRE, "published_at": "2026-08-01T10:00:00"}), ":1: published"),
    "number as time": ("wire.jsonl", json.dumps({**WIRE, "published_at": 1_785_000_000}), ":1: published_at: "),
    "relative link": ("wire.jsonl", json.dumps({**WIRE, "primary_url": "/x"}), ":1: primary_url: "),
    "NUL": ("wire.jsonl", json.dumps({**WIRE, "beat": "a\0b"}), ":1: holds a NUL character"),
    "integer of 25 digits": (
        "wire.jsonl",
        json.dumps({**WIRE, "payload": {"n": 10**24}}),
        ":1: cannot be returned as JSON: Integer exceeds 64-bit range",
    ),
    "citation of 25 digits": (
        "codex.jsonl",
        json.dumps({**POST, "citations": [{"wire_item_id": WIRE["id"], "citation_number": 10**24}]}),
        ":1: cannot be returned as JSON: Integer exceeds 64-bit range",
    ),
    "integer of 5,000 digits": ("indices.json", "[" + "9" * 5_000 + "]", ":1: is not JSON"),
    "half a character": ("wire.jsonl", json.dumps({**WIRE, "headline": "\ud800"}), ":1: is not JSON"),
    "deep payload": (
        "wire.jsonl",
        json.dumps(WIRE)[:-1] + ', "x": ' + "[" * 400 + "]" * 400 + "}",
        ":1: the record: Invalid JSON: recursion limit",
    ),
    "deeper payload": ("wire.jsonl", '{"x": ' + "[" * 5_000 + "]" * 5_000 + "}", ":1: "),
    "script as link": ("wire.jsonl", json.dumps({**WIRE, "primary_url": "javascript:alert(1)"}), ":1: primary_url: "),
    "script as link of a post": ("codex.jsonl", json.dumps({**POST, "url": "JavaScript:alert(1)"}), ":1: url: must be"),
    "file as link": ("wire.jsonl", json.dumps({**WIRE, "image_url": "file:///etc/passwd"}), ":1: image_url: must be"),
    "unknown story type": ("codex.jsonl", json.dumps({**POST, "story_type": "novel"}), ":1: story_type: "),
    "negative views": ("codex.jsonl", json.dumps({**POST, "view_count": -1}), ":1: view_count: "),
    "no handle": ("codex.jsonl", json.dumps({**POST, "byline": {"display_name": "A"}}), ":1: byline.handle: "),
    "bad citation": (
        "codex.jsonl",
        json.dumps({**POST, "citations": [{"wire_item_id": "x", "citation_number": 1}]}),
        ":1: citations.0.wire_item_id: ",
    ),
}


@pytest.mark.parametrize(("name", "content", "reason"), BAD.values(), ids=BAD)
def test_a_bad_row_is_refused_with_file_and_line(tmp_path, name, content, reason):
    folder = tmp_path / "data"
    write(folder, "signals.csv", SIGNALS + ROW)
    write(folder, name, content)
    with Store(tmp_path / "service.db") as store:
        with pytest.raises(ImportRefusedError) as refused:
            import_directory(store, folder)
        assert str(refused.value).startswith(f"{folder / name}{reason}")
        assert store.is_empty()


def as_file(path):
    path.write_text("not a folder")


def as_loop(path):
    path.symlink_to(path)


def as_pipe(path):
    os.mkfifo(path)


NOT_WHAT_THEY_ARE_CALLED = [
    ("observations", as_file, "is not a folder that can be read: Not a directory"),
    ("observations", as_loop, "is not a folder that can be read: Too many levels of symbolic links"),
    ("observations/us-cpi.csv", as_loop, "is not a file that can be read"),
    ("observations/us-cpi.csv", as_pipe, "is not a file that can be read"),
    ("observations/us-cpi.csv", Path.mkdir, "is not a file that can be read"),
    ("signals.csv", as_loop, "is not a file that can be read"),
    ("wire.jsonl", Path.mkdir, "is not a file that can be read"),
    ("indices.json", as_loop, "is not a file that can be read"),
    ("currents.json", as_pipe, "is not a file that can be read"),
]


@pytest.mark.parametrize(("name", "make", "reason"), NOT_WHAT_THEY_ARE_CALLED)
def test_what_is_not_what_its_name_says_is_refused_and_nothing_is_deleted(tmp_path, name, make, reason):
    folder = tmp_path / "data"
    write(folder, "signals.csv", SIGNALS + ROW)
    write(folder, OBSERVATIONS, HEAD)
    with Store(tmp_path / "service.db") as store:
        import_directory(store, folder)
        shutil.rmtree(folder / "observations")
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).unlink(missing_ok=True)
        make(folder / name)
        with pytest.raises(ImportRefusedError) as refused:
            import_directory(store, folder)
        assert str(refused.value) == f"{folder / name}: {reason}"
        assert store.observations("us-cpi", start=None, before=None, limit=10, offset=0).total == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers(-(10**30), 10**30) | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(st.dictionaries(st.sampled_from([*WIRE, "summary", "payload", "beat", "new"]), JSON, max_size=4))
def test_a_record_of_any_shape_is_imported_or_refused(changes):
    with TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, "signals.csv", SIGNALS + ROW)
        write(folder, "wire.jsonl", json.dumps({**WIRE, **changes}))
        with Store(folder / "service.db") as store, suppress(ImportRefusedError):
            assert import_directory(store, folder).wire_items == 1


def test_a_directory_without_a_catalogue_is_refused(tmp_path):
    with Store(tmp_path / "service.db") as store:
        with pytest.raises(ImportRefusedError, match=r"signals\.csv: is missing"):
            import_directory(store, tmp_path)
        with pytest.raises(ImportRefusedError, match="is not a directory"):
            import_directory(store, tmp_path / "nowhere")


def test_a_refusal_says_file_line_and_problem_apart(tmp_path):
    write(tmp_path, "signals.csv", SIGNALS + "a,b\n")
    with Store(tmp_path / "service.db") as store, pytest.raises(ImportRefusedError) as refused:
        import_directory(store, tmp_path)
    assert (refused.value.file, refused.value.line) == (tmp_path / "signals.csv", 2)
    assert refused.value.problem.startswith("has 2 values")
