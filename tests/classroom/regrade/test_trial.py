import shutil

import pytest
from nbgrader.api import Assignment, Grade, Gradebook, Student
from sqlalchemy import func, select

from classroom.regrade.trial import (
    NothingToRegrade,
    copy_gradebook,
    fingerprint,
    last_trial,
    require_gradebook,
    run_trial,
)

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")


def run(graded, **renamed):
    return run_trial(graded.directory, "small", graded.config, renamed)


def files(graded):
    """What lies in the course besides regrade/, by path."""
    return {
        path: path.read_bytes()
        for path in graded.root.rglob("*")
        if path.is_file() and "regrade" not in path.parts
    }


def test_a_trial_changes_nothing(graded, change_text):
    (graded.root / "release").mkdir()
    (graded.root / "release" / "kept").write_text("kept")
    graded.edit_source(change_text)
    graded.verdicts["bob"]["test_double_value"] = 2
    before = files(graded)
    trial = run(graded)
    assert files(graded) == before
    assert (trial.students, trial.left) == (["ada", "bob"], {})
    assert last_trial(graded.directory, "small") == trial


def test_who_has_no_grade_yet_is_left_to_the_grading(graded):
    graded.course.hand_in("cyd")
    graded.verdicts["cyd"] = {}
    assert run(graded).students == ["ada", "bob"]


def test_who_has_no_points_yet_is_left_to_the_grading(graded):
    with graded.gradebook() as gradebook:
        for cell in ("test_double_shape", "test_double_value"):
            gradebook.find_grade(cell, "small", "small", "bob").auto_score = None
        gradebook.db.commit()
    assert run(graded).students == ["ada"]


def test_who_cannot_be_graded_again_is_said_with_the_reason(graded):
    del graded.verdicts["ada"]
    (graded.root / "submitted" / "ada" / "small" / "small.ipynb").write_text('{"cells": [')
    trial = run(graded)
    assert trial.students == ["bob"]
    assert trial.left["ada"].startswith("small.ipynb ends in the middle")


def test_whose_work_is_gone_is_said(graded):
    del graded.verdicts["ada"]
    shutil.rmtree(graded.root / "submitted" / "ada")
    assert run(graded).left == {"ada": "not in submitted/ any more"}


def test_a_trial_that_graded_nobody_is_none(graded):
    graded.verdicts.clear()
    with pytest.raises(NothingToRegrade, match=r"no submission could be graded again; .*\.log"):
        run(graded)
    with pytest.raises(NothingToRegrade, match="nothing to apply"):
        last_trial(graded.directory, "small")


def test_without_grades_there_is_nothing_to_grade_again(course):
    with Gradebook(course.directory.db_url):
        pass
    with pytest.raises(NothingToRegrade, match="nobody has a grade yet"):
        run_trial(course.directory, "small", course.config, {})


def test_no_gradebook_is_said_and_none_is_made(course):
    with pytest.raises(NothingToRegrade, match=r"there is no gradebook .*gradebook\.db"):
        require_gradebook(course.directory)
    assert not (course.root / "gradebook.db").exists()


@pytest.mark.parametrize("changed", ["source/small/small.ipynb", "submitted/ada/small/small.ipynb"])
def test_a_trial_of_other_files_is_not_applied(graded, changed):
    run(graded)
    path = graded.root / changed
    path.write_text(path.read_text() + " ")
    with pytest.raises(NothingToRegrade, match=r"has changed since .* look at the table again"):
        last_trial(graded.directory, "small")


def test_a_trial_by_other_checks_is_not_applied(graded, monkeypatch):
    before = fingerprint(graded.directory, "small")
    monkeypatch.setattr("classroom.regrade.trial.fingerprint_of", lambda files: "another")
    assert fingerprint(graded.directory, "small") != before


def test_a_gradebook_is_copied_whole(graded):
    url = f"sqlite:///{graded.root / 'copy.db'}"
    with graded.gradebook() as gradebook, Gradebook(url) as copy:
        copy_gradebook(gradebook, copy)
        for model, rows in {Assignment: 1, Student: 2, Grade: 4}.items():
            assert copy.db.scalar(select(func.count()).select_from(model)) == rows
        assert copy.find_submission("small", "ada").score == 3
