"""The command line as users meet it."""

import inspect
import os
import re
import stat
import subprocess
import sys

import orjson
import pytest
import typer

from addin.cli.main import COMMANDS, app
from docs.generate.commands import commands
from tests.addin.commands import addin, addin_anew, command, environment
from tests.project.files import files_ending, read

KEY = "ds_" + "0123456789abcdef" * 2 + "01234567"


def test_help_lists_every_command_with_its_line():
    shown = re.sub(r"[-\s]+", "", addin("--help").stdout)  # lines are broken at spaces and hyphens
    for name, entry in COMMANDS.items():
        assert re.sub(r"[-\s]+", "", f"{name} {entry.help}") in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_in_the_list_is_the_first_of_the_commands_own_help(name):
    command = typer.main.get_command(app).commands[name]
    target = inspect.cleandoc(command.help or "")
    assert " ".join(target.partition("\n\n")[0].split()) == COMMANDS[name].help


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name):
    done = addin_anew(name, "--help", environ=os.environ)
    assert done.returncode == 0, done.stderr
    assert "Usage: addin" in done.stdout


def test_a_wrong_command_is_told_with_the_closest():
    done = addin("functoins")
    assert done.returncode == 2
    assert "Did you mean 'functions'?" in done.stderr


def test_the_version_is_told():
    assert re.fullmatch(r"addin \d+\.\d+\.\d+\S*\n", addin("--version").stdout)


@pytest.mark.parametrize("package", ["addin", "dataservice"])
def test_a_program_also_runs_as_a_module(package: str):
    done = subprocess.run([sys.executable, "-m", package, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{package} ")


def test_functions_are_listed_and_explained():
    lines = [line for line in addin("functions").stdout.splitlines() if not line.startswith(" ")]
    assert lines[1:] == sorted(set(lines[1:]), key=lines.index), "each group stands once, with all of its functions"
    assert "SIGNAL_HISTORY" in addin("functions").stdout
    explained = addin("functions", "ds.signal").stdout
    assert explained.startswith("SIGNAL(slug, [field]")
    listed = orjson.loads(addin("functions", "--json").stdout)
    assert {"id", "group", "summary", "shape", "examples", "parameters"} <= listed[0].keys()


def test_an_unknown_function_is_told():
    done = addin("functions", "NOPE")
    assert (done.returncode, done.stdout) == (1, "")
    assert "there is no function 'NOPE'" in done.stderr


def test_a_wrong_setting_ends_the_command_with_a_sentence(tmp_path):
    done = addin("eval", "=DS.QUOTA()", environ=environment(tmp_path, ttl_s="soon"))
    assert done.returncode == 1
    assert done.stderr == "addin: ttl_s = 'soon' in DATA_SERVICE_TTL_S cannot be used: expected a number\n"


def test_without_an_address_the_command_says_where_to_set_it(tmp_path):
    done = addin("eval", "=DS.QUOTA()", environ=environment(tmp_path))
    assert done.returncode == 1
    assert "DATA_SERVICE_URL" in done.stderr
    assert "addin demo" in done.stderr


def test_a_value_is_printed_plainly(sample_service, tmp_path):
    done = addin("eval", '=DS.SIGNAL("us-cpi", "unit")', environ=environment(tmp_path, sample_service))
    assert (done.returncode, done.stdout, done.stderr) == (0, "index 2010=100\n", "")


def test_a_table_is_printed_as_json_and_csv(sample_service, tmp_path):
    environ = environment(tmp_path, sample_service)
    formula = '=DS.SIGNAL_HISTORY("us-cpi", "2026-06-01", "2026-08-31")'
    answer = orjson.loads(addin("eval", "--json", formula, environ=environ).stdout)
    assert (answer["rows"], answer["header"]) == (3, ["date", "us-cpi"])
    header, *rows = addin("eval", "--csv", formula, environ=environ).stdout.splitlines()
    assert header == "date,us-cpi"
    assert [row.split(",")[0] for row in rows] == ["2026-06-01", "2026-07-01", "2026-08-01"]


def test_an_error_cell_is_exit_code_1_and_its_message_is_on_stderr(sample_service, tmp_path):
    formulas = ('=DS.SIGNAL("us-cpi", "slug")', '=DS.SIGNAL("no-such-thing")')
    done = addin("eval", *formulas, environ=environment(tmp_path, sample_service))
    assert done.returncode == 1
    assert done.stdout == "us-cpi\n#N/A\n"
    assert "=DS.SIGNAL(\"no-such-thing\"): #N/A no signal 'no-such-thing'" in done.stderr


def test_the_limits_of_a_batch_hold_for_formulas_of_the_command_line_too(sample_service, tmp_path):
    environ = environment(tmp_path, sample_service, max_cells="2")
    done = addin("eval", '=DS.SIGNAL({"us-cpi";"us-10y";"wb.gold"})', environ=environ)
    assert done.stdout == "#VALUE!\n"
    assert "(setting max_cells)" in done.stderr


WORKED_OUT_ERRORS = {
    '=DS.SIGNAL("us-cpi")/0': "#DIV/0!",
    '=DS.SIGNAL("us-cpi")+NA()': "#N/A",
    '=DS.SIGNAL("us-cpi")^1000': "#NUM!",
    '=INDEX({1,2},3)+DS.SIGNAL("us-cpi")': "#REF!",
    '=DS.SIGNAL("us-cpi")+"text"': "#VALUE!",
    '=IFS(DS.SIGNAL("us-cpi")<0,1)': "#N/A",
    '=SWITCH(DS.SIGNAL("us-cpi"),-1,1)': "#N/A",
    '=XLOOKUP("a",{"b","c"},{1,2})+DS.SIGNAL("us-cpi")': "#N/A",
    '=IFERROR(DS.SIGNAL("nope"),0)/0': "#DIV/0!",
}


def test_an_error_that_a_formula_comes_to_is_the_one_of_spreadsheet_programs(sample_service, tmp_path):
    environ = environment(tmp_path, sample_service)
    plain, as_csv, as_json = (
        addin("eval", *form, *WORKED_OUT_ERRORS, environ=environ) for form in ([], ["--csv"], ["--json"])
    )
    codes = list(WORKED_OUT_ERRORS.values())
    assert [each.returncode for each in (plain, as_csv, as_json)] == [1, 1, 1]
    assert plain.stdout.split() == codes
    assert as_csv.stdout.split() == codes
    told = [{"error": code, "message": f"the formula comes to {code}"} for code in codes]
    assert orjson.loads(as_json.stdout) == told
    assert plain.stderr.splitlines() == [
        f"{formula}: {code} the formula comes to {code}" for formula, code in WORKED_OUT_ERRORS.items()
    ]


def test_each_error_in_an_array_has_its_own_code(sample_service, tmp_path):
    environ = environment(tmp_path, sample_service)
    formula = '=LEN(DS.SIGNAL("us-cpi"))/{1,0}+IF({1,0},NA(),1)'
    row = orjson.loads(addin("eval", "--json", formula, environ=environ).stdout)["columns"]
    assert [column["values"][0]["error"] for column in row] == ["#N/A", "#DIV/0!"]
    assert addin("eval", "--csv", formula, environ=environ).stdout == "#N/A,#DIV/0!\n"


def test_a_table_whose_call_had_to_be_worked_out_shows_its_dates(sample_service, tmp_path):
    formula = '=DS.SIGNAL_HISTORY("us-cpi",DATE(2026,1,1)+0,"2026-"&"02-28")'
    done = addin("eval", "--csv", formula, environ=environment(tmp_path, sample_service))
    assert [line.split(",")[0] for line in done.stdout.splitlines()] == ["date", "2026-01-01", "2026-02-01"]


def test_an_error_of_a_call_keeps_its_message_in_a_longer_formula(sample_service, tmp_path):
    formulas = ['=DS.SIGNAL("nope")*2', "=DS.SIGNAL(NA())", "=DS.SIGNAL(1/0)", '=DS.SIGNAL("us-cpi",,,LEFT("a",-1))']
    formulas += ['=SUM(DS.SIGNAL(VSTACK("us-cpi",1/0)))', "=MAP({1,0},LAMBDA(x,DS.SIGNAL(1/x)))"]
    done = addin("eval", *formulas, environ=environment(tmp_path, sample_service))
    assert "{" not in done.stderr.replace("{1,0}", "")
    assert done.stdout.splitlines()[:5] == ["#N/A", "#N/A", "#N/A", "#VALUE!", "#N/A"]
    why = [line.removeprefix(f"{formula}: ") for formula, line in zip(formulas, done.stderr.splitlines(), strict=False)]
    assert why[0].startswith("#N/A no signal 'nope'")
    assert why[1:5] == [
        "#N/A slug is an error itself (#N/A)",
        "#N/A slug is an error itself (#DIV/0!)",
        "#VALUE! options is an error itself (#VALUE!)",
        "#N/A slug is an error itself (#DIV/0!)",
    ]


def test_a_formula_that_cannot_be_read_is_said_before_anything_is_asked(service, tmp_path):
    done = addin("eval", '=DS.SIGNAL("us-cpi")', "=DS.SIGNAL(A1)", environ=environment(tmp_path, service))
    assert (done.returncode, done.stdout) == (1, "")
    assert "means nothing outside of a workbook" in done.stderr
    assert service.running.request_count == 0


def test_a_second_run_is_answered_from_the_first_ones_cache(service, tmp_path):
    environ = environment(tmp_path, service)
    first = addin("eval", '=DS.SIGNAL("us-cpi")', environ=environ).stdout
    assert addin("eval", '=DS.SIGNAL("us-cpi")', environ=environ).stdout == first
    assert service.running.request_count == 1


def test_a_key_is_kept_shown_by_its_end_and_forgotten(tmp_path):
    environ = environment(tmp_path, url="https://api.example")
    kept = addin("key", "set", environ=environ, given=f"{KEY}\n")
    (file,) = tmp_path.glob("config/**/keys.json")
    assert f"is kept in {file}" in kept.stdout
    assert "no keychain" in kept.stderr
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert addin("key", "show", environ=environ).stdout == f"The key ending in 4567 comes from {file}.\n"
    assert addin("key", "forget", environ=environ).stdout == "The key is forgotten.\n"
    assert not file.exists()
    shown = addin("key", "show", environ=environ)
    assert (shown.returncode, shown.stdout) == (1, "No key is set. Keep one with: addin key set\n")


def test_what_is_no_key_is_not_kept_and_not_shown(tmp_path):
    done = addin("key", "set", environ=environment(tmp_path), given="hunter2\n")
    assert done.returncode == 1
    assert "hunter2" not in done.stdout + done.stderr
    assert list(tmp_path.glob("config/**/keys.json")) == []


def test_an_empty_key_is_told_as_such(tmp_path):
    assert "no key was given" in addin("key", "set", environ=environment(tmp_path), given="\n").stderr


def test_plain_http_is_refused_in_the_terms_of_the_settings(tmp_path):
    done = addin("eval", "=DS.QUOTA()", environ=environment(tmp_path, url="http://data.example.com"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "addin: the setting url cannot be used: "
        "http://data.example.com would send the API key in clear text: use https\n"
    )


def test_without_an_address_it_is_said_how_to_set_one(tmp_path):
    told = addin("eval", "=DS.QUOTA()", environ=environment(tmp_path)).stderr
    assert told.startswith("addin: no address of the Data Service is set; put it into DATA_SERVICE_URL or as url = ")


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "latin-1"])
@pytest.mark.parametrize(
    "words", [["doctor"], ["functions"], ["check-config"], ["eval", '=DS.SPARK("us-cpi")']], ids=" ".join
)
def test_an_output_that_lacks_characters_is_written_all_the_same(words, encoding, sample_service, tmp_path):
    environ = environment(tmp_path, sample_service) | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    done = subprocess.run(command(words), env=environ, capture_output=True, check=False, timeout=120)
    assert b"Traceback" not in done.stderr
    assert done.stdout
    if words == ["doctor"] and encoding != "ascii":  # what is ascii by mistake gets UTF-8
        assert b"+  address" in done.stdout
        assert b"x  backend" in done.stdout


def test_a_reader_that_has_enough_ends_the_command_without_a_word(sample_service, tmp_path):
    with subprocess.Popen(
        command(["eval", '=DS.SIGNAL("us-cpi")']),
        env=environment(tmp_path, sample_service),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait(60)) == ("", 1)


def test_a_row_of_a_table_is_one_line_in_a_file(tmp_path):
    folder = tmp_path / "a folder with a name so long that eighty columns cannot hold all of it at once"
    environ = environment(tmp_path, url="https://data.example.com", cache_dir=str(folder))
    del environ["COLUMNS"]
    told = addin("doctor", environ=environ).stdout
    assert f"cache        {folder}\n" in told
    assert not any(line.endswith(" ") for line in told.splitlines())


@pytest.mark.parametrize(
    "words",
    [
        ["key", "set", KEY],
        ["setup", "--key", KEY],
        ["setup", "--url", KEY],
        ["setup", "--host", KEY],
        ["eval", KEY],
        ["eval", f'=DS.NOTHING("{KEY}"'],
        ["functions", KEY],
        ["serve", "--port", KEY],
        [KEY],
        ["--" + KEY],
    ],
    ids=" ".join,
)
def test_a_key_in_the_wrong_place_is_not_repeated_in_the_error(words, tmp_path):
    done = addin(*words, environ=environment(tmp_path))
    assert done.returncode in (1, 2)
    assert KEY not in done.stdout + done.stderr


def test_a_key_as_an_argument_is_told_to_be_readable_there(tmp_path):
    told = addin("key", "set", KEY, environ=environment(tmp_path)).stderr
    assert "unexpected extra argument(s) (ds_…). A key does not belong on the command line" in " ".join(told.split())


def test_every_command_gives_an_example():
    example = re.compile("Examples?:|In three steps")
    lacking = [" ".join(words) for words, command in commands() if not example.search(command.help)]
    assert lacking == []


def test_no_command_prints_past_the_filter_of_control_characters():
    paths = [path for path in files_ending(".py") if path.parts[:2] in {("addin", "cli"), ("dataservice", "cli")}]
    own = {"printing.py", "functions.py"}  # the filter itself, and CSV, which a file gets as it is
    assert [path.name for path in paths if "typer.echo(" in read(path) and path.name not in own] == []


def test_a_key_in_the_environment_is_told_to_win(tmp_path):
    environ = environment(tmp_path, api_key=KEY)
    assert "the environment variable DATA_SERVICE_API_KEY" in addin("key", "show", environ=environ).stdout
    assert "is used before any kept key" in addin("key", "set", environ=environ, given=f"{KEY}\n").stderr
