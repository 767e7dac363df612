import pytest

from classroom.collect.whose import find_owners
from classroom.roster import Person, Roster


def person(student, lms="", name=""):
    return Person(student, lms, name, None, {"name": name})


@pytest.fixture
def owners(tmp_path):
    def owners(roster, *names):
        for name in names:
            path = tmp_path / "extracted" / "submissions" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        return find_owners(tmp_path / "extracted", Roster(tuple(roster)))

    return owners


def test_people_are_found_by_number_and_strangers_are_named(owners):
    found = owners([person("jane", "11")], "doejane_11_901_a.ipynb", "roejohn_12_902_a.ipynb")
    assert {student: [u.lms for u in uploads] for student, uploads in found.by_student.items()} == {
        "jane": ["11"], "12": ["12"]
    }  # fmt: skip
    assert found.strangers == {"12": "roejohn"}


def test_a_stranger_gets_no_name_that_somebody_has(owners):
    assert set(owners([person("12", "11")], "roejohn_12_902_a.ipynb").by_student) == {"lms-12"}


def test_a_name_that_two_have_tells_nobody(owners):
    roster = [person("jane", name="Doe, Jane")]
    assert set(owners(roster, "doejane_11_901_a.ipynb").by_student) == {"jane"}
    found = owners(roster, "doejane_11_901_a.ipynb", "doejane_12_902_a.ipynb")
    assert set(found.by_student) == {"11", "12"}


def test_canvas_may_hide_whose_it_is(owners):
    found = owners([person("jane", "1")], "anon_aB3xZ_901_1_2_a.ipynb")
    assert (set(found.by_student), found.hidden, found.strangers) == (
        {"anon-aB3xZ"}, {"anon-aB3xZ"}, {}
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "same"),
    [("Jane Doe", True), ("Doe, J.", True), ("王小明", False), ("Team Blue", False)],
)
def test_a_number_of_moodles_may_be_a_groups(owners, name, same):
    found = owners([person("jane", "71", "Jane Doe")], f"{name}_71_assignsubmission_file_/a.ipynb")
    assert set(found.by_student) == ({"jane"} if same else set())
    assert found.others == ({} if same else {name: "71 is Jane Doe"})


def test_files_that_tell_nothing_are_nobodys(owners):
    found = owners([], "a.ipynb", "Default group_assignsubmission_file_/x_1_2_a.ipynb")
    assert found.by_student == {}
    assert [path.name for path in found.nobodys] == ["x_1_2_a.ipynb", "a.ipynb"]
