"""In place of nbgrader's Execute: notebooks built on `attention_lab` run in a sandbox."""

from nbformat import NotebookNode
from nbgrader.preprocessors import Execute

from classroom.grading.exporter import GradingExporter


class SandboxedExecute(Execute):
    """Runs a notebook in the sandbox of the command's `Grading`."""

    def preprocess(self, nb: NotebookNode, resources: dict, km=None) -> tuple[NotebookNode, dict]:
        exporter = self.parent
        if not isinstance(exporter, GradingExporter):
            raise TypeError(
                "SandboxedExecute needs c.Autograde.exporter_class = GradingExporter: "
                "use classroom.configure(c), which sets both"
            )
        exporter.grading.run(nb, resources)
        return nb, resources
