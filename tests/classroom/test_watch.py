import pytest

from classroom import grade
from classroom.watch import watch

CONFIG = "from classroom import configure\n\nc = get_config()\nconfigure(c)\n"
WRONG = "def double(x):\n    return x"


class Ended(Exception):
    """The watch has looked often enough."""


@pytest.fixture
def looks(course, monkeypatch, capsys):
    """Watches the course from the command line: does something between two looks, and so on; what
    was printed after the first line."""
    (course.root / "nbgrader_config.py").write_text(CONFIG)

    def looks(*between):
        steps = iter(between)

        def wait(seconds):
            step = next(steps, None)
            if step is None:
                raise Ended
            step()

        monkeypatch.setattr(grade, "watch", lambda *arguments: watch(*arguments, wait=wait))
        with pytest.raises(Ended):
            grade.main(["--watch"])
        return capsys.readouterr().out.splitlines()[1:]

    return looks


def nothing():
    pass


def feedback(course, student):
    return (course.root / "feedback" / student / "small" / "small.html").read_text()


def test_what_arrives_is_graded_and_gets_feedback(course, looks):
    said = looks(
        lambda: course.hand_in("ada"),
        nothing,
        lambda: course.hand_in("bob", WRONG),
        nothing,
        nothing,
    )
    assert [line for line in said if line.startswith("  ")] == ["  ada: 3 of 3", "  bob: 1 of 3"]
    assert "Score: 3" in feedback(course, "ada")
    assert "Score: 1" in feedback(course, "bob")


def test_it_goes_on_where_it_was_ended(course, looks):
    course.hand_in("ada")
    assert looks(nothing)[-1] == "  ada: 3 of 3"
    course.hand_in("bob", WRONG)
    said = looks(nothing, nothing)
    assert [line for line in said if line.startswith("  ")] == ["  bob: 1 of 3"]


def test_what_is_handed_in_again_is_graded_again_and_what_cannot_be_is_tried_once(course, looks):
    path = course.hand_in("ada")
    broken = course.hand_in("bob")
    broken.write_text("{")
    said = looks(
        nothing,
        nothing,
        lambda: path.write_text(path.read_text().replace("2 * x", "x")),
        nothing,
        nothing,
    )
    told = [line for line in said if line.startswith("  ")]
    assert told[0] == "  ada: 3 of 3"
    assert told[1].startswith("  bob: no grade: small.ipynb ends in the middle")
    assert told[2:] == ["  ada: 1 of 3"]
