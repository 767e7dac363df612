from dataclasses import replace

import pytest
from nbgrader.api import Gradebook
from wcwidth import wcswidth

from classroom.register import register
from classroom.report import ClassReport, Row, read_class, render

MAXIMUM = {
    "project": 2.0,
    "split_heads": 3.0,
    "attention_scores": 3.0,
    "causal_mask": 3.0,
    "masked_softmax": 3.0,
    "attend": 2.0,
    "merge_heads": 3.0,
    "MultiHeadAttention": 5.0,
}
TRANSFER = {"fault": 1.0, "MendedAttention": 1.0}


def row(student, notes=(), **points):
    points = {**MAXIMUM, **points}
    return Row(student, points, sum(value or 0.0 for value in points.values()), notes)


def table(*rows, ungraded=()):
    return render(ClassReport("mha", MAXIMUM, rows, dict(ungraded)))


def test_the_table_is_read_at_a_glance():
    assert table(row("ada"), row("bob", split_heads=1.0, attend=0.5)) == (
        "                                                                     Multi\n"
        "               split  attention  causal   masked          merge       Head\n"
        "      project  heads     scores    mask  softmax  attend  heads  Attention  total\n"
        "of          2      3          3       3        3       2      3          5     24\n"
        "────  ───────  ─────  ─────────  ──────  ───────  ──────  ─────  ─────────  ─────\n"
        "ada         2      3          3       3        3       2      3          5     24\n"
        "bob         2      1          3       3        3     0.5      3          5   20.5\n"
        "mean      2.0    2.0        3.0     3.0      3.0     1.2    3.0        5.0   22.2"
    )


@pytest.mark.parametrize(
    "name", ["王小明", "김철수", "محمد", "e\N{COMBINING ACUTE ACCENT}lise", "x" * 40, "王" * 40]
)
def test_names_of_any_script_are_aligned_and_fit_a_hundred_columns(name):
    maximum = MAXIMUM | TRANSFER
    rows = [row("ada", **TRANSFER), row(name, **TRANSFER)]
    lines = render(ClassReport("mha", maximum, rows, {})).splitlines()
    widths = {wcswidth(line) for line in lines[4:]}
    assert len(widths) == 1
    assert widths.pop() <= 100


def test_names_are_shown_where_they_are_known():
    named = replace(row("s123", ["look here"]), name="Lovelace, Ada")
    twins = [replace(row(student), name="Doe, Jo") for student in ("s1", "s2")]
    text = table(named, *twins, row("bob"))
    first = [line.split("  ")[0] for line in text.splitlines()]
    assert first[5:9] == ["Lovelace, Ada", "s1 (Doe, Jo)", "s2 (Doe, Jo)", "bob"]
    assert "Needs a human\n  s123 (Lovelace, Ada): look here" in text


def test_points_that_are_missing_are_no_zero():
    note = "test_attend_value: no points yet"
    report = ClassReport("mha", MAXIMUM, [row("ada", [note], attend=None)], {})
    line = next(line for line in render(report).splitlines() if line.startswith("ada"))
    assert line.split() == ["ada", "2", "3", "3", "3", "3", "?", "3", "5", "!22"]
    assert not report.complete


def test_what_needs_a_human_and_what_has_no_grade_is_listed():
    text = table(row("ada", ["look here"]), ungraded={"bob": "an empty folder"})
    assert "Needs a human\n  ada: look here" in text
    assert "No grade\n  bob: an empty folder" in text


def test_a_class_without_grades_has_a_table_too():
    assert "No grade\n  bob: an empty folder" in table(ungraded={"bob": "an empty folder"})


def test_names_cannot_steer_the_terminal():
    text = table(row("ada\x1b[2J"), ungraded={"bob\x07\n": "gone\x1b[31m"})
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "bob\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}: gone" in text


def test_a_class_is_complete_when_everything_has_points():
    assert ClassReport("mha", MAXIMUM, [row("ada", ["look"], attend=0.0)], {}).complete
    assert not ClassReport("mha", MAXIMUM, [row("ada")], {"bob": "an empty folder"}).complete


@pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")
class TestReadClass:
    @pytest.fixture
    def book(self, course):
        register(course.directory, "small", course.config)
        with Gradebook(course.directory.db_url) as book:
            book.add_student("ada")
            book.add_submission("small", "ada")
            yield book

    def grade(self, book, **points):
        [notebook] = book.find_submission("small", "ada").notebooks
        for grade in notebook.grades:
            grade.auto_score = points.get(grade.name.removeprefix("test_double_"))
            grade.needs_manual_grade = grade.auto_score is None
        book.db.commit()

    def read(self, book, **flags):
        cells = [("small", "test_double_shape"), ("small", "test_double_value")]
        ungraded = {"bob": "an empty folder"}
        return read_class(book, "small", cells, ["ada", "bob"], ungraded, flags)

    def test_points_are_added_up_by_step(self, book):
        self.grade(book, shape=1, value=0.5)
        assert self.read(book) == ClassReport(
            "small", {"double": 3}, [Row("ada", {"double": 1.5}, 1.5)], {"bob": "an empty folder"}
        )

    def test_a_cell_without_points_leaves_its_step_open(self, book):
        self.grade(book, shape=1)
        [ada] = self.read(book).rows
        assert ada.points == {"double": None}
        assert ada.total == 1
        assert ada.notes == (
            "test_double_value: no points yet, the cell is missing or is graded by hand",
        )

    def test_a_grade_given_by_hand_is_looked_at_again(self, book):
        self.grade(book, shape=1, value=0)
        [notebook] = book.find_submission("small", "ada").notebooks
        grade = next(g for g in notebook.grades if g.name == "test_double_value")
        grade.manual_score, grade.needs_manual_grade = 2, True
        book.db.commit()
        [ada] = self.read(book).rows
        assert ada.points == {"double": 3}
        assert "graded by hand before" in ada.notes[0]

    def test_points_for_being_late_are_taken_off_and_said(self, book):
        self.grade(book, shape=1, value=2)
        [notebook] = book.find_submission("small", "ada").notebooks
        notebook.late_submission_penalty = 0.5
        book.db.commit()
        [ada] = self.read(book).rows
        assert ada.total == 2.5
        assert ada.notes == ("handed in late: 0.5 points taken off",)

    def test_a_flag_is_a_note(self, book):
        self.grade(book, shape=1, value=2)
        [ada] = self.read(book, ada=["double: stood in two cells"]).rows
        assert ada.notes == ("double: stood in two cells",)
