"""What stands in place of a solution in the notebook that is released."""

from nbformat import NotebookNode
from nbgrader.preprocessors import ClearSolutions

from attention_lab.handin import code

STUB = "raise NotWrittenYet"
CODE_STUB = {"python": f"# YOUR CODE HERE\n{STUB}"}


class WriteStubs(ClearSolutions):
    """Clears solutions; a notebook that imports `NotWrittenYet` raises that in their place."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        nbgraders = self.code_stub
        if any(cell.cell_type == "code" and _knows(cell.source) for cell in nb.cells):
            self.code_stub = nbgraders | CODE_STUB
        try:
            return super().preprocess(nb, resources)
        finally:
            self.code_stub = nbgraders


def _knows(source):
    return code.defines(source, "NotWrittenYet")
