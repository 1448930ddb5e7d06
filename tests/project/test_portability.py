"""A clone works anywhere: no file names one machine's paths, a registry's host or a part that must be paid for."""

from tests.project.files import files_ending, imported_modules, lines_matching, read, text_files

# Dots and letters in brackets keep these patterns from matching themselves.
REGISTRY_HOSTS = (
    r"pypi[.]org|pythonhosted[.]org|npmjs[.](org|com)|registry[.]yarnpkg|deb[.]debian[.]org|security[.]debian[.]org"
    r"|archive[.]ubuntu[.]com|proxy[.]golang[.]org|crates[.]io|ghcr[.]io|docker[.]io|pkg[.]dev"
    r"|https?://[^\s\"']+/(simple|debian|packages)/"
)
MACHINE_PATHS = r"(?<![\w.>{}])/(work|farm|root|home/\w+|Users/\w+|tmp)/|C:\\Users\\\w|bash_job[s]"


def test_no_file_names_a_package_registry():
    assert lines_matching(REGISTRY_HOSTS, text_files()) == []


def test_no_file_names_a_path_of_one_machine():
    assert lines_matching(MACHINE_PATHS, text_files()) == []


def test_only_tests_and_benchmarks_look_beside_the_project():
    elsewhere = tuple(path for path in text_files() if path.parts[0] not in {"tests", "benchmarks"})
    assert lines_matching(r"\.\./share[d]", elsewhere) == []


def test_no_module_imports_the_part_of_xlwings_that_needs_a_paid_key():
    paid = ("xlwings.pro", "xlwings.server", "xlwings_server")
    named = [path for path in files_ending(".py") if "xlwings" in read(path)]  # to parse all of them takes seconds
    imports = [(str(path), name) for path in named for name in imported_modules(path)]
    assert imports
    assert [each for each in imports if each[1].startswith(paid)] == []


def test_text_files_end_their_lines_in_the_unix_way():
    assert lines_matching(r"\r", text_files()) == []
