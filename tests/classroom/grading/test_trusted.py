import os

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from classroom.grading import trusted
from classroom.grading.job import Cell, File
from classroom.grading.trusted import Course, Untrusted, files_beside, make_job

COURSE = Course({"test_a": "check(a)"}, ("import a",), ("look(a)", "a = 1"), ("look(a)",))


def cell(source, **nbgrader):
    return new_code_cell(source, metadata={"nbgrader": nbgrader} if nbgrader else {})


def job(*cells):
    return make_job(new_notebook(cells=list(cells)), COURSE, (), many=False)


def test_what_is_done_once_for_all_comes_along_for_a_class_only():
    alone, of_many = (make_job(new_notebook(), COURSE, (), many=many) for many in (False, True))
    assert (alone.released, alone.solved) == ((), ())
    assert (of_many.released, of_many.solved) == (COURSE.released, COURSE.solved)


def test_graded_cells_run_the_courses_text_whatever_the_notebook_says():
    made = job(cell("pass", grade=True, solution=False, grade_id="test_a"))
    assert made.cells == (Cell(0, "check(a)", True),)


def test_unknown_graded_cell_is_refused():
    with pytest.raises(Untrusted, match="test_b"):
        job(cell("steal()", grade=True, solution=False, grade_id="test_b"))


def test_cell_tagged_as_set_up_by_a_student_is_not_trusted():
    evil = new_code_cell("steal()", metadata={"tags": ["setup"]})
    made = job(evil)
    assert made.setup == ("import a",)
    assert made.cells == (Cell(0, "steal()", False),)


def test_answers_for_a_human_to_mark_run_inside():
    made = job(cell("x = 1", grade=True, solution=True, grade_id="essay"))
    assert made.cells == (Cell(0, "x = 1", False),)


def test_empty_cells_and_prose_are_left_out():
    made = job(new_markdown_cell("text"), new_code_cell("  \n"), new_code_cell("x"))
    assert made.cells == (Cell(2, "x", False),)


def test_course_is_read_from_gradebook_and_source(course, monkeypatch):
    from classroom.register import register

    path = course.source()
    nb = nbformat.read(path, as_version=4)
    nb.cells[0].metadata.tags = ["setup"]
    nbformat.write(nb, path)
    register(course.directory, "small", course.config)
    read = trusted.read_course(course.directory, "small", "small")
    assert read.setup == (nb.cells[0].source,)
    assert read.graded["test_double_value"] == "assert double(3) == 6"
    assert read.solved == (nb.cells[0].source, nb.cells[1].source)
    assert read.released == read.setup


def test_files_beside_a_notebook(tmp_path):
    submitted, source = tmp_path / "submitted", tmp_path / "source"
    for folder, name, text in [
        (submitted, "data/a.txt", "theirs"),
        (submitted, "shared.txt", "theirs"),
        (submitted, "nb.ipynb", "{}"),
        (submitted, "attention_lab/check.py", "theirs"),
        (source, "shared.txt", "ours"),
    ]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (submitted / "link").symlink_to("/etc/hostname")
    os.mkfifo(submitted / "pipe")
    assert files_beside(submitted, source, []) == (
        File("shared.txt", b"ours"),
        File("data/a.txt", b"theirs"),
    )
    assert files_beside(submitted, source, ["data"], ["shared.txt"]) == (
        File("shared.txt", b"theirs"),
    )


def test_files_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(trusted, "MAX_BYTES", 10)
    monkeypatch.setattr(trusted, "MAX_FILES", 3)
    submitted, source = tmp_path / "submitted", tmp_path / "source"
    for folder, names in ((submitted, "abcd"), (source, "z")):
        folder.mkdir()
        for name in names:
            (folder / name).write_text("1234")
    assert [file.name for file in files_beside(submitted, source, [])] == ["z", "a"]
