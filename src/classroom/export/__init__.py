"""Grades on their way back: `nbgrader export --exporter=classroom.export.CanvasExporter`.

Files are CSV, quoted as CSV must be. What has no grade is empty and never 0. Which students and
which columns a file has is told by the LMS's own list; see `classroom.roster`.
"""

from classroom.export.canvas import CanvasExporter
from classroom.export.moodle import MoodleExporter
from classroom.export.steps import StepsExporter

__all__ = ["CanvasExporter", "MoodleExporter", "StepsExporter"]
