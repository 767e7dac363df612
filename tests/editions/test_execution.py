"""The classroom's editions are run from top to bottom with no package but their own.

The source has every cell of the release, and the hidden tests as well; it is run as the grader
runs it, without the slow demonstrations. In a browser tests/browser run the release with them, and
the self-learner's edition, which tests/colab run as well.
"""

from nbformat.v4 import new_code_cell

from classroom.editions.package import PACKAGE, copy_package

# What an exercise that is not solved may raise, in one line each.
FRIENDLY = {"NotWrittenYet", "Mistake"}


def complaints(notebook):
    """Everything that a cell wrote to stderr or raised."""
    return [
        (cell.id, output.get("text") or output.get("evalue"))
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "error" or output.get("name") == "stderr"
    ]


# What only demonstrations need; each takes longer to import than a step takes to grade.
COSTLY = ("matplotlib.pyplot", "torch.utils.flop_counter")


def test_the_package_beside_it_is_all_that_grading_needs(
    root, edition, execute, tmp_path, monkeypatch
):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    copy_package(root / "src" / PACKAGE, tmp_path)
    notebook = edition("source")
    code = f"import sys\nprint([name for name in {COSTLY} if name in sys.modules])"
    where = f"import {PACKAGE}\nprint({PACKAGE}.__file__)"
    notebook.cells += [new_code_cell(code, id="imported"), new_code_cell(where, id="where")]
    # No matplotlib of the kernel's own: it loads pyplot by itself where it is asked for pictures.
    monkeypatch.setenv("MPLBACKEND", "agg")
    execute(notebook, tmp_path)
    assert complaints(notebook) == []
    imported, place = (cell.outputs[0].text for cell in notebook.cells[-2:])
    assert imported.strip() == "[]"
    assert place.startswith(str(tmp_path))


def test_run_all_passes_unfinished_steps_with_one_friendly_line_a_cell(
    root, edition, execute, tmp_path
):
    copy_package(root / "src" / PACKAGE, tmp_path)
    notebook = execute(edition("release"), tmp_path)  # as Run All does, which goes on
    errors = [
        (cell.id, output)
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    ]
    graded = [cell.id for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    assert set(graded) <= {cell_id for cell_id, _ in errors}
    assert {error.ename for _, error in errors} <= FRIENDLY
    assert [cell_id for cell_id, error in errors if len(error.traceback) != 1] == []


def test_without_the_package_the_first_cell_says_in_one_line_what_to_do(edition, execute, tmp_path):
    notebook = edition("release")
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code"][:1]
    execute(notebook, tmp_path, allow_errors=True)
    (error,) = (output for output in notebook.cells[0].outputs if output.output_type == "error")
    assert error.ename in ("ImportError", "ModuleNotFoundError")
    assert PACKAGE in error.evalue
    assert "\n" not in error.evalue
