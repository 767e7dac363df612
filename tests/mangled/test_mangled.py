"""Every mangled submission gets the points it deserves, and a human wherever one is needed."""

import pytest
from manglings import ASSIGNMENT, MANGLINGS


@pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")
@pytest.mark.parametrize("mangling", MANGLINGS, ids=lambda mangling: mangling.name)
def test_mangled(mangling, graded, note):
    points = None if mangling.name in graded.reasons else graded.points[mangling.name]
    flags, _ = graded.flags.get(mangling.name, ([], False))
    told = [*flags, *filter(None, [graded.reasons.get(mangling.name)])]

    note("mangled", "graded" if points is not None else "not graded")
    note("mangled", "points lost", (points or 0) < (mangling.points or 0))
    note("mangled", "points gained", (points or 0) > (mangling.points or 0))
    note("mangled", "silent", not told and mangling.says is not None)

    assert points == mangling.points
    if mangling.says is None:
        assert told == []
    else:
        assert any(mangling.says in text for text in told)


@pytest.mark.parametrize("name", ["linked_files_beside", "a_mac_archive"])
def test_what_is_no_part_of_the_work_is_not_copied(graded, name):
    folder = graded.root / "autograded" / name / ASSIGNMENT
    assert [path.name for path in folder.iterdir()] == ["multi_head_attention.ipynb"]


def test_honest_students_cause_no_warning(graded):
    honest = ("nothing", "colab", "vscode", "conda_kernel", "all_metadata_dropped", "crlf")
    about_cells = [text for text in graded.warnings if "Attribute" in text or "Cell" in text]
    assert about_cells == []
    assert [text for text in graded.warnings if any(f"/{name}/" in text for name in honest)] == []


def test_there_are_enough_of_them():
    assert len({mangling.name for mangling in MANGLINGS}) == len(MANGLINGS) >= 35
