"""A gradebook that does not exist yet, and several graders who are about to fill it."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import nbgrader.api
from alembic.script import ScriptDirectory
from nbgrader.api import Base, Course, Gradebook
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import Engine, create_engine, inspect, text

TABLE = "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"
LOCK = 0x6D6861  # any number, but the same for all graders


def create(db_url: str) -> None:
    """Make an empty gradebook, unless there is one.

    nbgrader does so too, but runs `alembic` to learn the version of its own tables, which takes
    many seconds and fails where that program is not on PATH.
    """
    engine = create_engine(db_url)
    try:
        if inspect(engine).get_table_names():
            return
        Base.metadata.create_all(engine)
        with engine.begin() as connection:
            connection.execute(text(TABLE))
            connection.execute(
                text("INSERT INTO alembic_version (version_num) VALUES (:version)"),
                {"version": ScriptDirectory(ALEMBIC_DIR).get_current_head()},
            )
    finally:
        engine.dispose()


def share_engines() -> None:
    """Have nbgrader's gradebooks of one database share an engine from now on.

    nbgrader opens a gradebook for every question, ten for a submission, and a new engine compiles
    each query anew.
    """
    nbgrader.api.create_engine = _engine


@cache
def _engine(db_url: str, **options) -> Engine:
    return create_engine(db_url, **options)


@contextmanager
def held(db_url: str) -> Iterator[None]:
    """Keep a gradebook in PostgreSQL to oneself; another grader who wants the same waits.

    A gradebook in a file has no such lock, and is not for several graders at a time.
    """
    engine = create_engine(db_url)
    try:
        if engine.dialect.name != "postgresql":
            yield
            return
        with engine.connect() as connection:  # the lock ends with it, however that ends
            connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": LOCK})
            yield
    finally:
        engine.dispose()


def enter_course(gradebook: Gradebook, course_id: str) -> None:
    """Enter the course whose assignments are going to be registered.

    nbgrader enters none without a name, which PostgreSQL refuses then, and its passes enter one of
    their own whenever they find it missing, in which two graders meet.
    """
    for name in (course_id, "default_course"):
        gradebook.db.merge(Course(id=name))
    gradebook.db.commit()
