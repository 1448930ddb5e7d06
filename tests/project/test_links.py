"""Links between the project's own pages lead somewhere."""

import re
from pathlib import Path

import pytest

from tests.project.files import PROJECT, files_ending, read

PAGES = files_ending(".md")


def local_targets(page: Path) -> list[str]:
    links = re.findall(r"\]\(([^)\s]+)\)", read(page))
    return [link.split("#")[0] for link in links if not re.match(r"[a-z]+:|#", link)]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_link_leads_to_a_file_of_the_project(page):
    missing = [target for target in local_targets(page) if not (PROJECT / page.parent / target).exists()]
    assert missing == []


def test_every_documentation_page_is_in_the_navigation():
    navigation = read(PROJECT / "mkdocs.yml")
    pages = [path.relative_to("docs").as_posix() for path in PAGES if path.parts[0] == "docs"]
    assert [page for page in pages if not re.search(rf":\s{re.escape(page)}\s", navigation)] == []
