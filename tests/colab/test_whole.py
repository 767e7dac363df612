"""The Colab edition from top to bottom with Colab's versions, and every widget moved."""

import json
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell

from classroom.editions.package import PACKAGE, package_files

SRC = Path(__file__).parents[2] / "src"
DRIVE = (Path(__file__).parent / "drive.py").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("content")


@pytest.fixture(scope="module")
def done(solved, execute, folder):
    solved.cells.append(new_code_cell(DRIVE, id="drive"))
    return execute(solved, folder)


def test_it_runs_alone_without_package_and_network(done, complaints):
    assert complaints(done) == []


def test_it_writes_the_package_and_the_solutions(done, folder):
    files = package_files(folder / PACKAGE)
    assert json.loads(files.pop("solutions.json"))["attend"].startswith("def attend(weights, v):")
    assert files.items() <= package_files(SRC / PACKAGE).items()


def test_a_passed_check_shows_the_solution(done):
    shown = [
        cell.id
        for cell in done.cells
        for output in cell.get("outputs", [])
        if "<summary>One way to write " in output.get("data", {}).get("text/html", "")
    ]
    solutions = [cell.id for cell in done.cells if cell.id.startswith("solution-")]
    assert len(shown) == len(solutions) > 8
    assert "test_split_heads_value" in shown


def test_every_widget_moves(done):
    report = json.loads(done.cells[-1].outputs[0].text)
    calls = [cell.source for cell in done.cells if cell.cell_type == "code"]
    assert len(report["players"]) == sum("\nplay(" in source for source in calls) > 0
    assert all(each["pictures"] > 5 for each in report["players"])


def test_every_question_is_a_page_of_its_own(done):
    asked, shown = [], []
    for cell in done.cells:
        if cell.cell_type == "code" and cell.source.startswith(("predict(", "recall(")):
            asked.append(cell.id)
            pages = [output.get("data", {}).get("text/html", "") for output in cell.outputs]
            shown += [cell.id] * any("mountQuiz(" in page for page in pages)
    assert shown == asked
    assert len(asked) > 10
