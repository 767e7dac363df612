"""The small lesson, damaged in one way after the other."""

import pytest

from attention_lab.handin.inspect import Kind, inspect

from .conftest import DOUBLE, HALVE, STUB, cell

WRONG = "def double(x):\n    return x + x + 1"


@pytest.fixture
def look(lesson):
    """`look(cells)`: the inspection, and its findings as (kind, name)."""

    def look(cells):
        inspection = inspect({"cells": list(cells)}, lesson)
        return inspection, [(finding.kind, finding.slot.name) for finding in inspection.findings]

    return look


def test_a_whole_notebook_has_nothing_the_matter(look, notebook):
    inspection, findings = look(notebook.values())
    assert findings == []
    assert {name: cell.index for name, cell in inspection.found.items()} == {
        "setup": 0, "double": 1, "test_double": 2, "halve": 3, "test_halve": 4,
    }  # fmt: skip
    assert inspection.answered == {"double", "halve"}
    assert inspection.leftovers == ()


def test_cells_of_ones_own_do_not_matter(look, notebook):
    cells = list(notebook.values())
    cells[1:1] = [cell("1 / 0"), cell("# notes", kind="markdown"), cell("%%bash\nls")]
    assert look(cells)[1] == []


def test_an_empty_notebook_misses_everything(look, lesson):
    inspection, findings = look([])
    assert findings == [(Kind.MISSING, slot.name) for slot in lesson.slots]
    assert inspection.found == {}


def test_without_metadata_the_id_tells(look, notebook):
    notebook["double"]["metadata"] = {}
    notebook["test_double"] = cell("check.double(double)")
    notebook["test_double"]["metadata"] = {"id": "test_double"}
    assert look(notebook.values())[1] == [(Kind.UNMARKED, "double"), (Kind.UNMARKED, "test_double")]


def test_without_ids_the_name_and_the_text_tell(look, notebook):
    cells = [cell(made["source"]) for made in notebook.values()]
    inspection, findings = look(cells)
    assert findings == [
        (Kind.ELSEWHERE, "double"),
        (Kind.UNMARKED, "test_double"),
        (Kind.ELSEWHERE, "halve"),
        (Kind.UNMARKED, "test_halve"),
    ]
    assert inspection.found["double"].index == 1


def test_a_setup_that_was_added_to_is_known_by_its_text(look, notebook):
    notebook["setup"] = cell("import math\nimport statistics\nimport re")
    assert look(notebook.values())[0].found["setup"].index == 0


class TestSeveralAnswers:
    def test_the_last_one_before_the_checks_counts(self, look, notebook):
        cells = list(notebook.values())
        cells.insert(1, cell(WRONG, "double"))
        inspection, findings = look(cells)
        assert findings == [(Kind.RIVALS, "double")]
        assert inspection.found["double"].index == 2

    def test_copies_that_are_alike_are_no_rivals(self, look, notebook):
        cells = list(notebook.values())
        cells.insert(1, cell(DOUBLE + "\n", "double"))
        assert look(cells)[1] == [(Kind.COPIED, "double")]

    def test_an_answer_counts_before_a_stub(self, look, notebook):
        cells = list(notebook.values())
        cells.insert(2, cell(STUB.format("double"), "double"))
        inspection, findings = look(cells)
        assert findings == [(Kind.COPIED, "double")]
        assert inspection.found["double"].index == 1
        assert [leftover.index for leftover in inspection.leftovers] == [2]

    def test_a_try_above_the_answer_is_none_of_ours(self, look, notebook):
        cells = list(notebook.values())
        cells.insert(1, cell(WRONG))
        assert look(cells)[1] == []

    def test_a_try_below_is_told(self, look, notebook):
        inspection, findings = look([*notebook.values(), cell(WRONG)])
        assert findings == [(Kind.ANOTHER, "double")]
        assert inspection.found["double"].index == 1

    def test_elsewhere_all_are_rivals(self, look, notebook):
        notebook["double"]["source"] = STUB.format("double")
        inspection, findings = look([*notebook.values(), cell(WRONG), cell(DOUBLE)])
        assert findings == [(Kind.ELSEWHERE, "double"), (Kind.RIVALS, "double")]
        assert inspection.found["double"].index == 6
        assert [leftover.index for leftover in inspection.leftovers] == [1]


class TestOneCellForTwo:
    def test_answers_merged(self, look, notebook):
        notebook["double"]["source"] += "\n\n" + notebook.pop("halve")["source"]
        inspection, findings = look(notebook.values())
        assert findings == [(Kind.SHARED, "halve")]
        assert inspection.found["halve"] == inspection.found["double"]

    def test_an_answer_in_a_check(self, look, notebook):
        notebook["test_double"]["source"] = DOUBLE + "\ncheck.double(double)"
        notebook["double"]["source"] = STUB.format("double")
        assert look(notebook.values())[1] == [
            (Kind.SHARED, "double"),
            (Kind.EDITED, "test_double"),
        ]


class TestTwoCellsForOne:
    def test_halves_are_joined(self, look, notebook):
        head, tail = notebook["double"]["source"].split("\n")
        notebook["double"]["source"] = head
        cells = list(notebook.values())
        cells.insert(2, cell(tail, "double"))
        inspection, findings = look(cells)
        assert findings == [(Kind.SPLIT, "double")]
        assert inspection.found["double"].indices == (1, 2)
        assert inspection.found["double"].source == DOUBLE
        assert [joined.index for joined in inspection.cells] == [0, 1, 3, 4, 5]

    def test_it_does_not_matter_which_half_kept_the_name(self, look, notebook):
        head, tail = notebook["double"]["source"].split("\n")
        notebook["double"]["source"] = tail
        cells = list(notebook.values())
        cells.insert(1, cell(head))
        assert look(cells)[1] == [(Kind.SPLIT, "double")]

    def test_an_indented_cell_that_fits_nothing_stays_by_itself(self, look, notebook):
        cells = list(notebook.values())
        cells.insert(3, cell("    print(3)"))
        inspection, findings = look(cells)
        assert findings == []
        assert len(inspection.cells) == 6


class TestWithoutAnswer:
    @pytest.mark.parametrize(
        ("source", "kind"),
        [
            (STUB.format("double"), Kind.UNANSWERED),
            ("", Kind.UNANSWERED),
            ("# later", Kind.UNANSWERED),
            ("def double(x:\n    return 2 * x", Kind.BROKEN),
            ("def dubble(x):\n    return 2 * x", Kind.NAMELESS),
        ],
    )
    def test_in_its_own_cell(self, look, notebook, source, kind):
        notebook["double"]["source"] = source
        inspection, findings = look(notebook.values())
        assert findings == [(kind, "double")]
        assert inspection.answered == {"halve"}

    def test_broken_in_a_cell_without_a_name(self, look, notebook):
        notebook["double"] = cell("def double(x:\n    return 2 * x")
        assert look(notebook.values())[1] == [(Kind.ELSEWHERE, "double"), (Kind.BROKEN, "double")]


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_an_answer_in_a_text_cell(look, notebook, kind):
    notebook["halve"]["cell_type"] = kind
    assert look(notebook.values())[1] == [(Kind.NOT_CODE, "halve")]


def test_code_counts_before_text(look, notebook):
    text = cell(HALVE, "halve", kind="markdown")
    inspection, _ = look([*notebook.values(), text])
    assert inspection.found["halve"].kind == "code"


def test_an_edited_check(look, notebook):
    notebook["test_halve"]["source"] = "pass"
    assert look(notebook.values())[1] == [(Kind.EDITED, "test_halve")]


def test_the_notebook_stays_as_it_was(look, notebook):
    cells = [cell(DOUBLE), *notebook.values()]
    before = repr(cells)
    look(cells)
    assert repr(cells) == before


def test_a_thousand_indented_cells_are_not_one_function(lesson):
    cells = [{"cell_type": "code", "source": "def f():\n  pass"}]
    cells += [{"cell_type": "code", "source": "  x = 1"}] * 1000
    assert len(inspect({"cells": cells}, lesson).cells) > 90
