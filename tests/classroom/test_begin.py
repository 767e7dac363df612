import logging
import os

import pytest
from nbclient import NotebookClient
from nbconvert.exporters import HTMLExporter, NotebookExporter
from nbconvert.preprocessors import ClearMetadataPreprocessor, ExecutePreprocessor, Preprocessor
from nbgrader.converters import Autograde, GenerateFeedback
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute, LimitOutput, SaveAutoGrades

from classroom import begin
from classroom.begin import AUTOGRADE, INSTEAD, SANITIZE, Refused, settled, settled_exporter
from classroom.feedback import FeedbackExporter
from classroom.grading.execute import SandboxedExecute
from classroom.grading.sanitise import DropMadeUpNotes, HarmlessOutputs
from classroom.grading.save import SaveAllOrNothing
from classroom.repair.exporter import RepairingExporter

NBGRADERS = Autograde.autograde_preprocessors.default_args[0]


class Mine(Preprocessor):
    pass


class MyExecute(Execute):
    pass


@pytest.fixture
def began(course):
    """`began(assignment)`: the converter of a command, where nothing has run yet."""

    def began(assignment="small", command=Autograde, **traits):
        directory = course.directory
        directory.assignment_id = assignment
        converter = command(coursedir=directory, config=course.config)
        for name, value in traits.items():
            setattr(converter, name, value)
        converter.init_notebooks()
        return converter

    return began


def test_every_pass_of_nbgraders_is_one_of_ours():
    for passes, ours in (
        (NBGRADERS, AUTOGRADE),
        (Autograde.sanitize_preprocessors.default_args[0], SANITIZE),
    ):
        assert {INSTEAD.get(kind, kind) for kind in passes} <= set(ours)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (NBGRADERS, AUTOGRADE),
        (AUTOGRADE, AUTOGRADE),
        (["nbgrader.preprocessors.Execute", *NBGRADERS[1:]], AUTOGRADE),
        ([*NBGRADERS, Mine], [*AUTOGRADE, Mine]),
        ([Mine, *NBGRADERS], [Mine, *AUTOGRADE]),
        ([Execute, Mine, *NBGRADERS[1:]], [*AUTOGRADE[:2], Mine, *AUTOGRADE[2:]]),
        ([*AUTOGRADE, *AUTOGRADE], AUTOGRADE),
        ([SaveAutoGrades, Execute], [k for k in AUTOGRADE if k not in begin.OPTIONAL]),
        ([LimitOutput], [k for k in AUTOGRADE if k not in begin.OPTIONAL - {LimitOutput}]),
    ],
)
def test_ours_stand_in_place_of_nbgraders_and_others_are_kept(chosen, expected):
    assert settled(chosen, AUTOGRADE) == expected


@pytest.mark.parametrize("kind", [MyExecute, ExecutePreprocessor, "nbclient.NotebookClient"])
def test_what_runs_notebooks_outside_the_sandbox_is_refused(kind):
    with pytest.raises(Refused, match="outside every sandbox"):
        settled([*NBGRADERS, kind], AUTOGRADE)
    assert issubclass(ExecutePreprocessor, NotebookClient)


def test_an_unknown_pass_is_refused():
    with pytest.raises(Refused, match=r"no\.such\.Pass cannot be imported"):
        settled(["no.such.Pass"], AUTOGRADE)


@pytest.mark.parametrize(
    ("command", "nbgraders", "ours", "another", "lacks"),
    [
        (Autograde, NotebookExporter, RepairingExporter, HTMLExporter, "neither repairs"),
        (GenerateFeedback, HTMLExporter, FeedbackExporter, NotebookExporter, "neither cleans"),
    ],
)
def test_exporters(command, nbgraders, ours, another, lacks):
    mine = type("Mine", (ours,), {})
    assert settled_exporter(nbgraders, command) is ours
    assert settled_exporter(mine, command) is mine
    with pytest.raises(Refused, match=f"{command.__name__}.exporter_class is .*, which {lacks}"):
        settled_exporter(another, command)


@pytest.mark.parametrize(
    ("setting", "value", "says"),
    [
        ("exporter_class", NotebookExporter, "neither cleans"),
        ("preprocessors", [ExecutePreprocessor], "outside every sandbox"),
        ("preprocessors", ["no.such.Pass"], "cannot be imported"),
    ],
)
def test_feedback_that_would_run_or_show_anything_is_refused(course, began, setting, value, says):
    course.config.GenerateFeedback[setting] = value
    with pytest.raises(NbGraderException, match=says):
        began(command=GenerateFeedback)


WAYS = {
    "by class": lambda c: setattr(c.Autograde, "autograde_preprocessors", [*NBGRADERS, Mine]),
    "by name": lambda c: setattr(
        c.Autograde, "autograde_preprocessors",
        [f"{kind.__module__}.{kind.__name__}" for kind in (*NBGRADERS, Mine)],
    ),
    "append": lambda c: c.Autograde.autograde_preprocessors.append(Mine),
    "extend": lambda c: c.Autograde.autograde_preprocessors.extend([Mine]),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_own_settings_below_configure(course, began, way):
    course.hand_in("ada")
    course.config.Autograde.exporter_class = NotebookExporter
    way(course.config)
    converter = began()
    assert [kind.__name__ for kind in converter.autograde_preprocessors] == [
        kind.__name__ for kind in (*AUTOGRADE, Mine)
    ]
    assert converter.sanitize_preprocessors == SANITIZE
    assert converter.exporter_class is RepairingExporter


def test_a_pass_inserted_before_all(course, began):
    course.hand_in("ada")
    course.config.Autograde.autograde_preprocessors.insert(0, Mine)
    assert began().autograde_preprocessors == [Mine, *AUTOGRADE]


@pytest.mark.parametrize("kind", [SandboxedExecute, HarmlessOutputs, SaveAllOrNothing])
def test_a_pass_that_is_turned_off_is_refused(course, began, kind):
    course.hand_in("ada")
    course.config[kind.__name__].enabled = False
    with pytest.raises(NbGraderException, match=f"{kind.__name__} is turned off"):
        began()


def test_no_execute_is_refused_and_said(course, began, caplog):
    course.hand_in("ada")
    course.config.Execute.enabled = False
    with pytest.raises(NbGraderException, match="--no-execute"), caplog.at_level("ERROR"):
        began()
    assert "--no-execute" in caplog.text


def test_other_assignments_are_left_alone(course, began):
    course.hand_in("ada", assignment="other")
    converter = began("other", autograde_preprocessors=[Execute, Mine])
    assert converter.autograde_preprocessors == [Execute, Mine]
    assert converter.sanitize_preprocessors[0] is DropMadeUpNotes
    assert ClearMetadataPreprocessor not in converter.sanitize_preprocessors


def test_a_pattern_of_assignments_is_settled_too(course, began):
    paths = [course.hand_in("ada"), course.hand_in("ada", assignment="other")]
    converter = began("*")
    assert converter.autograde_preprocessors == AUTOGRADE
    assert converter.assignments == {str(path.parent): [str(path)] for path in reversed(paths)}


@pytest.mark.parametrize("name", ["CS [2026]", "100%20x", "q?x", "{brace}", "a*b"])
def test_a_course_in_a_folder_that_nbgrader_cannot_work_in(course, name):
    root = course.root / name
    root.mkdir()
    os.rename(course.root / "source", root / "source")
    directory = CourseDirectory(root=str(root), assignment_id="small")
    with pytest.raises(NbGraderException, match=r"cannot work in a folder with . in its path"):
        Autograde(coursedir=directory, config=course.config).start()
    assert os.listdir(root) == ["source"]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("directory_structure", "{nbgrader_step}/{assignment_id}/{student_id}"),
        ("submitted_directory", "handed(in)"),
    ],
)
def test_another_layout(course, began, setting, value):
    course.hand_in("ada")
    course.config.CourseDirectory[setting] = value
    with pytest.raises(NbGraderException, match=f"CourseDirectory.{setting} is"):
        began()


def test_whoever_nbgrader_would_pass_over_is_listed_or_named(course, began, caplog):
    deep = course.hand_in("deep")
    (deep.parent / "mha").mkdir()
    deep.rename(deep.parent / "mha" / deep.name)
    capital = course.hand_in("capital")
    capital.rename(capital.with_suffix(".IPYNB"))
    for student in ("a\nb", "late [1]", os.fsdecode(b"caf\xe9")):
        course.hand_in(student)
    shallow = course.hand_in("shallow")
    shallow.rename(shallow.parents[1] / shallow.name)
    shallow.parent.rmdir()
    with caplog.at_level(logging.ERROR, "traitlets"):
        converter = began()
    assert {path.split("/")[-2] for path in converter.assignments} == {"capital", "deep"}
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 4
    assert sum("rename it" in text for text in told) == 3
    assert sum("wrong folder" in text for text in told) == 1


def test_a_timestamp_is_read_from_a_file_alone(course, began):
    path = course.hand_in("ada")
    os.mkfifo(path.parent / "timestamp.txt")
    assert began().coursedir.get_existing_timestamp(str(path.parent)) is None
