import re

import pytest

from classroom.editions.executed import execute
from classroom.editions.source import make_source


@pytest.fixture
def beside(package, tmp_path):
    """The small package in a folder."""
    for name, content in package.items():
        path = tmp_path / "attention_lab" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / "attention_lab"


def test_it_shows_what_cells_show_and_needs_no_network(lesson, beside):
    page = execute(make_source(lesson), beside)
    text = re.sub(r"<[^>]+>", "", page)
    assert "return 2 * number" in text
    assert "BEGIN SOLUTION" not in text
    assert "assert double(-3) == -6" not in text  # a hidden test
    assert "0.3333333333333333" in text  # what a cell shows
    assert re.findall(r'src="http|html-manager', page) == []
