import copy

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from classroom.editions.lint import lint_edition, lint_release, lint_source
from classroom.editions.notebook import cell_metadata, from_json, new_notebook, to_json
from classroom.editions.release import make_release
from classroom.editions.source import make_source


def notebook(*cells):
    return new_notebook(cells)


def code(source, **options):
    cell_id = options.get("grade_id", options.get("id", "a"))
    return new_code_cell(source, id=cell_id, metadata=cell_metadata(options))


SOLUTION = "### BEGIN SOLUTION\ndouble = abs\n### END SOLUTION"
EXERCISE = code(SOLUTION, grade_id="double", solution=True)


@pytest.fixture
def source(lesson):
    return make_source(lesson)


@pytest.fixture
def release(source):
    return from_json(make_release(to_json(source), assignment="ps1", name="tiny"))


def test_a_good_lesson_has_no_findings(source, release):
    assert [*lint_edition(source), *lint_source(source)] == []
    assert [*lint_edition(release), *lint_release(release, source)] == []


def test_a_run_leaves_traces():
    cell = code("1")
    cell.outputs = [new_output("stream", text="1")]
    cell.execution_count = 3
    assert list(lint_edition(notebook(cell))) == [
        "cell 'a': carries outputs; clear them",
        "cell 'a': carries an execution count; clear it",
    ]


def test_widget_state_and_another_kernel():
    edition = notebook(code("1"))
    edition.metadata["widgets"] = {}
    edition.metadata.kernelspec.name = "my-venv"
    assert list(lint_edition(edition)) == [
        "the kernel is 'my-venv'; it must be 'python3'",
        "the notebook carries widget state; clear it",
    ]


def test_an_id_twice():
    assert list(lint_edition(notebook(code("1"), code("2")))) == ["cell 'a': 2 cells have this id"]


@pytest.mark.parametrize("cell_id", ["76d220cf", "a b", "é", "x" * 65])
def test_an_id_that_nobody_wrote(cell_id):
    cell = code("1")
    cell.id = cell_id
    (finding,) = lint_edition(notebook(cell))
    assert "an id is a letter, then" in finding


def test_an_id_that_is_not_the_grade_id():
    cell = code("1", grade_id="test_a")
    cell.id = "b"
    assert list(lint_edition(notebook(cell))) == [
        "cell 'b': the grade_id 'test_a' is not the cell's id"
    ]


@pytest.mark.parametrize(
    "markdown",
    ["![](a.png)", "![ ](a.png)", '<img src="a">', '<img alt="" src="a">', "<img alt=' '>"],
)
def test_a_picture_without_alt_text(markdown):
    (finding,) = lint_edition(notebook(new_markdown_cell(markdown, id="a")))
    assert finding == "cell 'a': a picture has no alt text; say what it shows"


@pytest.mark.parametrize("markdown", ["![Two bars](a.png)", '<img src="a" alt="Two bars">'])
def test_a_picture_with_alt_text(markdown):
    assert list(lint_edition(notebook(new_markdown_cell(markdown, id="a")))) == []


def test_code_is_searched_for_no_pictures():
    assert list(lint_edition(notebook(code("print('![]()')")))) == []


@pytest.mark.parametrize(
    ("cell", "finding"),
    [
        (
            code("1", grade_id="test_double"),
            "a graded cell says what it is worth: points=1 or more",
        ),
        (
            code("1", grade_id="test_double", points=0),
            "a graded cell says what it is worth: points=1 or more",
        ),
        (
            code("1", grade_id="test_treble", points=1),
            "a graded cell's grade_id is test_<step>..., after the solution cell <step>",
        ),
        (
            code("1", grade_id="test_doubled", points=1),
            "a graded cell's grade_id is test_<step>..., after the solution cell <step>",
        ),
        (
            code("### END HIDDEN TESTS", grade_id="test_double", points=1),
            "`### END HIDDEN TESTS` has no partner",
        ),
        (
            code("#### BEGIN HIDDEN TESTS\n1", grade_id="test_double", points=1),
            "`#### BEGIN HIDDEN TESTS` is no marker; write ### BEGIN ... or ### END ...",
        ),
        (code(SOLUTION, grade_id="test_double", points=1), "a solution stands in a graded cell"),
        (code(SOLUTION, id="look"), "solutions and hidden tests belong in cells with a grade_id"),
        (
            code(SOLUTION, grade_id="halve", solution=True),
            "a solution cell defines the name of its grade_id; this one defines no halve",
        ),
        (
            code("def halve(: pass\n" + SOLUTION, grade_id="halve", solution=True),
            "a solution cell defines the name of its grade_id; this one defines no halve",
        ),
        (
            code("halve = 2", grade_id="halve", solution=True),
            "a solution cell marks its solution with ### BEGIN SOLUTION and ### END SOLUTION",
        ),
        (code("x = 1\n" + "#" * 89, id="look"), "line 2 has 89 characters; 88 fit on a screen"),
    ],
)
def test_a_lesson_with_a_fault(cell, finding):
    assert list(lint_source(notebook(EXERCISE, cell))) == [f"cell {cell.id!r}: {finding}"]


@pytest.mark.parametrize(
    "definition",
    ["def halve():\n    pass", "class halve: pass", "halve = 1", "async def halve(): ..."],
)
def test_every_way_to_define_a_name_counts(definition):
    cell = code(f"{definition}\n{SOLUTION}", grade_id="halve", solution=True)
    assert list(lint_source(notebook(cell))) == []


def test_a_long_line_of_prose_is_no_fault():
    assert list(lint_source(notebook(new_markdown_cell("x" * 200, id="a")))) == []


def cell_of(notebook, cell_id):
    return next(cell for cell in notebook.cells if cell.id == cell_id)


def test_a_release_that_shows_a_solution(source, release):
    cell_of(release, "look-at-double").source = "if True:\n    return 2 * number\n"
    assert list(lint_release(release, source)) == [
        "cell 'look-at-double': shows the solution of 'double'"
    ]


def test_a_release_that_shows_a_hidden_test(source, release):
    cell_of(release, "title").source = "    assert double(-3) == -6"
    assert list(lint_release(release, source)) == [
        "cell 'title': shows the hidden tests of 'test_double_value'"
    ]


def test_a_line_that_only_contains_the_solution_is_none(source, release):
    cell_of(release, "title").source = "Why not `return 2 * number`?"
    assert list(lint_release(release, source)) == []


def test_an_empty_solution_is_shown_by_nothing(source, release):
    region = "    ### BEGIN SOLUTION\n\n    ### END SOLUTION"
    cell_of(source, "double").source = f"def double(number):\n{region}"
    assert list(lint_release(release, source)) == []


def test_the_source_itself_is_no_release(source):
    findings = "\n".join(lint_release(source, source))
    for part in (
        "a marker",
        "has no `raise NotWrittenYet`",
        "solution of 'halve'",
        "hidden tests of",
    ):
        assert part in findings


def test_a_release_with_other_ids(source, release):
    other = copy.deepcopy(release)
    other.cells[0].id = "other"
    assert list(lint_release(other, source)) == [
        "the cell ids are not those of the source, in its order"
    ]
