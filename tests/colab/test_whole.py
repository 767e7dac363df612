"""The Colab edition from top to bottom with Colab's versions, and every widget moved."""

import json
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell

DRIVE = (Path(__file__).parent / "drive.py").read_text(encoding="utf-8")


@pytest.fixture
def done(solved, execute, tmp_path):
    solved.cells.append(new_code_cell(DRIVE, id="drive"))
    return execute(solved, tmp_path)


def test_it_runs_alone_without_package_and_network_and_every_widget_moves(done, complaints):
    assert complaints(done) == []
    report = json.loads(done.cells[-1].outputs[0].text)
    calls = [cell.source for cell in done.cells if cell.cell_type == "code"]
    assert len(report["players"]) == sum("\nplay(" in source for source in calls) > 0
    assert all(each["pictures"] > 5 for each in report["players"])
    quizzes = report["quizzes"]
    asked = [source for source in calls if source.startswith(("predict(", "recall("))]
    assert len(quizzes) >= len(asked) > 10
    assert all(each["replies"][-1].startswith("✓") for each in quizzes)
    ends = [each for each in quizzes if each["end"].startswith("All answered")]
    assert 10 in [sum(reply.startswith("✓") for reply in each["replies"]) for each in ends]
