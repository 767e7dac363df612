"""A course of its own: one tiny lesson that uses every convention, and a tiny package."""

import shutil
from pathlib import Path

import pytest

from attention_lab import edition
from classroom.editions.lesson import Lesson, read_lesson

LESSONS = Path(__file__).parent / "lessons"

PACKAGE = {
    "__init__.py": b'"""Tiny."""\n\n\nclass NotWrittenYet(NotImplementedError):\n    """No."""\n',
    "edition.py": Path(edition.__file__).read_bytes(),
    "look/__init__.py": b'"""Looking."""\n',
    "look/look.css": "/* ’ */ .head { color: navy }\n".encode(),
}


@pytest.fixture
def lesson() -> Lesson:
    return read_lesson(LESSONS / "tiny.py")


@pytest.fixture
def package() -> dict[str, bytes]:
    return dict(PACKAGE)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """The root of a course that has the lesson, the package and no editions yet."""
    shutil.copytree(LESSONS, tmp_path / "lessons")
    for name, content in PACKAGE.items():
        path = tmp_path / "src" / "attention_lab" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (tmp_path / "pyproject.toml").write_text('[tool.classroom]\ngithub = ""\n')
    return tmp_path
