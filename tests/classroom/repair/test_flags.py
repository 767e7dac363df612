import pytest
from nbformat.v4 import new_notebook

from attention_lab.handin.inspect import Finding, Kind
from attention_lab.handin.lesson import Lesson, Slot
from classroom.repair.flags import Notes, doubts_of, flags_of, read, write


def found(released, kind, name="double"):
    [slot] = (slot for slot in released.lesson.slots if slot.name == name)
    return [Finding(kind, slot)]


def test_what_was_guessed_is_a_flag(released):
    [flag] = flags_of(found(released, Kind.SPLIT), released.lesson)
    assert flag == "double: stood in two cells; graded as one"


def test_what_is_certain_is_none(released):
    for kind in (Kind.UNMARKED, Kind.COPIED, Kind.UNANSWERED, Kind.EDITED):
        assert flags_of(found(released, kind), released.lesson) == []
        assert doubts_of(found(released, kind), released.lesson) == {}
    missing = found(released, Kind.MISSING, "test_double_value")
    assert flags_of(missing, released.lesson) == []


@pytest.mark.parametrize("kind", [Kind.ANOTHER, Kind.BROKEN, Kind.MISSING, Kind.NAMELESS])
def test_what_the_checks_may_settle_is_a_doubt(released, kind):
    findings = found(released, kind)
    assert flags_of(findings, released.lesson) == []
    assert list(doubts_of(findings, released.lesson)) == ["double"]


def test_what_no_check_can_settle_is_a_flag():
    essay = Slot("essay", "written", "")
    findings = [Finding(Kind.MISSING, essay)]
    assert flags_of(findings, Lesson("small", (essay,))) == ["essay: no cell answers it"]
    assert doubts_of(findings, Lesson("small", (essay,))) == {}


def test_there_and_back_again():
    notebook = new_notebook()
    assert read(notebook) == Notes()
    notes = Notes(["a"], {"double": "b"}, ["c"])
    write(notebook, notes)
    assert read(notebook) == notes


def test_all_steps_of_a_kind_are_one_line(course, released):
    findings = [
        Finding(kind, slot)
        for slot in (*released.lesson.slots, Slot("halve", "solution", ""))
        for kind in (Kind.ELSEWHERE, Kind.SPLIT)
        if slot.kind == "solution"
    ]
    slots = (*released.lesson.slots, findings[-1].slot, Slot("test_halve_value", "test", ""))
    assert flags_of(findings, Lesson("small", slots)) == [
        "double, halve: graded what another cell defines by that name",
        "double, halve: stood in two cells; graded as one",
    ]
