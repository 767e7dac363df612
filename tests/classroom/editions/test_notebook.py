from nbformat.v4 import new_code_cell
from nbgrader.nbgraderformat import SCHEMA_VERSION, MetadataValidator

from classroom.editions.notebook import cell_metadata, from_json, new_notebook, to_json


def test_the_schema_is_the_one_nbgrader_writes():
    assert cell_metadata({"grade_id": "a", "points": 1}).nbgrader.schema_version == SCHEMA_VERSION


def test_a_graded_cell_is_locked_and_has_points():
    metadata = cell_metadata({"grade_id": "test_a", "points": 2})
    assert metadata == {
        "nbgrader": {
            "grade": True,
            "grade_id": "test_a",
            "locked": True,
            "points": 2,
            "schema_version": 3,
            "solution": False,
            "task": False,
        }
    }


def test_a_solution_cell_is_open_and_has_none():
    metadata = cell_metadata({"grade_id": "a", "solution": True}).nbgrader
    assert (metadata.grade, metadata.solution, metadata.locked) == (False, True, False)
    assert "points" not in metadata


def test_other_cells_keep_their_tags_only():
    assert cell_metadata({"id": "setup", "tags": ["setup"]}) == {"tags": ["setup"]}
    assert cell_metadata({"id": "look"}) == {}


def test_nbgrader_accepts_it():
    cells = [
        new_code_cell(metadata=cell_metadata({"grade_id": "a", "solution": True})),
        new_code_cell(metadata=cell_metadata({"grade_id": "test_a", "points": 2})),
    ]
    MetadataValidator().validate_nb(new_notebook(cells))


def test_a_notebook_names_the_plain_kernel_and_no_version():
    metadata = new_notebook([], colab={}).metadata
    assert metadata.kernelspec.name == "python3"
    assert metadata.language_info == {"name": "python"}
    assert metadata.colab == {}


def test_an_id_that_stands_twice_is_kept():
    cells = [new_code_cell(id="a"), new_code_cell(id="a")]
    assert [cell.id for cell in new_notebook(cells).cells] == ["a", "a"]


def test_json_and_back():
    notebook = new_notebook([new_code_cell("x = 'é'\n", id="a")])
    text = to_json(notebook)
    assert text.endswith("}\n")
    assert "é" in text
    assert from_json(text) == notebook
