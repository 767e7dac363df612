import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.preprocessors import ClearSolutions

from attention_lab import NotWrittenYet
from classroom.stub import CODE_STUB, WriteStubs

SOLUTION = "def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION"


def test_the_stub_is_what_checks_know_as_not_written_yet():
    with pytest.raises(NotWrittenYet):
        exec(CODE_STUB["python"], {"NotWrittenYet": NotWrittenYet})


def released(kind, head, language="python"):
    """The texts of a notebook's cells after a pass: one of set-up, then two solutions."""
    solution = {"grade_id": "f", "solution": True, "grade": False}
    cells = [
        head,
        new_code_cell(SOLUTION, metadata={"nbgrader": solution}),
        new_code_cell("f = 1", metadata={"nbgrader": solution}),
    ]
    kernel = {"name": "any", "display_name": "Any", "language": language}
    nb = new_notebook(cells=cells, metadata={"kernelspec": kernel})
    return [cell.source for cell in kind.preprocess(nb, {})[0].cells[1:]]


def test_notebooks_that_know_the_name_get_it():
    head = new_code_cell("from attention_lab import NotWrittenYet, check")
    for text in released(WriteStubs(), head):
        assert text.splitlines()[-1].strip() == "raise NotWrittenYet"


@pytest.mark.parametrize(
    ("head", "language"),
    [
        (new_code_cell("import statistics"), "python"),
        (new_code_cell("import attention_lab"), "python"),
        (new_markdown_cell("from attention_lab import NotWrittenYet"), "python"),
        (new_code_cell("library(stats)"), "R"),
        (new_code_cell("x = 1;"), "octave"),
    ],
)
def test_others_are_released_by_nbgraders_rules(head, language):
    ours = WriteStubs()
    released(ours, new_code_cell("from attention_lab import NotWrittenYet"))
    assert released(ours, head, language) == released(ClearSolutions(), head, language)


def test_a_language_that_nbgrader_does_not_know_is_refused_as_it_does():
    with pytest.raises(ValueError, match="language 'julia' has not been specified"):
        released(WriteStubs(), new_code_cell("using Test"), "julia")
