import json
import re

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

from classroom.course import (
    graded_cells,
    read_source,
    source_notebooks,
    submission_of,
    uses_attention_lab,
)


def test_a_submission_is_known_by_its_path(course):
    path = course.hand_in("王小明 (2)")
    assert submission_of(course.directory, path) == ("small", "王小明 (2)")


def test_a_path_elsewhere_is_no_submission(course):
    with pytest.raises(ValueError, match="not in a folder like"):
        submission_of(course.directory, course.source())


def test_graded_cells_come_in_the_order_of_the_notebook(course):
    assert source_notebooks(course.directory, "small") == ["small.ipynb"]
    assert graded_cells(course.directory, "small") == [
        ("small", "test_double_shape"), ("small", "test_double_value")
    ]  # fmt: skip


def test_assignments_are_told_apart_by_what_they_import(course):
    assert uses_attention_lab(course.directory, "small")
    assert not uses_attention_lab(course.directory, "other")
    assert not uses_attention_lab(course.directory, "missing")


def other_source(course, *cells, minor=5):
    """Give the other assignment these cells, in a format that has no ids before 4.5."""
    for cell in cells if minor < 5 else ():
        del cell["id"]
    notebook = NotebookNode(cells=cells, metadata={}, nbformat=4, nbformat_minor=minor)
    course.source("other").write_text(json.dumps(notebook), encoding="utf-8")


def test_a_word_in_the_text_makes_no_assignment_ours(course):
    words = "import attention_lab"
    other_source(course, new_markdown_cell(words), new_raw_cell(words), new_code_cell(f"# {words}"))
    assert not uses_attention_lab(course.directory, "other")


@pytest.mark.parametrize("minor", [2, 4, 5])
def test_an_import_decides_in_every_format(course, minor):
    other_source(course, new_code_cell("%%time\nfrom attention_lab import check"), minor=minor)
    assert uses_attention_lab(course.directory, "other")


def test_sources_of_one_assignment_may_be_several(course):
    path = course.source("other")
    path.with_name("part2.ipynb").write_bytes(course.source("small").read_bytes())
    assert uses_attention_lab(course.directory, "other")


@pytest.mark.parametrize(
    ("content", "ours"),
    [
        (new_code_cell("x = 'Größe'"), False),
        (new_code_cell("x = 'Größe'\nimport attention_lab"), True),
        (b"", False),
        (b"[]", False),
        (b'{"cells": [{"source": "import attention_lab', True),
        (b"\x93NUMPY\x01\x00", False),
    ],
)
def test_a_source_that_cannot_be_read_is_named(course, caplog, content, ours):
    if not isinstance(content, bytes):
        content = nbformat.writes(new_notebook(cells=[content])).encode("latin-1")
    course.source("other").write_bytes(content)
    for _ in range(2):
        assert uses_attention_lab(course.directory, "other") == ours
    assert [str(course.source("other")) in record.message for record in caplog.records] == [True]
    with pytest.raises(ValueError, match=re.escape(str(course.source("other")))):
        read_source(course.source("other"))


def test_cells_without_an_id_are_given_one(course):
    other_source(course, new_code_cell(""), new_markdown_cell(""), minor=2)
    assert [cell.id for cell in read_source(course.source("other")).cells] == ["cell-0", "cell-1"]
