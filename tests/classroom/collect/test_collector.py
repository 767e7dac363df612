import io
import os
import time
import zipfile
from datetime import datetime

import pytest
from nbgrader.api import Gradebook
from nbgrader.utils import parse_utc


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return buffer.getvalue()


@pytest.fixture
def roster(course):
    return (course.root / "roster.csv").write_text


@pytest.fixture
def due(course):
    with Gradebook(course.directory.db_url) as gradebook:
        gradebook.add_assignment("small", duedate="2026-11-30 23:59:00 UTC")


def timestamp(files, student):
    return parse_utc(files[f"{student}/small/timestamp.txt"])


def test_download_from_canvas(download, collect, roster):
    roster("Student,ID,SIS Login ID\nDoe,11,jane\nWang,12,xiaoming\nRoe,13,john\n")
    download(
        {
            "doejane_11_901_small.ipynb": "first",
            "doejane_11_905_small-1.ipynb": "second",
            "王小明_12_902_homework.zip": zipped(
                {"hw/src/small.ipynb": "deep", "hw/src/f.py": "f"}
            ),
            "roejohn_13_903_answers.pdf": "no notebook",
        }
    )
    said, files = collect()
    assert files == {
        "jane/small/small.ipynb": "second",
        "xiaoming/small/small.ipynb": "deep",
        "xiaoming/small/f.py": "f",
        "john/small/answers.pdf": "no notebook",
    }
    assert "jane: handed in 2 times; the newest counts" in said
    assert "john: no notebook was handed in" in said
    assert not any(words in said for words in ("Parsing", "Copying", "Creating", "Skipped"))


def test_download_from_moodle(download, collect, roster):
    roster(
        "Identifier,Full name,Email address,Last modified (submission)\n"
        "Participant 71,Jane Doe,jane@example.org,2026-11-29T21:50+01:00\n"
        "Participant 72,Åse Ødegård,ase@example.org,-\n"
    )
    download(
        {
            "Jane Doe_71_assignsubmission_file_/small.ipynb": "1",
            "Åse Ødegård_72_assignsubmission_file_/Small (1).ipynb": "2",
        }
    )
    _, files = collect()
    assert files.pop("jane@example.org/small/timestamp.txt") == "2026-11-29 20:50:00+00:00"
    assert files == {"jane@example.org/small/small.ipynb": "1",
                     "ase@example.org/small/small.ipynb": "2"}  # fmt: skip


def test_two_downloads_of_one_class(download, collect):
    download({"doejane_11_901_small.ipynb": "old", "roejohn_12_902_small.ipynb": "1"}, "mon.zip")
    download({"doejane_11_950_small-1.ipynb": "new", "roejohn_12_902_small.ipynb": "1"}, "a.zip")
    _, files = collect()
    assert files == {"11/small/small.ipynb": "new", "12/small/small.ipynb": "1"}


def test_of_two_downloads_with_the_same_times_the_newer_counts(download, collect):
    name = "Jane Doe_71_assignsubmission_file_/small.ipynb"
    for archive, content, when in (("b.zip", "old", 1e9), ("a.zip", "new", 1e9 + 60)):
        path = download({zipfile.ZipInfo(name, (2026, 11, 29, 20, 0, 0)): content}, archive)
        os.utime(path, (when, when))
    said, files = collect()
    assert files == {"71/small/small.ipynb": "new"}
    assert "look which one is meant" not in said
    os.utime(path, (1e9, 1e9))
    assert "no time tells which is the newest: look which one is meant" in collect("--force")[0]


@pytest.fixture
def in_berlin(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_berlin")
def test_time_without_an_offset_is_local(download, collect, roster):
    roster('student_id,lms_id,timestamp\nada,11,"Sunday, 29 November 2026, 9:50 PM"\n')
    download({"lovelaceada_11_901_small.ipynb": "1"})
    _, files = collect()
    assert timestamp(files, "ada") == datetime(2026, 11, 29, 20, 50)


def test_time_that_is_none_stops_before_anything_is_collected(course, download, collect, roster):
    roster("student_id,lms_id,timestamp\nada,11,03.12.2026 10:00\n")
    download({"lovelaceada_11_901_small.ipynb": "1"})
    with pytest.raises(SystemExit):
        collect()
    assert not (course.root / "submitted").exists()


def test_zone_of_times_is_said(download, collect, roster, in_berlin):
    roster("student_id,lms_id,timestamp\nada,11,2026-11-29 20:15\n")
    download({"lovelaceada_11_901_small.ipynb": "1"})
    assert "Times in the roster that have no offset are those of UTC+0" in collect()[0]


def test_anonymous_submissions_of_canvas(download, collect, roster):
    roster("Student,ID,SIS Login ID\nDoe,1,jane\nRoe,11,john\n")
    download(
        {
            "anon_aB3xZ_901_1_2_small.ipynb": "1",
            "LATE_anon_12345_902_small.ipynb": "2",
            "anon_Qq1Ww_903_small-1.ipynb": "3",
        }
    )
    said, files = collect()
    assert files == {
        "anon-aB3xZ/small/1_2_small.ipynb": "1", "anon-12345/small/small.ipynb": "2",
        "anon-Qq1Ww/small/small.ipynb": "3",
    }  # fmt: skip
    assert "Canvas hides the names of 3 students: collected as anon-12345, anon-Qq1Ww" in said


def test_groups_of_moodle_are_nobody_of_that_number(download, collect, roster):
    roster("Identifier,Full name,Email address\nParticipant 71,Jane Doe,jane@example.org\n")
    download(
        {
            "Team Blue_71_assignsubmission_file_/small.ipynb": "team's",
            "Default group_assignsubmission_file_/a_71_9_small.ipynb": "default's",
        }
    )
    said, files = collect()
    assert files == {}
    assert "Team Blue: not collected, in the roster 71 is Jane Doe. If a Moodle group" in said
    assert "a_71_9_small.ipynb does not tell whose it is" in said


@pytest.mark.parametrize("prefix", ["Doe Jane", "Group A-Jane Doe", "jdoe Jane Doe", "Participant"])
def test_prefixes_of_moodle_that_are_the_same_person(download, collect, roster, prefix):
    roster("Identifier,Full name,Email address\nParticipant 71,Jane Doe,jane@example.org\n")
    download({f"{prefix}_71_assignsubmission_file_/small.ipynb": "1"})
    assert set(collect()[1]) == {"jane@example.org/small/small.ipynb"}


def test_two_people_of_one_name_are_not_taken_for_one(download, collect, roster):
    roster('student_id,name\njane,"Doe, Jane"\nada,"Lovelace, Ada"\n')
    download(
        {"doejane_11_901_small.ipynb": "1", "doejane_12_902_small.ipynb": "2",
         "lovelaceada_13_903_small.ipynb": "3"}
    )  # fmt: skip
    said, files = collect()
    assert files == {
        "11/small/small.ipynb": "1", "12/small/small.ipynb": "2", "ada/small/small.ipynb": "3"
    }  # fmt: skip
    assert "doejane is not in the roster: collected as 11" in said


def test_what_lay_there_before_is_kept_aside(course, download, collect):
    download({"doejane_11_901_small.ipynb": "1", "roejohn_12_902_small.ipynb": "2"})
    collect()
    mended = course.root / "submitted" / "11" / "small" / "small.ipynb"
    mended.write_text("mended by hand")
    untouched = course.root / "submitted" / "12" / "small" / "small.ipynb"
    before = untouched.stat().st_mtime_ns
    said, files = collect("--force")
    assert files["11/small/small.ipynb"] == "1"
    kept = course.root / "downloaded" / "small" / "replaced" / "11"
    assert (kept / "small.ipynb").read_text() == "mended by hand"
    assert "11: collected anew; what lay in submitted/ until now is kept in downloaded/" in said
    assert untouched.stat().st_mtime_ns == before
    assert "12: collected anew" not in said
    collect("--force")
    assert not kept.with_name("11-1").exists()


def test_a_time_that_is_new_is_collected(course, download, collect, roster):
    roster("student_id,lms_id,timestamp\nada,11,2026-11-29T20:15Z\n")
    download({"lovelaceada_11_901_small.ipynb": "1"})
    collect()
    roster("student_id,lms_id,timestamp\nada,11,2026-11-29T21:15Z\n")
    assert timestamp(collect("--force")[1], "ada") == datetime(2026, 11, 29, 21, 15)


def test_the_test_student_has_not_failed_to_hand_in(download, collect, roster):
    roster(
        'Student,ID,SIS Login ID\n"Doe, Jane",11,jane\n"Roe, Al",12,al\n"Student, Test",99,0f1e\n'
    )
    download({"doejane_11_901_small.ipynb": "1"})
    assert "handed in nothing: al\n" in collect()[0] + "\n"


def test_marked_late_is_late_by_the_least_that_is_certain(download, collect, due):
    download({"doejane_LATE_11_901_small.ipynb": "1", "roejohn_12_902_small.ipynb": "2"})
    said, files = collect()
    assert timestamp(files, "11") == datetime(2026, 11, 30, 23, 59, 1)
    assert "12/small/timestamp.txt" not in files
    assert "11: marked late, by an unknown time" in said


def test_first_late_then_in_time_is_in_time(download, collect, due):
    download({"doejane_LATE_11_901_small.ipynb": "1", "doejane_11_902_small-1.ipynb": "2"})
    assert set(collect()[1]) == {"11/small/small.ipynb"}


def test_marked_late_without_a_due_date_is_said(download, collect):
    download({"doejane_LATE_11_901_small.ipynb": "1"})
    said, files = collect()
    assert set(files) == {"11/small/small.ipynb"}
    assert "11: marked late, and the gradebook has no due date" in said


def test_nobody_hands_in_a_time(download, collect):
    download({"doejane_11_901_hw.zip": zipped({"small.ipynb": "1", "timestamp.txt": "2000-01-01"})})
    assert set(collect()[1]) == {"11/small/small.ipynb"}


def test_strangers_are_collected_under_names_of_their_own(download, collect, roster):
    roster("student_id,lms_id\n12,11\nada,13\n")
    download({"a_11_901_small.ipynb": "1", "b_12_902_small.ipynb": "2", "c_9_3_small.ipynb": "3"})
    said, files = collect()
    assert files == {
        "12/small/small.ipynb": "1", "lms-12/small/small.ipynb": "2", "9/small/small.ipynb": "3"
    }  # fmt: skip
    assert "b is not in the roster: collected as lms-12" in said
    assert "In the roster, and handed in nothing: ada" in said


def test_file_of_nobody_is_said(download, collect):
    download({"small.ipynb": "1", "doejane_11_901_small.ipynb": "2"})
    said, files = collect()
    assert files == {"11/small/small.ipynb": "2"}
    assert "submissions/small.ipynb does not tell whose it is" in said


def test_who_was_collected_before_is_passed_over(course, download, collect):
    course.hand_in("11")
    download({"doejane_11_901_small.ipynb": "1", "roejohn_12_902_small.ipynb": "2"})
    said, files = collect()
    assert files["12/small/small.ipynb"] == "2"
    assert files["11/small/small.ipynb"] != "1"
    assert "Collected before; --force collects again: 11" in said
    assert collect("--force")[1]["11/small/small.ipynb"] == "1"


def test_another_roster_is_named_on_the_command_line(course, download, collect):
    (course.root / "people.csv").write_text("student_id,lms_id\nada,11\n")
    download({"lovelaceada_11_901_small.ipynb": "1"})
    assert set(collect("--LmsCollector.roster=people.csv")[1]) == {"ada/small/small.ipynb"}


def test_roster_that_cannot_be_read_stops_before_anything_is_collected(
    course, download, collect, roster
):
    roster("nothing,of,the,kind\n")
    download({"doejane_11_901_small.ipynb": "1"})
    with pytest.raises(SystemExit):
        collect()
    assert not (course.root / "submitted").exists()


def test_pattern_of_the_courses_own_is_nbgraders_business(course, download, collect):
    pattern = (
        r"c.FileNameCollectorPlugin.named_regexp = r'.*/(?P<student_id>\w+)-(?P<file_id>\w+)\.'"
    )
    with (course.root / "nbgrader_config.py").open("a") as settings:
        settings.write(pattern + "\n")
    download({"ada-small.ipynb": "1", "doejane_11_901_small.ipynb": "2"})
    assert collect()[1] == {"ada/small/small.ipynb": "1"}
