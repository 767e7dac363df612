"""A plugin of pytest for nbgrader's own tests: what of ours stands in nbgrader's place, and time.

ONLY: the names of the tests to run, a line each; by default all.
CONFIGURED: set where our settings are in force.
"""

import functools
import os

import nbgrader.api
import nbgrader.preprocessors
from nbgrader.apps import NbGrader

# nbgrader starts a program for each new gradebook to learn the same version every time.
nbgrader.api.get_alembic_version = functools.cache(nbgrader.api.get_alembic_version)

if os.environ.get("CONFIGURED"):
    from classroom.grading.once import CheckCellMetadataOnce
    from classroom.stub import WriteStubs

    nbgrader.preprocessors.ClearSolutions = WriteStubs
    nbgrader.preprocessors.CheckCellMetadata = CheckCellMetadataOnce
    load = NbGrader.load_config_file

    def load_and_look(app, **options):
        load(app, **options)
        assert WriteStubs in app.config.GenerateAssignment.preprocessors

    NbGrader.load_config_file = load_and_look


def pytest_collection_modifyitems(config, items):
    if wanted := os.environ.get("ONLY"):
        items[:] = [item for item in items if item.name in wanted.splitlines()]
