import pytest
from nbgrader.api import MissingEntry
from sqlalchemy import event

from classroom.points import Names, Score, by_step, read_scores, step_of

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")
SHAPE, VALUE = "test_double_shape", "test_double_value"


@pytest.mark.parametrize(
    ("grade_id", "step"),
    [
        ("test_split_heads_value", "split_heads"),
        ("test_MultiHeadAttention_shape", "MultiHeadAttention"),
        ("part/test_split_heads_value", "part/split_heads"),
        ("essay", "essay"),
        ("part/essay", "part/essay"),
        ("test_speed", "test_speed"),
    ],
)
def test_a_graded_cell_belongs_to_a_step(grade_id, step):
    assert step_of(grade_id) == step


@pytest.mark.usefixtures("two_parts")
def test_notebooks_that_share_names_are_told_apart(book):
    book.add_student("ada")
    submission = book.add_submission("small", "ada")
    for notebook in submission.notebooks:
        for grade in notebook.grades:
            grade.auto_score, grade.needs_manual_grade = grade.max_score, False
            if notebook.name == "more" and grade.name == VALUE:
                grade.auto_score = None
    book.db.commit()
    scores = read_scores(book, "small")
    assert scores.maximum == {
        f"more/{SHAPE}": 1, f"more/{VALUE}": 4, f"small/{SHAPE}": 1, f"small/{VALUE}": 2
    }  # fmt: skip
    ada = scores.by_student["ada"]
    assert ada.missing == [f"more/{VALUE}"]
    assert ada.so_far == 4
    assert by_step(ada.points) == {"more/double": None, "small/double": 3}


def test_only_steps_that_several_notebooks_have_are_called_by_their_notebook():
    name = Names.of([("a", SHAPE), ("a", "essay"), ("b", VALUE), ("b", "task")])
    cells = [("a", SHAPE), ("a", "essay"), ("b", VALUE), ("b", "double")]
    assert [name(*cell) for cell in cells] == [f"a/{SHAPE}", "essay", f"b/{VALUE}", "b/double"]


def test_points_and_what_can_be_had(book, grade):
    grade("ada", 1, 2)
    grade("bob", 0, 0.5)
    scores = read_scores(book, "small")
    assert scores.maximum == {SHAPE: 1, VALUE: 2}
    assert scores.full == 3
    assert scores.by_student == {
        "ada": Score({SHAPE: 1, VALUE: 2}), "bob": Score({SHAPE: 0, VALUE: 0.5})
    }  # fmt: skip
    assert (scores.total("ada"), scores.total("bob"), scores.total("cyd")) == (3, 0.5, None)


def test_nothing_is_no_zero(book, grade):
    grade("ada", 1, None)
    [ada] = read_scores(book, "small").by_student.values()
    assert ada == Score({SHAPE: 1, VALUE: None}, 0, (VALUE,))
    assert ada.missing == [VALUE]
    assert ada.total is None


def test_points_given_by_hand_go_before(book, grade):
    notebook = grade("ada", 1, None)
    cell = next(cell for cell in notebook.grades if cell.name == VALUE)
    cell.manual_score, cell.extra_credit, cell.needs_manual_grade = 1, 0.5, False
    book.db.commit()
    assert read_scores(book, "small").total("ada") == 2.5


def test_penalty_is_taken_off_and_never_more_than_there_is(book, grade):
    grade("ada", 1, 2, penalty=0.5)
    grade("bob", 1, 0, penalty=5)
    scores = read_scores(book, "small")
    assert (scores.total("ada"), scores.total("bob")) == (2.5, 0)


def test_unknown_assignment(book):
    with pytest.raises(MissingEntry):
        read_scores(book, "large")


def test_number_of_queries_does_not_grow_with_the_class(book, grade):
    def queries():
        book.db.expire_all()
        asked = []
        count = lambda *_: asked.append(1)  # noqa: E731 (removed by identity)
        event.listen(book.engine, "before_cursor_execute", count)
        read_scores(book, "small")
        event.remove(book.engine, "before_cursor_execute", count)
        return len(asked)

    grade("ada", 1, 2)
    few = queries()
    for number in range(10):
        grade(f"student-{number}", 1, 2)
    assert queries() == few
