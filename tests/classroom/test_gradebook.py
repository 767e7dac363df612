import threading
from contextlib import closing

import nbgrader.api
import pytest
import sqlalchemy

from classroom import gradebook


@pytest.fixture
def db_url(tmp_path):
    return f"sqlite:///{tmp_path / 'gradebook.db'}"


def tables(db_url):
    """The definition of every table, and the version that is noted."""
    engine = sqlalchemy.create_engine(db_url)
    try:
        with closing(engine.connect()) as connection:
            rows = connection.execute(sqlalchemy.text("SELECT name, sql FROM sqlite_master"))
            defined = {name: (sql or "").rstrip(";") for name, sql in rows}
            version = connection.execute(sqlalchemy.text("SELECT * FROM alembic_version"))
            return defined, version.fetchall()
    finally:
        engine.dispose()


def test_gradebook_is_the_one_that_nbgrader_makes(course, db_url, tmp_path):
    gradebook.create(db_url)  # `course` has put alembic on PATH, which nbgrader runs
    other = f"sqlite:///{tmp_path / 'other.db'}"
    nbgrader.api.Gradebook(other).close()
    made, version = tables(db_url)
    indexes = {name for name in made if name.endswith("_notebook_id")}
    assert indexes == {"grade_notebook_id", "comment_notebook_id"}
    assert ({name: made[name] for name in made.keys() - indexes}, version) == tables(other)


def test_gradebook_that_nbgrader_made_gets_the_indexes_too(course, db_url):
    nbgrader.api.Gradebook(db_url).close()
    assert "grade_notebook_id" not in tables(db_url)[0]
    gradebook.create(db_url)
    assert "grade_notebook_id" in tables(db_url)[0]


def test_gradebook_that_exists_is_left_alone(db_url):
    gradebook.create(db_url)
    with nbgrader.api.Gradebook(db_url) as book:
        book.add_student("ada")
    gradebook.create(db_url)
    with nbgrader.api.Gradebook(db_url) as book:
        assert [student.id for student in book.students] == ["ada"]


def test_alembic_is_not_run(db_url, monkeypatch):
    monkeypatch.setattr(nbgrader.api, "get_alembic_version", lambda: pytest.fail("alembic was run"))
    gradebook.create(db_url)
    nbgrader.api.Gradebook(db_url).close()


def test_in_postgresql_one_grader_waits_for_the_other(new_database):
    db_url, order = new_database(), []

    def come_second():
        with gradebook.held(db_url):
            order.append("second")

    other = threading.Thread(target=come_second)
    with gradebook.held(db_url):
        other.start()
        other.join(timeout=0.5)
        order.append("first")
    other.join()
    assert order == ["first", "second"]


def test_a_file_cannot_be_held(db_url):
    with gradebook.held(db_url), gradebook.held(db_url):
        gradebook.create(db_url)


def test_postgresql_takes_assignments_of_a_course_without_a_name(new_database):
    db_url = new_database()
    gradebook.create(db_url)
    with nbgrader.api.Gradebook(db_url, "") as book:
        with pytest.raises(nbgrader.api.InvalidEntry):
            book.add_assignment("small")
        gradebook.enter_course(book, "")
        book.add_assignment("small")


def test_what_is_wrong_is_said_with_what_to_do():
    locked = sqlalchemy.exc.OperationalError("SELECT 1", {}, Exception("database is locked"))
    said = gradebook.in_words(locked)
    assert said.startswith("The gradebook cannot be read or written: database is locked\n")
    assert "close what else has it open" in said
    assert "SELECT" not in said
    assert "Could not locate column" in gradebook.in_words(
        sqlalchemy.exc.NoSuchColumnError("Could not locate column\nin a row")
    )


@pytest.fixture
def shared(own_engines):
    """Engines are shared until the test is over."""
    gradebook.share_engines()


@pytest.mark.usefixtures("shared")
def test_gradebooks_of_one_database_share_an_engine(db_url, tmp_path):
    gradebook.create(db_url)
    gradebook.create(other := f"sqlite:///{tmp_path / 'other.db'}")
    with (
        nbgrader.api.Gradebook(db_url) as one,
        nbgrader.api.Gradebook(db_url) as same,
        nbgrader.api.Gradebook(other) as another,
    ):
        assert one.engine is same.engine
        assert one.engine is not another.engine


@pytest.mark.usefixtures("shared")
def test_connections_are_kept_while_a_submission_is_graded(db_url):
    def kept():
        with nbgrader.api.Gradebook(db_url) as book:
            assert book.students == []
        return book.engine.pool.checkedin()

    gradebook.create(db_url)
    assert kept() == 0
    gradebook.keep_connections()
    assert kept() == kept() == 1
    gradebook.close_connections()
    assert kept() == 0


@pytest.mark.usefixtures("shared")
def test_nothing_is_kept_of_a_gradebook_that_is_replaced_after_a_submission(db_url, tmp_path):
    gradebook.keep_connections()
    for _ in range(2):
        gradebook.create(db_url)
        with nbgrader.api.Gradebook(db_url) as book:
            assert book.students == []
            book.add_student("ada")
        gradebook.close_connections()
        (tmp_path / "gradebook.db").unlink()


@pytest.mark.usefixtures("shared")
def test_a_table_that_is_missing_is_made(db_url):
    gradebook.create(db_url)
    engine = sqlalchemy.create_engine(db_url)
    nbgrader.api.Comment.__table__.drop(engine)
    engine.dispose()
    with nbgrader.api.Gradebook(db_url) as book:
        assert book.db.query(nbgrader.api.Comment).all() == []
