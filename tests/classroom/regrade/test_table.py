from classroom.regrade.changes import CellChange, Changes, StudentChange
from classroom.regrade.table import render
from classroom.regrade.trial import Trial

TRIAL = Trial("2026-11-29 22:40:15", {}, ["ada", "bob"], {"cyd": "the folder is empty"}, "")


def test_points_cells_and_reasons_are_shown():
    cells = [
        CellChange(("nb", "test_shape"), 1, 0, "the same cell, judged anew: returns-text"),
        CellChange(("nb", "test_value"), None, 2.5, "new, 3 points"),
    ]
    changes = Changes(
        {},
        (3, 6),
        {},
        {},
        {("nb", "test_value"): "new, 3 points"},
        [StudentChange("王小明\x1b[2J", 1, 2.5, cells)],
        {"bob": [("nb", "test_essay"), ("nb", "test_shape")]},
    )
    assert render("mha", TRIAL, changes) == "\n".join(
        [
            "mha: 2 submissions graded again on 2026-11-29 22:40:15, 1 with another total",
            "",
            "The maximum changes from 3 to 6 points: change it in the LMS, too",
            "",
            "The lesson's cells",
            "  test_value: new, 3 points",
            "",
            "Points",
            "  王小明�[2J: 1 → 2.5",
            "    test_shape 1 → 0: the same cell, judged anew: returns-text",
            "    test_value none → 2.5: new, 3 points",
            "",
            "Graded by hand: the points stay, look whether they hold",
            "  bob: test_essay, test_shape",
            "",
            "Not graded again: the points stay",
            "  cyd: the folder is empty",
        ]
    )


def test_nothing_changed_is_one_line():
    trial = Trial("2026-11-29 22:40:15", {}, ["ada"], {}, "")
    assert render("mha", trial, Changes({}, (3, 3), {}, {}, {}, [], {})) == (
        "mha: 1 submission graded again on 2026-11-29 22:40:15, none with another total"
    )
