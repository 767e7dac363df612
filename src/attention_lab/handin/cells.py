"""The cells of a notebook that may be damaged, read as far as they can be."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """A cell as it was handed in.

    indices: where it stands in the notebook; several if it was split and is joined again here.
    kind: "code", "markdown" or "raw". grade_id: nbgrader's, or None. ids: the names it goes by:
    nbformat's id, and the one in the metadata, where Colab keeps it.
    """

    indices: tuple[int, ...]
    kind: str
    source: str
    grade_id: str | None = None
    ids: frozenset[str] = frozenset()

    @property
    def index(self) -> int:
        return self.indices[0]

    def is_called(self, name: str) -> bool:
        return self.grade_id == name or name in self.ids


def read_cells(notebook: dict) -> list[Cell]:
    """The cells of a notebook in nbformat 4 JSON. What is no cell is left out."""
    cells = notebook.get("cells")
    found = enumerate(cells if isinstance(cells, list) else [])
    return [_read(index, cell) for index, cell in found if isinstance(cell, dict)]


def text_of(cell: dict) -> str:
    """A cell's source, which JSON may hold as a list of lines."""
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(map(str, source))
    return source if isinstance(source, str) else ""


def _read(index, cell):
    metadata = _dict(cell.get("metadata"))
    grade_id = _dict(metadata.get("nbgrader")).get("grade_id")
    return Cell(
        (index,),
        str(cell.get("cell_type")),
        text_of(cell),
        grade_id if isinstance(grade_id, str) else None,
        frozenset(name for name in (cell.get("id"), metadata.get("id")) if isinstance(name, str)),
    )


def _dict(value):
    return value if isinstance(value, dict) else {}
