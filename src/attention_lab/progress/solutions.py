"""The solutions that the self-learner's edition brings. The classroom's editions bring none."""

import json
from dataclasses import dataclass
from html import escape
from pathlib import Path

FILE = Path(__file__).parents[1] / "solutions.json"


@dataclass(frozen=True)
class Solution:
    """One way to write an exercise: shown open, and folded away with one click."""

    name: str
    code: str

    @property
    def title(self) -> str:
        return f"One way to write {self.name}"

    def __repr__(self):
        return f"{self.title}:\n\n{self.code}"

    def _repr_html_(self):
        return (
            f"<details open><summary>{escape(self.title)}</summary>"
            f"<pre>{escape(self.code)}</pre></details>"
        )


def read_solutions(path: Path = FILE) -> dict[str, Solution]:
    """Every solution by the name of its exercise; none where there is no such file."""
    if not path.is_file():
        return {}
    content = json.loads(path.read_text(encoding="utf-8"))
    return {name: Solution(name, code) for name, code in content.items()}
