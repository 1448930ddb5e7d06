"""Links between the project's own pages lead somewhere."""

import re
from pathlib import Path

from tests.project.files import PROJECT, files_ending, read

PAGES = files_ending(".md")


def local_targets(page: Path) -> list[str]:
    links = re.findall(r"\]\(([^)\s]+)\)", read(page))
    return [link.split("#")[0] for link in links if not re.match(r"[a-z]+:|#", link)]


def test_a_link_leads_to_a_file_of_the_project():
    links = [(page, target) for page in PAGES for target in local_targets(page)]
    assert [f"{page}: {target}" for page, target in links if not (PROJECT / page.parent / target).exists()] == []


def test_every_documentation_page_is_in_the_navigation():
    navigation = read(PROJECT / "mkdocs.yml")
    pages = [path.relative_to("docs").as_posix() for path in PAGES if path.parts[0] == "docs"]
    assert [page for page in pages if not re.search(rf":\s{re.escape(page)}\s", navigation)] == []
