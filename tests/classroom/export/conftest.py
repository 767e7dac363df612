"""nbgrader's command that exports a gradebook."""

import csv

import pytest
from nbgrader.apps import ExportApp
from said import Said


@pytest.fixture
def roster(course):
    return (course.root / "roster.csv").write_text


@pytest.fixture
def export(course):
    """Runs `nbgrader export`: the rows of the file, and what was said."""

    def export(exporter, *options, file):
        app = ExportApp.instance()
        said = Said()
        try:
            app.initialize([f"--exporter=classroom.export.{exporter}", *options])
            app.log.addHandler(said)
            app.start()
        finally:
            app.log.removeHandler(said)
            ExportApp.clear_instance()
        with (course.root / file).open(newline="", encoding="utf-8-sig") as opened:
            return list(csv.reader(opened)), "\n".join(said.lines)

    return export
