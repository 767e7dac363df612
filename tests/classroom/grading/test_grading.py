"""A class graded through nbgrader's own commands, and what happens when that is cut off."""

import errno
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import nbformat
import psutil
import pytest
from nbconvert.writers import FilesWriter
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde, GenerateFeedback
from nbgrader.converters.base import NbGraderException

from classroom.grading import bubblewrap, grading
from classroom.grading.record import Record

# nbgrader's own queries set these off.
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

WRONG = "def double(x):\n    return x"
SLOW = "import time\ntime.sleep(3)\ndef double(x):\n    return 2 * x"
DRAWN_FROM_7 = "from attention_lab.check import run\nassert run._hidden_seed == 7"
CONFIG = "from classroom import configure\nc = get_config()\nconfigure(c)\nc.Grading.workers = 1\n"
# Whoever starts the tests may have had them ignore Ctrl-C, which a program inherits.
COMMAND = ["env", "--default-signal=INT", sys.executable, "-m", "nbgrader", "autograde", "small"]


@pytest.fixture
def course(course):
    course.config.Grading.workers = 1
    return course


def autograde(course, **options):
    directory = course.directory
    directory.assignment_id = "small"
    directory.student_id = options.pop("student", "*")
    converter = Autograde(coursedir=directory, config=course.config)
    converter.force = options.pop("force", False)
    converter.start()
    return converter


def scores(course):
    """What the gradebook holds: each student's points, or None where a cell has none yet."""
    found = {}
    with Gradebook(course.directory.db_url) as gradebook:
        for submission in gradebook.assignment_submissions("small"):
            points = [g.auto_score for n in submission.notebooks for g in n.grades]
            found[submission.student_id] = None if None in points else sum(points)
    return found


def autograded(course, student):
    path = course.root / "autograded" / student / "small" / "small.ipynb"
    nb = nbformat.read(path, as_version=4)
    nbformat.validate(nb)  # reading only logs what is wrong
    return nb


# --- a run that nobody disturbs ---


def test_a_class_is_graded_and_each_grade_keeps_its_record(course):
    course.config.Grading.seed = 7
    nb = nbformat.read(course.source(), as_version=4)
    nb.cells[3].source += f"\n{DRAWN_FROM_7}"
    nbformat.write(nb, course.source())
    course.hand_in("ada")
    course.hand_in("bob", WRONG)
    course.hand_in("eve", "import gc\ndef double(x):\n    return 2 * x")
    autograde(course)
    assert scores(course) == {"ada": 3, "bob": 1, "eve": 3}
    assert course.seeds == [7]
    flags = {"ada": [], "bob": [], "eve": ["mentions gc"]}
    for student, found in flags.items():
        assert Record.read(autograded(course, student)) == Record(True, "bubblewrap", 7, found)


def test_an_assignment_in_a_format_without_ids_is_graded(course):
    notebook = json.loads(course.source().read_text(encoding="utf-8"))
    notebook["nbformat_minor"] = 2
    notebook["cells"].insert(1, {"cell_type": "markdown", "metadata": {}, "source": "", "id": ""})
    for cell in notebook["cells"]:
        del cell["id"]
    course.source().write_text(json.dumps(notebook), encoding="utf-8")
    for student, answer in (("ada", "def double(x):\n    return x + x"), ("bob", WRONG)):
        notebook["cells"][2]["source"] = answer
        path = course.root / "submitted" / student / "small" / "small.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(notebook), encoding="utf-8")
    autograde(course)
    assert scores(course) == {"ada": 3, "bob": 1}
    assert not any(Record.read(autograded(course, student)).flags for student in ("ada", "bob"))


def test_only_the_student_asked_for_is_graded(course):
    course.hand_in("ada")
    course.hand_in("bob")
    autograde(course, student="bob")
    assert scores(course) == {"bob": 3}


def test_force_grades_again_what_has_not_changed(course):
    course.hand_in("ada")
    autograde(course)
    first = Record.read(autograded(course, "ada"))
    autograde(course)
    assert Record.read(autograded(course, "ada")).seed == first.seed
    autograde(course, force=True)
    assert Record.read(autograded(course, "ada")).seed != first.seed  # new numbers every run


def hand_in_again(course, path):
    nb = nbformat.read(path, as_version=4)
    nb.cells[1].source = WRONG
    nbformat.write(nb, path)


def move_the_due_date(course, path):
    with Gradebook(course.directory.db_url) as gradebook:
        gradebook.update_or_create_assignment("small", duedate="2026-11-30 23:59 UTC")


def hand_in_at_another_time(course, path):
    (path.parent / "timestamp.txt").write_text("2026-11-30 23:00 UTC")


@pytest.mark.parametrize(
    ("change", "points"),
    [(hand_in_again, 1), (move_the_due_date, 3), (hand_in_at_another_time, 3)],
)
def test_what_has_changed_is_graded_again(course, change, points, caplog):
    path = course.hand_in("ada")
    course.hand_in("bob")
    autograde(course)
    feedback = course.root / "feedback" / "ada" / "small" / "small.html"
    feedback.parent.mkdir(parents=True)
    feedback.touch()
    first = Record.read(autograded(course, "ada"))
    change(course, path)
    autograde(course)
    assert scores(course) == {"ada": points, "bob": 3}
    assert Record.read(autograded(course, "ada")).seed != first.seed
    assert not feedback.exists()
    assert "Grading again what has changed" in caplog.text
    assert ("bob" in caplog.text) is (change is move_the_due_date)


def test_a_roster_that_leaves_something_open_stops_before_anything_is_graded(course, caplog):
    (course.root / "roster.csv").write_text("student_id,due small\nada,03.12.2026 10:00\n")
    course.hand_in("ada")
    with pytest.raises(NbGraderException):
        autograde(course)
    assert "row 2, column due small: '03.12.2026 10:00'" in caplog.text
    assert not (course.root / "autograded").exists()


def test_names_and_due_dates_are_the_rosters(course, caplog):
    course.config.LateSubmissionPlugin.penalty_method = "zero"
    (course.root / "roster.csv").write_text(
        "student_id,name,due small\n"
        'ada,"Lovelace, Ada",2026-12-02T10:00Z\nbob,Bob,\ncyd,,2026-11-20T10:00Z\n'
    )
    for student in ("ada", "bob", "cyd"):
        stamp = course.hand_in(student).with_name("timestamp.txt")
        stamp.write_text(
            "2026-12-01 12:00:00+00:00" if student != "cyd" else "2026-11-21 12:00 UTC"
        )
    autograde(course)
    move_the_due_date(course, None)
    autograde(course)

    def lost():
        with Gradebook(course.directory.db_url) as gradebook:
            return {
                student: gradebook.find_submission("small", student).late_submission_penalty
                for student in ("ada", "bob", "cyd")
            }

    assert lost() == {"ada": 0, "bob": 3, "cyd": 3}
    with Gradebook(course.directory.db_url) as gradebook:
        ada = gradebook.find_student("ada")
        assert (ada.first_name, ada.last_name) == ("Ada", "Lovelace")
    (course.root / "roster.csv").write_text("student_id,due small\nbob,2026-12-02T10:00Z\n")
    autograde(course)
    assert lost() == {"ada": 3, "bob": 0, "cyd": 0}
    (course.root / "roster.csv").write_text("student_id,due\nbob,2026-12-02T10:00Z\n")
    with pytest.raises(NbGraderException):
        autograde(course)
    assert "call it due other or due small" in caplog.text


# --- isolation ---


def test_every_minute_it_is_said_whom_all_wait_for(course, monkeypatch, capsys):
    monkeypatch.setattr(grading, "SECONDS_OF_SILENCE", 0.5)
    course.hand_in("ada", "import time\n\n\ndef double(x):\n    time.sleep(1.2)\n    return 2 * x")
    autograde(course)
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("Waiting")]
    assert said[:2] == ["Waiting for ada, for 1 min now", "Waiting for ada, for 2 min now"]


def test_without_a_sandbox_nothing_is_graded(course, monkeypatch, caplog):
    monkeypatch.setattr(bubblewrap.shutil, "which", lambda name: None)
    course.hand_in("ada")
    with pytest.raises(NbGraderException):
        autograde(course)
    assert caplog.text.count("No sandbox on this machine") == 1
    assert not (course.root / "autograded").exists()
    with Gradebook(course.directory.db_url) as gradebook, pytest.raises(MissingEntry):
        gradebook.find_student("ada")


def test_isolation_is_given_up_only_explicitly_and_the_grade_says_so(course, monkeypatch, caplog):
    monkeypatch.setattr(bubblewrap.shutil, "which", lambda name: None)
    course.config.Grading.isolation = "none"
    course.hand_in("ada")
    autograde(course)
    assert scores(course) == {"ada": 3}
    assert Record.read(autograded(course, "ada")).isolation == "none"
    assert "without a sandbox" in caplog.text


def test_workers_wait_where_nothing_is_to_be_graded(course, monkeypatch):
    waited = []
    make = grading.Pool

    def pool(*orders, wait):
        waited.append(wait)
        return make(*orders, wait=wait)

    monkeypatch.setattr(grading, "Pool", pool)
    course.hand_in("ada")
    autograde(course)
    autograde(course)
    assert waited == [False, True]


# --- cut off ---


@pytest.fixture
def command(course):
    """Starts `nbgrader autograde` on a registered course, as somebody at a shell would."""
    (course.root / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    course.hand_in("ada")
    autograde(course)
    for student in ("bob", "cyn"):
        course.hand_in(student, SLOW)
    started = []

    def start():
        with open(course.root / "log", "ab") as log:
            process = subprocess.Popen(COMMAND, cwd=course.root, stdout=log, stderr=log)
        started.append(process)
        return psutil.Process(process.pid)

    yield start
    for process in started:
        process.kill()
        process.wait()


def until(condition, seconds=600):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)
    return found


def running(process):
    """The processes of a command once a submission runs: a worker, bubblewrap, what is in it."""

    def family():
        with_sandbox = process.children(recursive=True)
        # bubblewrap, the host, and a submission
        return with_sandbox if len(called("grading_sandbox", with_sandbox)) >= 3 else None

    def steady():
        try:
            return family()
        except psutil.NoSuchProcess:
            return None

    return until(steady)


def called(module, processes):
    """Those of the processes that run `module`; one that has just ended runs nothing."""
    found = []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            found += [process] * (module in process.cmdline())
    return found


def is_alive(process):
    try:
        return process.is_running() and process.status() != "zombie"
    except psutil.NoSuchProcess:
        return False


def assert_gone(processes):
    until(lambda: not any(map(is_alive, processes)))


def assert_nothing_half_graded(course):
    with sqlite3.connect(course.root / "gradebook.db") as database:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)
    database.close()
    assert set(scores(course).values()) <= {3, None}
    assert scores(course)["ada"] == 3


def assert_the_next_run_finishes(course):
    autograde(course)
    assert scores(course) == {"ada": 3, "bob": 3, "cyn": 3}


def test_head_killed(course, command):
    head = command()
    family = running(head)
    head.kill()
    assert_gone(family)
    assert_nothing_half_graded(course)
    assert_the_next_run_finishes(course)


def test_interrupted_from_the_keyboard(course, command):
    head = command()
    family = running(head)
    head.send_signal(signal.SIGINT)
    assert head.wait(timeout=300) != 0
    assert_gone(family)
    assert_nothing_half_graded(course)
    assert_the_next_run_finishes(course)


@pytest.mark.parametrize("which", [0, -1], ids=["what-forks-the-workers", "worker"])
def test_worker_killed_and_then_the_host(course, command, which):
    head = command()
    family = running(head)
    killed, sandbox = called("classroom.grading", family)[which], called("grading_sandbox", family)
    killed.kill()
    assert_gone([killed, *sandbox])
    _, host, *_ = called("grading_sandbox", running(head))
    host.kill()
    assert head.wait(timeout=600) == 0
    assert scores(course) == {"ada": 3, "bob": 3, "cyn": 3}


def test_cut_off_between_sanitising_and_grading(course):
    course.hand_in("ada")
    autograde(course)
    path = course.root / "autograded" / "ada" / "small" / "small.ipynb"
    nb = json.loads(path.read_text(encoding="utf-8"))
    nb["metadata"]["grading"] = {"finished": False}
    os.chmod(path, 0o644)
    path.write_text(json.dumps(nb), encoding="utf-8")
    autograde(course)
    assert Record.read(autograded(course, "ada")).finished


def test_full_disk(course, monkeypatch):
    course.hand_in("ada")
    course.hand_in("bob")
    write = FilesWriter.write

    def write_until_full(self, output, resources, **kwargs):
        if resources["nbgrader"]["student"] == "ada":
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(self, output, resources, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(FilesWriter, "write", write_until_full)
        with pytest.raises(NbGraderException):
            autograde(course)
    assert not (course.root / "autograded" / "ada").joinpath("small").exists()
    autograde(course)
    assert scores(course) == {"ada": 3, "bob": 3}


def test_locked_gradebook(course):
    database = course.root / "gradebook.db"
    course.config.CourseDirectory.db_url = f"sqlite:///{database}?timeout=0.01"
    course.hand_in("ada")
    autograde(course)
    course.hand_in("bob")
    lock = sqlite3.connect(database, isolation_level=None)
    lock.execute("begin exclusive")
    with pytest.raises(NbGraderException):
        autograde(course)
    lock.execute("rollback")
    lock.close()
    assert scores(course) == {"ada": 3}
    autograde(course)
    assert scores(course) == {"ada": 3, "bob": 3}


# --- what students read ---


def test_feedback_shows_the_message_and_runs_nothing(course):
    evil = "from IPython.display import HTML, display\ndisplay(HTML('<script>evil()</script>'))\n"
    path = course.hand_in("ada", evil + WRONG)
    nb = nbformat.read(path, as_version=4)
    nb.cells.append(nbformat.v4.new_markdown_cell("<script>evil()</script>Thank you"))
    nbformat.write(nb, path)
    autograde(course)
    directory = course.directory
    directory.assignment_id = "small"
    GenerateFeedback(coursedir=directory, config=course.config).start()
    html = Path(course.root, "feedback", "ada", "small", "small.html").read_text(encoding="utf-8")
    assert "AssertionError" in html
    assert "double: value</a>" in html
    assert "Thank you" in html
    assert "<script>evil" not in html
