import pytest
from nbgrader.api import Gradebook

from classroom.class_report.__main__ import main
from classroom.register import register

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")


@pytest.fixture
def graded(course):
    register(course.directory, "small", course.config)
    with Gradebook(course.directory.db_url) as book:
        book.add_student("ada")
        book.add_submission("small", "ada")
    course.hand_in("ada")
    (course.root / "autograded" / "ada" / "small").mkdir(parents=True)
    return course


def test_page_is_written_where_it_is_said(graded, capsys):
    assert main(["small"]) == 0
    assert capsys.readouterr().out == "1 submissions: class-report-small.html\n"
    page = (graded.root / "class-report-small.html").read_text(encoding="utf-8")
    assert "ada" not in page.partition("</style>")[2]


def test_options(graded, tmp_path, monkeypatch):
    (graded.root / "elsewhere").mkdir()
    monkeypatch.chdir(graded.root / "elsewhere")
    page = tmp_path / "page.html"
    command = ["small", "--names", f"--output={page}", f"--course-dir={graded.root}"]
    assert main(command) == 0
    assert "1 submission: ada" in page.read_text(encoding="utf-8")


def test_nothing_graded_says_what_to_do(course, capsys):
    assert main(["large"]) == 2
    assert "run nbgrader autograde large first" in capsys.readouterr().err
