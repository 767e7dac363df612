"""Downloads from an LMS, and nbgrader's command that collects them."""

import zipfile
from pathlib import Path

import pytest
from nbgrader.apps import ZipCollectApp
from said import Said

SETTINGS = "from classroom import configure\n\nc = get_config()\nconfigure(c)\n"
RELEASED = "small.ipynb"


@pytest.fixture
def course(course):
    release = course.root / "release" / "small" / RELEASED
    release.parent.mkdir(parents=True)
    release.write_bytes(course.source().read_bytes())
    (course.root / "nbgrader_config.py").write_text(SETTINGS)
    return course


@pytest.fixture
def download(course):
    """Puts a zip file with these members where nbgrader looks for downloads."""

    def download(members: dict[str, bytes | str], name: str = "submissions.zip") -> Path:
        path = course.root / "downloaded" / "small" / "archive" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path, "w") as opened:
            for member, content in members.items():
                opened.writestr(member, content)
        return path

    return download


@pytest.fixture
def collect(course):
    """Runs `nbgrader zip_collect small`: what was said, and the files by path below submitted/."""

    def collect(*options: str) -> tuple[str, dict[str, str]]:
        app = ZipCollectApp.instance()
        said = Said()
        try:
            app.initialize(["small", *options])
            app.log.addHandler(said)
            app.start()
        finally:
            app.log.removeHandler(said)
            ZipCollectApp.clear_instance()
        folder = course.root / "submitted"
        files = {
            path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
            for path in folder.rglob("*")
            if path.is_file()
        }
        return "\n".join(said.lines), files

    return collect
