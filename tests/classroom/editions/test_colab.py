import json

import pytest
from nbclient import NotebookClient
from nbformat import validate
from nbformat.v4 import new_code_cell

from attention_lab.edition import fingerprint_of
from classroom.editions.badge import link
from classroom.editions.colab import make_colab
from classroom.editions.lesson import LessonError
from classroom.editions.lint import lint_edition
from classroom.editions.notebook import from_json, new_notebook, to_json
from classroom.editions.package import package_files
from classroom.editions.release import make_release
from classroom.editions.source import make_source


@pytest.fixture
def make(lesson, package):
    source = make_source(lesson)
    release = from_json(make_release(to_json(source), assignment="ps1", name="tiny"))

    def make(package=package, github=""):
        return make_colab(source, release, package=package, name="tiny", github=github)

    return make


@pytest.fixture
def cells(make):
    return {cell.id: cell for cell in make().cells}


@pytest.fixture
def solutions(cells):
    """The file of solutions that the edition writes."""
    return cells["set-up-files-2"].source.partition("═══ solutions.json\n")[2].encode() + b"\n"


def set_up(notebook):
    """The code cells of the set-up section."""
    ids = [cell.id for cell in notebook.cells]
    return notebook.cells[ids.index("set-up-begin") : ids.index("set-up-end") + 1]


def run(cells, folder):
    """Run the code of the cells in ``folder``; returns what each printed."""
    notebook = new_notebook(new_code_cell(cell.source) for cell in cells)
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=300, iopub_timeout=60, resources=resources).execute()
    return ["".join(output.text for output in cell.outputs) for cell in notebook.cells]


def test_is_a_valid_notebook_without_findings(make):
    validate(make())
    assert list(lint_edition(make())) == []


def test_the_set_up_is_one_section_above_the_lessons_imports(make):
    ids = [cell.id for cell in make().cells]
    at = ids.index("set-up")
    assert ids[at:][:4] == ["set-up", "set-up-begin", "set-up-files-2", "set-up-end"]
    assert ids.index("title") < at < ids.index("setup")
    titles = [cell.source for cell in set_up(make())]
    assert all("#@title" in source for source in titles)


def test_it_has_five_cells_at_most(make, package):
    parts = {"check/a.py": b"1\n", "observation/a.py": b"1\n", "heatmap/a.js": b"1\n"}
    code = set_up(make(package={**package, **parts}))
    assert len(code) == 5
    checks, pictures, rest = (cell.source for cell in code[1:-1])
    assert [line for line in checks.splitlines() if line.startswith("═══")] == [
        "═══ check/a.py",
        "═══ observation/a.py",
    ]
    assert "═══ heatmap/a.js" in pictures
    assert "═══ edition.py" in rest


def test_the_set_up_is_folded_in_colab_and_in_jupyter(make):
    notebook = make()
    code = set_up(notebook)
    heading = next(cell for cell in notebook.cells if cell.id == "set-up")
    assert notebook.metadata.colab.collapsed_sections == [heading.metadata.id]
    assert heading.metadata["jp-MarkdownHeadingCollapsed"] is True
    assert {cell.metadata.cellView for cell in code} == {"form"}
    assert {cell.metadata.jupyter.source_hidden for cell in code} == {True}


def test_the_fold_ends_where_the_lesson_begins(cells):
    """The next heading is of the same level, or there is none above the imports."""
    assert cells["set-up"].source.startswith("## ")


def test_a_stub_stands_where_the_solution_was(cells):
    assert cells["double"].source.endswith("    # YOUR CODE HERE\n    raise NotWrittenYet")


def test_all_tests_are_there_and_no_marker(cells):
    assert cells["test_double_value"].source.startswith(
        "assert double(2) == 4\nassert double(-3) == -6\n"
    )


def test_the_solution_follows_the_exercise_folded(make, cells):
    ids = [cell.id for cell in make().cells]
    assert ids[ids.index("double") :] == [
        "double",
        "look-at-double",
        "test_double_value",
        "solution-double",
        "halve-exercise",
        "halve",
        "test_halve",
        "solution-halve",
        "third",
        "check-third",
        "solution-third",
        "look-at-third",
    ]
    solution = cells["solution-double"].source
    assert solution.startswith("<details>\n<summary>A solution of <code>double</code></summary>")
    assert "<details>\n<summary>Show me anyway</summary>\n\n```python\ndef double(" in solution
    assert solution.endswith("    return 2 * number\n```\n\n</details></details>")


def test_the_last_check_of_an_exercise_ends_with_its_solution(cells):
    shown = {cell_id: "progress.solution" in cell.source for cell_id, cell in cells.items()}
    assert [cell_id for cell_id, shows in shown.items() if shows] == [
        "test_double_value",
        "test_halve",
        "check-third",
    ]
    assert cells["check-third"].source.splitlines()[-1].startswith('progress.solution("third")')
    assert "import progress" in cells["setup"].source


def test_the_file_of_solutions_has_them_all(cells, solutions):
    texts = json.loads(solutions)
    assert [*texts] == ["double", "halve", "third"]
    assert texts["halve"] == "halve = (0.5).__mul__"


def test_the_solution_lies_behind_the_last_hint(cells):
    hints = cells["halve-exercise"].source
    assert hints.count("<details>") == hints.count("</details>") == 4
    assert hints.index("Hint 3") < hints.index("<details><summary>The solution</summary>")
    assert "```python\nhalve = (0.5).__mul__\n```" in hints
    assert "<details>" not in cells["double-exercise"].source


def test_no_cell_has_nbgraders_metadata(cells):
    assert all("nbgrader" not in cell.metadata for cell in cells.values())
    assert cells["setup"].metadata == {"id": "setup", "tags": ["setup"]}


def test_the_lessons_imports_expect_the_package_of_this_notebook(make, cells, package, solutions):
    fingerprint = fingerprint_of({**package, "solutions.json": solutions})
    expected = f'edition.expect("{fingerprint}")'
    assert expected in cells["setup"].source
    assert expected in cells["set-up-end"].source
    changed = make(package={**package, "new.py": b"1\n"})
    assert expected not in "".join(cell.source for cell in changed.cells)


def test_without_a_place_on_github_there_is_no_link(cells):
    assert "File → Upload" in cells["set-up"].source
    assert "](" not in cells["set-up"].source


def test_the_badge_links_to_the_notebook(make):
    (opening,) = (c.source for c in make(github="someone/course/v1").cells if c.id == "set-up")
    assert link("tiny", "someone/course/v1") in opening
    assert "File → Upload" not in opening


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"x", b"x\n\n", b"x\r\ny\n", b"\xff\n", "═══ x\n".encode()]
)
def test_a_file_that_a_cell_cannot_write_is_refused(make, content):
    with pytest.raises(LessonError, match=r"attention_lab/odd\.py: a cell can only write"):
        make(package={"odd.py": content})


def test_writes_the_package_and_the_solutions_byte_for_byte(make, package, solutions, tmp_path):
    outputs = run(set_up(make()), tmp_path)
    assert package_files(tmp_path / "attention_lab") == {**package, "solutions.json": solutions}
    assert outputs[-1].startswith("attention_lab is ready.")


def test_a_second_run_leaves_nothing_of_the_first(make, package, tmp_path):
    def show():
        return new_code_cell("from attention_lab import look\nprint(look.version)")

    old = {**package, "look/__init__.py": b"version = 1\n", "old.py": b"# old\n"}
    new = {**package, "look/__init__.py": b"version = 2\n"}
    outputs = run(
        [*set_up(make(package=old)), show(), *set_up(make(package=new)), show()], tmp_path
    )
    assert [text for text in outputs if text in ("1\n", "2\n")] == ["1\n", "2\n"]
    assert package_files(tmp_path / "attention_lab").keys() == {*new, "solutions.json"}
