"""What can be downloaded works where nothing else of the course is."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from classroom import distribution
from classroom.editions.package import PACKAGE, package_files

ROOT = Path(__file__).parents[2]
FIRST_CELLS = """
import json, os
os.environ["MPLBACKEND"] = "agg"
cells = json.load(open("multi_head_attention.ipynb", encoding="utf-8"))["cells"]
setup = next(cell for cell in cells if "setup" in cell["metadata"].get("tags", []))
exec("".join(setup["source"]), names := {})
print(names["check"].__file__)
"""
SHOW = """
import numpy
from attention_lab import show_heads
print(show_heads(numpy.eye(3)[None, None])._repr_mimebundle_()["text/plain"])
"""


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """The folder dist/ of a clone of the course."""
    clone = tmp_path_factory.mktemp("course") / "clone"
    ignore = shutil.ignore_patterns(".venv*", ".git", "__pycache__", "work", "submitted", "tests")
    shutil.copytree(ROOT, clone, ignore=ignore)
    command = [sys.executable, "-m", "classroom.distribution"]
    environment = os.environ | {"PYTHONPATH": str(clone / "src")}
    subprocess.run(command, cwd=clone, env=environment, check=True, capture_output=True)
    return clone / "dist"


@pytest.fixture
def python(tmp_path):
    """A new environment that has the packages of this one, but nothing of the course."""
    environment = tmp_path / "environment"
    venv.create(environment, symlinks=os.name != "nt")
    scripts = "Scripts" if os.name == "nt" else "bin"
    folder = tmp_path / "empty"
    folder.mkdir()

    def python(*arguments):
        return subprocess.check_output(
            [environment / scripts / "python", *arguments],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": sysconfig.get_path("purelib")},
            text=True,
        ).strip()

    python.folder = folder
    return python


def test_it_is_all_there(dist):
    names = sorted(path.name for path in dist.iterdir())
    version = names[0].split("-")[1]
    assert names == [
        f"attention_lab-{version}-py3-none-any.whl",
        f"attention_lab-{version.removesuffix('.tar.gz')}.tar.gz",
        "mha.zip",
        "multi_head_attention.ipynb",
    ]


def test_the_zip_is_the_whole_student_version(dist, python):
    with ZipFile(dist / "mha.zip") as zipped:
        zipped.extractall(python.folder)
    python.folder = python.folder / "mha"
    script = ["-c", f"import os; os.chdir('mha')\n{FIRST_CELLS}"]
    assert python(*script) == str(python.folder / PACKAGE / "check" / "__init__.py")


@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"])
def test_the_package_is_installed_alone(dist, python, kind):
    [file] = dist.glob(kind)
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", str(file)]
    python(*install)
    shown = python("-c", SHOW)
    assert "1 head" in shown
    with pytest.raises(subprocess.CalledProcessError):
        python("-c", "import classroom")


def test_equal_contents_make_equal_zips(tmp_path):
    for root in (tmp_path / "a", tmp_path / "b"):
        (root / "release" / "ps").mkdir(parents=True)
        (root / "dist").mkdir()
        (root / "release" / "ps" / "lesson.ipynb").write_text("{}")
    first, second = (distribution.zips(tmp_path / name) for name in "ab")
    assert first[0].read_bytes() == second[0].read_bytes()


def test_the_package_has_every_file(dist):
    [wheel] = dist.glob("*.whl")
    with ZipFile(wheel) as zipped:
        inside = {name for name in zipped.namelist() if name.startswith(PACKAGE + "/")}
    assert inside == {f"{PACKAGE}/{name}" for name in package_files(ROOT / "src" / PACKAGE)}
