import dataclasses

import pytest
from nbformat import validate

from classroom.editions.lesson import LessonError
from classroom.editions.source import make_source


def test_is_a_valid_notebook_with_the_lessons_ids(lesson):
    notebook = make_source(lesson)
    validate(notebook)
    assert [cell.id for cell in notebook.cells] == [cell.id for cell in lesson.cells]


def test_keeps_solutions_and_hidden_tests(lesson):
    sources = {cell.id: cell.source for cell in make_source(lesson).cells}
    assert "### BEGIN SOLUTION\n    return 2 * number" in sources["double"]
    assert "assert double(-3) == -6" in sources["test_double_value"]


def test_metadata_is_nbgraders_and_the_tags(lesson):
    metadata = {cell.id: cell.metadata for cell in make_source(lesson).cells}
    assert metadata["setup"] == {"tags": ["setup"]}
    assert metadata["title"] == {}
    assert metadata["test_double_value"].nbgrader.points == 2


def test_run_all_goes_on_below_every_cell_of_code_but_the_setup(lesson):
    tagged = [
        cell.id
        for cell in make_source(lesson).cells
        if "raises-exception" in cell.metadata.get("tags", [])
    ]
    assert tagged == [
        cell.id for cell in lesson.cells if cell.cell_type == "code" and cell.id != "setup"
    ]


def test_drawings_are_inside(lesson):
    title = make_source(lesson).cells[0].source
    assert '<img alt="A bar beside one twice as long" src="data:image/svg+xml;base64,' in title
    assert title.endswith("\n\n*A bar and its double.*")


def test_a_drawing_that_is_missing_is_told_with_its_cell(lesson, tmp_path):
    with pytest.raises(
        LessonError, match=r"tiny: cell 'title': the drawing bars\.svg is not beside"
    ):
        make_source(dataclasses.replace(lesson, folder=tmp_path))
