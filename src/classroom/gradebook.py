"""A gradebook that does not exist yet, and several graders who are about to fill it."""

from collections.abc import Iterator
from contextlib import contextmanager

import nbgrader.api
from nbgrader.api import Base, Course, Gradebook
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import Connection, Engine, MetaData, QueuePool, create_engine, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

TABLE = "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"
# A notebook's grades are asked for all the time; without it, every grade of the class is read.
INDEX = "CREATE INDEX IF NOT EXISTS {0}_notebook_id ON {0} (notebook_id)"
INDEXED = ("grade", "comment")
LOCK = 0x6D6861  # any number, but the same for all graders
ADVICE = """\
The gradebook cannot be read or written: {reason}
  locked           close what else has it open, such as a formgrader or another grading
  disk is full     make room
  no such column   it is an older nbgrader's: keep a copy of it, then run  nbgrader db upgrade
Then run this command again: what has a grade keeps it."""

_engines: dict[str, Engine] = {}
_known_as_complete: set[Engine] = set()


def create(db_url: str) -> None:
    """Make an empty gradebook, unless there is one, with the indexes that a large class needs.

    nbgrader makes one too, but runs `alembic` to learn the version of its own tables, which takes
    many seconds and fails where that program is not on PATH.
    """
    engine = nbgrader.api.create_engine(db_url)
    try:
        with engine.begin() as connection:
            if not inspect(connection).get_table_names():
                _create_tables(connection)
            for table in INDEXED:
                connection.execute(text(INDEX.format(table)))
    finally:
        engine.dispose()


def _create_tables(connection: Connection) -> None:
    from alembic.script import ScriptDirectory  # slow to import, and only a new gradebook needs it

    _create_missing(connection)
    connection.execute(text(TABLE))
    connection.execute(
        text("INSERT INTO alembic_version (version_num) VALUES (:version)"),
        {"version": ScriptDirectory(ALEMBIC_DIR).get_current_head()},
    )


def share_engines() -> None:
    """Have nbgrader's gradebooks of one database share an engine from now on, and ask for its
    tables in one query instead of thirteen.

    nbgrader opens a gradebook for every question, ten for a submission. A new engine compiles each
    query anew.
    """
    nbgrader.api.create_engine = _engine
    Base.metadata.create_all = _complete


def keep_connections() -> None:
    """Let shared engines keep their connections, and what they know of the tables, from one
    gradebook to the next, until `close_connections`: while one submission is graded.
    """
    _Lasting.lasts = True


def close_connections() -> None:
    """Close what `keep_connections` has kept."""
    _Lasting.lasts = False
    _known_as_complete.clear()
    for engine in _engines.values():
        engine.dispose()


class _Lasting(QueuePool):
    """Connections that outlive `Gradebook.close`, which disposes of its engine's."""

    lasts = False

    def dispose(self):
        if not self.lasts:
            super().dispose()

    def recreate(self):
        return self if self.lasts else super().recreate()


def _complete(bind: Engine) -> None:
    if bind not in _known_as_complete:
        _create_missing(bind)
    if _Lasting.lasts:
        _known_as_complete.add(bind)


def _create_missing(bind: Engine | Connection) -> None:
    if not Base.metadata.tables.keys() <= set(inspect(bind).get_table_names()):
        MetaData.create_all(Base.metadata, bind)


def _engine(db_url: str, **_) -> Engine:  # nbgrader's options are SQLAlchemy's defaults
    if db_url not in _engines:
        _engines[db_url] = create_engine(db_url, poolclass=_Lasting)
    return _engines[db_url]


@contextmanager
def held(db_url: str) -> Iterator[None]:
    """Keep a gradebook in PostgreSQL to oneself; another grader who wants the same waits.

    A gradebook in a file has no such lock, and is not for several graders at a time.
    """
    if make_url(db_url).get_backend_name() != "postgresql":
        yield
        return
    engine = create_engine(db_url)
    try:
        with engine.connect() as connection:  # the lock ends with it, however that ends
            connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": LOCK})
            yield
    finally:
        engine.dispose()


def in_words(error: SQLAlchemyError) -> str:
    """What is wrong with a gradebook, and what to do about it."""
    return ADVICE.format(reason=getattr(error, "orig", None) or str(error).splitlines()[0])


def enter_course(gradebook: Gradebook, course_id: str) -> None:
    """Enter the course whose assignments are going to be registered.

    nbgrader enters none without a name, which PostgreSQL refuses then, and its passes enter one of
    their own whenever they find it missing, in which two graders meet.
    """
    for name in (course_id, "default_course"):
        gradebook.db.merge(Course(id=name))
    gradebook.db.commit()
