"""In place of nbgrader's Execute: notebooks built on `attention_lab` run in a sandbox."""

from nbformat import NotebookNode
from nbgrader.preprocessors import Execute

from classroom.course import uses_attention_lab
from classroom.grading.exporter import GradingExporter


class SandboxedExecute(Execute):
    """Runs a notebook in the sandbox of the command's `Grading`; other assignments as ever."""

    def preprocess(self, nb: NotebookNode, resources: dict, km=None) -> tuple[NotebookNode, dict]:
        exporter = self.parent
        if not isinstance(exporter, GradingExporter):
            raise TypeError(
                "SandboxedExecute needs c.Autograde.exporter_class = GradingExporter: "
                "use classroom.configure(c), which sets both"
            )
        assignment = resources["nbgrader"]["assignment"]
        if not uses_attention_lab(exporter.parent.coursedir, assignment):
            return super().preprocess(nb, resources, km)
        exporter.grading.run(nb, resources)
        return nb, resources
