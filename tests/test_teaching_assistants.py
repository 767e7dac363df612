"""docs/teaching-assistants.md, from beginning to end: its commands are run, in their order."""

import csv
import os
import re
import subprocess
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from preloaded import programs

from classroom.sample import hand_in, read_answers

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "teaching-assistants.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL))
IMPORTED = ("nbgrader.apps.nbgraderapp", "classroom.config", "classroom.editions", "torch")
SET_UP_ALREADY = [f"--assume-old=.venv/.{extra}" for extra in ("lab", "ta", "test")]
NOTEBOOK = "multi_head_attention.ipynb"
ROSTER = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Multi-head attention (48213)\n"
    "    Points Possible,,,,,26\n"
    '"Doe, Jane",11,S1,jane,A,\n'
    '"王, 小明",12,S2,xiaoming,A,\n'
    '"Roe, ""John""",13,S3,john,B,\n'
    '"Missing, Anna",14,S4,anna,B,\n'
)


def blocks(section, language="sh"):
    """The lines of code in a section of the page."""
    found = re.findall(rf"^```{language}\n(.*?)^```", SECTIONS[section], re.MULTILINE | re.DOTALL)
    return [line for text in found for line in text.splitlines()]


def run(course, *commands, **environment):
    """Run commands of the page; what they printed."""
    printed = ""
    for command in commands:
        if command.startswith("make "):
            command = " ".join([command, *SET_UP_ALREADY])
        done = subprocess.run(
            command, shell=True, cwd=course, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": str(course / "src"), "OMP_NUM_THREADS": "1",
                 **environment},
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        printed += done.stdout
    return printed


def table(path):
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.reader(file))


def keep_what_is_graded(lesson):
    """Leave out of a lesson what no graded cell needs, and takes most of the time."""
    head, *cells = re.split(r"^(?=# %%)", lesson.read_text(encoding="utf-8"), flags=re.MULTILINE)
    kept = [cell for cell in cells if re.match(r'# %% (grade_id|id="(setup|stranger)")', cell)]
    lesson.write_text(head + "".join(kept), encoding="utf-8")


def answered(course, student):
    """The notebook of one of the sample class, with an answer that no exercise asked for yet."""
    released = nbformat.read(course / "release" / "mha" / NOTEBOOK, as_version=4)
    answers = (ROOT / "examples" / "class" / f"{student}.py").read_text(encoding="utf-8")
    notebook = hand_in(released, read_answers(answers))
    own = "def count_heads(weights):\n    return weights.shape[1]"
    notebook.cells.append(new_code_cell(own, id="own"))
    return nbformat.writes(notebook)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A fresh clone that uses this environment, with the page's settings, ready to give out."""
    clone = tmp_path_factory.mktemp("term") / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    *plugin, setting = blocks("Grade", "python")
    (clone / "late.py").write_text("\n".join(plugin))
    with (clone / "nbgrader_config.py").open("a") as settings:
        settings.write("\n".join([*blocks("Grades into the LMS", "python"), setting, ""]))
        settings.write("c.Grading.workers = 1\n")  # there are two notebooks to run
    keep_what_is_graded(clone / "lessons" / "multi_head_attention.py")
    with programs(clone / ".venv" / "bin", *IMPORTED, path=str(clone / "src")):
        run(clone, *blocks("Give it out"))
        yield clone


@pytest.fixture(scope="module")
def collected(course):
    """What was said while a download from Canvas was collected."""
    archive = course / "downloaded" / "mha" / "archive"
    archive.mkdir(parents=True)
    (course / "roster.csv").write_text(ROSTER, encoding="utf-8")
    with zipfile.ZipFile(archive / "submissions.zip", "w") as download:
        download.writestr(f"doejane_11_901_{NOTEBOOK}", answered(course, "student-12"))
        download.writestr(
            "doejane_11_907_multi_head_attention-1.ipynb", answered(course, "student-02")
        )
        download.writestr(f"王小明_LATE_12_902_{NOTEBOOK}", answered(course, "student-06"))
        download.writestr("roejohn_13_903_answers.ipynb.txt", "{")
    return run(course, *blocks("Collect"))


@pytest.fixture(scope="module")
def graded(course, collected):
    """What was said while the class was graded; one notebook cannot be read."""
    first, *same = blocks("Grade")
    said = subprocess.run(
        ["make", "grade", *SET_UP_ALREADY], cwd=course, text=True, capture_output=True, check=False,
        env={**os.environ, "PYTHONPATH": str(course / "src"), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert first == "make grade"
    assert same == [".venv/bin/nbgrader autograde mha", ".venv/bin/nbgrader generate_feedback mha"]
    return said.stdout


def test_setting_up_is_what_the_readme_says():
    assert blocks("Set up") == ["make grade"]
    assert "\nmake grade\n" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", re.findall(r"`((?:src|tests)/[\w/.<>]+)`", TEXT))
def test_files_to_be_changed_are_there(path):
    assert (ROOT / path.replace("<step>", "split_heads")).exists()


def test_what_is_given_out_is_whole(course):
    with zipfile.ZipFile(course / "mha.zip") as given:
        assert {f"mha/{NOTEBOOK}", "mha/attention_lab/__init__.py"} <= set(given.namelist())


def test_submissions_are_collected(course, collected):
    submitted = course / "submitted"
    assert {p.name for p in submitted.iterdir()} == {"jane", "xiaoming", "john"}
    assert (submitted / "jane" / "mha" / NOTEBOOK).read_text() == answered(course, "student-02")
    assert (
        (submitted / "xiaoming" / "mha" / "timestamp.txt")
        .read_text()
        .startswith("2026-11-30 23:59:01")
    )
    assert "jane: handed in 2 times; the newest counts" in collected
    assert "xiaoming: marked late" in collected
    assert "handed in nothing: anna" in collected


def test_who_cannot_be_graded_is_said(graded):
    assert re.search(r"No grade\n +john: ", graded)
    assert "xiaoming" in graded


@pytest.mark.usefixtures("graded")
def test_class_report_is_one_page_that_names_nobody(course):
    run(course, *blocks("See how the class did"))
    page = (course / "class-report-mha.html").read_text(encoding="utf-8")
    assert "view instead of transpose" in page
    assert "xiaoming" not in page


@pytest.mark.usefixtures("graded")
def test_grades_go_into_the_lms(course):
    said = run(course, *blocks("Grades into the LMS"))
    assert table(course / "canvas.csv") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Multi-head attention (48213)"],
        ["    Points Possible", "", "", "", "", "26"],
        ["Doe, Jane", "11", "S1", "jane", "A", "26"],
        ["王, 小明", "12", "S2", "xiaoming", "A", "15.75"],
        ['Roe, "John"', "13", "S3", "john", "B", ""],
        ["Missing, Anna", "14", "S4", "anna", "B", ""],
    ]
    assert [row[-1] for row in table(course / "moodle.csv")] == ["mha", "26", "15.75", "", ""]
    heading, full, _, late, *_ = table(course / "steps.csv")
    penalty = heading.index("mha late penalty")
    assert (full[penalty - 1], late[penalty - 1], late[penalty]) == ("26", "15.75", "5.25")
    assert "Wrote canvas.csv" in said


@pytest.mark.usefixtures("graded")
def test_collecting_twice_changes_nothing_that_is_the_same(course):
    said = run(course, *blocks("Collect twice"))
    assert "Collected before, and the same as then: 3 students" in said
    assert not (course / "downloaded" / "mha" / "replaced").exists()


@pytest.mark.usefixtures("graded")
def test_feedback_goes_into_the_lms(course):
    (command,) = blocks("Feedback into the LMS")
    done = subprocess.run(
        command, shell=True, cwd=course, text=True, capture_output=True, check=False,
        env={**os.environ, "PYTHONPATH": str(course / "src")},
    )  # fmt: skip
    with zipfile.ZipFile(course / "feedback-mha.zip") as given:
        assert set(given.namelist()) == {
            "doejane_11_907_multi_head_attention.html",
            "王小明_LATE_12_902_multi_head_attention.html",
        }
    assert done.returncode == 1
    assert re.search(r"No page\n +john: ", done.stdout)


def correct_a_test_and_add_an_exercise(course):
    """Have a graded cell ask the same in other words, and follow the page."""
    lesson = course / "lessons" / "multi_head_attention.py"
    text = lesson.read_text(encoding="utf-8")
    cell = '# %% grade_id="test_attend_value" points=1\n'
    assert cell in text
    exercise = "\n".join(blocks("Change the lesson", "python"))
    lesson.write_text(f"{text.replace(cell, f'{cell}# corrected')}\n{exercise}\n", encoding="utf-8")
    run(course, "make build")


@pytest.mark.usefixtures("graded")
def test_a_corrected_test_and_a_new_exercise_are_graded_again(course):
    correct_a_test_and_add_an_exercise(course)
    show, apply, feedback = blocks("Grade again")
    shown = run(course, show)
    assert "mha: 2 submissions graded again on" in shown
    assert "test_attend_value: another text" in shown
    assert "jane: 26 → 27\n    test_count_heads_value none → 1: new, 1 points" in shown
    applied = run(course, apply)
    assert applied.startswith(shown.partition("\nNothing is changed")[0])
    graded_cell = course / "autograded" / "jane" / "mha" / NOTEBOOK
    assert "# corrected" in graded_cell.read_text(encoding="utf-8")
    assert blocks("Look for yourself, and give it back") == [".venv/bin/jupyter lab", feedback]
    run(course, feedback)
    page = course / "feedback" / "jane" / "mha" / "multi_head_attention.html"
    assert "(Score: 27.0 / 27.0)" in page.read_text(encoding="utf-8")


@pytest.fixture
def other(course, tmp_path):
    """A course of somebody else's that takes the lesson, beside the course of the page."""
    for folder in ("source", "release"):
        (tmp_path / "other" / folder).mkdir(parents=True)
    (tmp_path / "other" / ".venv").symlink_to(course / ".venv")
    lines = blocks("In a course that has other assignments", "python")
    settings = "\n".join(["c = get_config()", *lines, "c.Grading.workers = 1"])
    (tmp_path / "other" / "nbgrader_config.py").write_text(settings)
    return tmp_path / "other"


@pytest.fixture
def shared(course, tmp_path):
    """The exchange of the page, elsewhere, and a student's home."""
    (tmp_path / "jupyter").mkdir()
    (tmp_path / "home").mkdir()
    settings = "\n".join(["c = get_config()", *blocks("With JupyterHub instead", "python")])
    assert "/srv/nbgrader/exchange" in settings
    settings = settings.replace("/srv/nbgrader/exchange", str(tmp_path / "exchange"))
    (tmp_path / "jupyter" / "nbgrader_config.py").write_text(settings)
    return {
        "JUPYTER_CONFIG_DIR": str(tmp_path / "jupyter"),
        "JUPYTER_DATA_DIR": str(tmp_path / "data"),
        "STUDENT_HOME": str(tmp_path / "home"),
        "PATH": os.pathsep.join([str(course / ".venv" / "bin"), os.environ["PATH"]]),
    }


def test_another_course_takes_the_lesson_through_an_exchange(course, other, shared, tmp_path):
    run(course, *blocks("In a course that has other assignments"), COURSE=str(other))
    release, fetch, submit, collect, *feedback = blocks("With JupyterHub instead")
    run(other, release, fetch, **shared)
    fetched = tmp_path / "home" / "mha"
    released = {
        p.relative_to(other / "release" / "mha") for p in (other / "release" / "mha").rglob("*.py")
    }
    assert released
    assert {path.relative_to(fetched) for path in fetched.rglob("*.py")} == released
    (fetched / NOTEBOOK).write_text(answered(course, "student-02"))
    run(other, submit, collect, **shared)
    (mine,) = (other / "submitted").iterdir()
    assert (mine / "mha" / NOTEBOOK).read_text() == answered(course, "student-02")
    assert (mine / "mha" / "timestamp.txt").is_file()
    run(other, *blocks("Grade")[1:], *feedback, **shared)
    (page,) = (tmp_path / "home").glob("mha/feedback/*/multi_head_attention.html")
    title = re.search(r"multi_head_attention \(Score: ([\d.]+) / ([\d.]+)\)", page.read_text())
    assert title[1] == title[2]
