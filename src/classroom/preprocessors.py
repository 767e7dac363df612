"""What is done to a submission besides nbgrader's own passes.

Their order stands in `classroom.config`.
"""

import shutil
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution


class CoursePreprocessor(NbGraderPreprocessor):
    """A pass for assignments built on `attention_lab`; see `classroom.neighbours`."""


class UseCourseCode(CoursePreprocessor):
    """Removes `attention_lab` from the folder where a submission runs.

    The code imported there is then the one installed beside `classroom`, whatever was handed in.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        folder = Path(resources["metadata"]["path"])
        for copy in [folder / "attention_lab", *folder.glob("attention_lab.*")]:
            if copy.is_dir() and not copy.is_symlink():
                shutil.rmtree(copy)
            else:
                copy.unlink(missing_ok=True)
        return nb, resources


class OnlyErrorsCount(CoursePreprocessor):
    """Leaves an error as the one thing that costs a graded cell its points.

    nbgrader also takes anything on stderr for a failure, and a displayed number for the points.
    """

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict, index: int
    ) -> tuple[NotebookNode, dict]:
        if is_grade(cell) and not is_solution(cell) and cell.cell_type == "code":
            for output in cell.outputs:
                if output.output_type == "stream":
                    output.name = "stdout"
                elif output.output_type == "execute_result":
                    output.output_type = "display_data"
                    del output["execution_count"]
        return cell, resources
