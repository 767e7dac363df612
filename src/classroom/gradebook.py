"""A gradebook that does not exist yet."""

from alembic.script import ScriptDirectory
from nbgrader.api import Base
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import create_engine, inspect, text

TABLE = "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"


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
