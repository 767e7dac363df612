"""What is done to a course's other assignments: what nbgrader does by itself.

Exporters of ours leave them to the exporter that `as_nbgrader_does` makes. A pass of ours that
stands in for one of nbgrader's is that one there; what is only for ours is left out; passes that
the course has added itself stay.
"""

from collections.abc import Iterable

from nbconvert.exporters import Exporter
from nbgrader.preprocessors import NbGraderPreprocessor

from classroom.preprocessors import CoursePreprocessor


def as_nbgrader_does(ours: Exporter, passes: Iterable) -> Exporter:
    """The exporter that one of ours stands in for, with nbgrader's own of these passes."""
    theirs = _stands_for(type(ours))(parent=ours.parent, config=ours.parent.config)
    for kind in passes:
        if not (isinstance(kind, type) and issubclass(kind, CoursePreprocessor)):
            theirs.register_preprocessor(_stands_for(kind))
    return theirs


def _stands_for(kind):
    if not isinstance(kind, type):  # nbgrader takes names and objects, too
        return kind
    own = next(base for base in kind.__mro__ if not base.__module__.startswith("classroom."))
    return kind if own is NbGraderPreprocessor else own
