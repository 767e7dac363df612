import pytest

from classroom.editions.__main__ import main


@pytest.fixture
def run(course, capsys):
    def run(*arguments):
        status = main(["--root", str(course), *arguments])
        return status, capsys.readouterr()

    return run


def test_builds_everything_and_says_what(run, course):
    status, printed = run()
    assert status == 0
    assert printed.out.split() == [
        "source/ps1/tiny.ipynb",
        "release/ps1/tiny.ipynb",
        "notebooks/tiny.ipynb",
        "src/attention_lab/handin/lessons/tiny.json",
    ]
    for edition in ("source", "release"):
        assert (course / edition / "ps1" / "attention_lab" / "look" / "look.css").is_file()


def test_check_passes_after_a_build(run):
    run()
    status, printed = run("--check")
    assert (status, printed.out, printed.err) == (0, "", "")


def test_check_fails_before_one_and_writes_nothing(run, course):
    status, printed = run("--check")
    assert status == 1
    assert "release/ps1/tiny.ipynb: is missing\n" in printed.err
    assert printed.err.endswith("Run `make build` and commit the result.\n")
    assert not (course / "release").exists()


def test_package_alone(run, course):
    assert run("--package")[0] == 0
    assert [path.name for path in (course / "release" / "ps1").iterdir()] == ["attention_lab"]


def test_a_fault_is_one_message_and_no_traceback(run, course):
    (course / "lessons" / "bars.svg").unlink()
    status, printed = run()
    assert status == 1
    assert printed.err == "tiny: cell 'title': the drawing bars.svg is not beside the lesson\n"
    assert not (course / "source").exists()


def test_a_folder_that_is_no_course_is_told(tmp_path, capsys):
    assert main(["--root", str(tmp_path)]) == 1
    assert capsys.readouterr().err.endswith("no lessons/*.py; run this at the course's root\n")
