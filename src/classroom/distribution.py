"""`python -m classroom.distribution`: write what can be downloaded into dist/.

    mha.zip                      the student version of an assignment, for an LMS
    multi_head_attention.ipynb   a lesson's edition for Google Colab
    attention_lab-*              the learner's package alone, as a wheel and as its source

It builds the editions first, so that all of it is of one day.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from classroom import editions
from classroom.editions.package import PACKAGE, copy_package, package_files

DIST = Path("dist")
LAST_CHANGE = (2026, 1, 1, 0, 0, 0)  # one for all files: equal contents make equal archives
README = """\
# attention-lab

Heatmaps of attention weights and step-by-step checks, from the course *Multi-head attention from
scratch*.

```python
from attention_lab import show_heads

show_heads(weights, tokens)  # (H, T, S) or (B, H, T, S), torch or numpy
```
"""
PYPROJECT = """\
[build-system]
requires = {requires}
build-backend = "{backend}"

[project]
name = "attention-lab"
version = "{version}"
description = "{description}"
readme = "README.md"
license = "{license}"
requires-python = "{python}"
dependencies = {dependencies}

[project.optional-dependencies]
lab = {lab}

[tool.hatch.build.targets.wheel]
packages = ["{package}"]
"""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    argparse.ArgumentParser(
        prog="attention-lab release", description="Write what can be downloaded into dist/."
    ).parse_args(arguments)
    root = Path()
    try:
        editions.write(root, editions.build(root))
    except editions.LessonError as error:
        print(error, file=sys.stderr)
        return 1
    editions.place_package(root)
    shutil.rmtree(root / DIST, ignore_errors=True)
    (root / DIST).mkdir()
    for path in [*zips(root), *colab_editions(root), *distributions(root)]:
        print(path)
    return 0


def zips(root: Path) -> list[Path]:
    """Write a zip for each assignment: a folder with all that a student needs."""
    return [_zipped(folder, root / DIST) for folder in sorted(root.glob("release/*/"))]


def _zipped(folder, to):
    archive = to / f"{folder.name}.zip"
    with ZipFile(archive, "w", ZIP_DEFLATED) as zipped:
        for name, content in package_files(folder).items():
            zipped.writestr(ZipInfo(f"{folder.name}/{name}", LAST_CHANGE), content, ZIP_DEFLATED)
    return archive


def colab_editions(root: Path) -> list[Path]:
    """Copy every lesson's notebook for Google Colab."""
    notebooks = sorted(root.glob("notebooks/*.ipynb"))
    return [Path(shutil.copy(notebook, root / DIST)) for notebook in notebooks]


def distributions(root: Path) -> list[Path]:
    """Build a wheel and a source distribution of the learner's package, without `classroom`."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        copy_package(root / "src" / PACKAGE, project)
        shutil.copy(root / "LICENSE", project)
        (project / "README.md").write_text(README, encoding="utf-8")
        (project / "pyproject.toml").write_text(learners_pyproject(root), encoding="utf-8")
        command = [sys.executable, "-m", "build", "--no-isolation", f"--outdir={root / DIST}"]
        subprocess.run([*command, folder], check=True, stdout=subprocess.DEVNULL)
    return sorted((root / DIST).glob(f"{PACKAGE}-*"))


def learners_pyproject(root: Path) -> str:
    """The course's pyproject.toml cut down to what a learner needs."""
    course = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    project, system = course["project"], course["build-system"]
    return PYPROJECT.format(
        requires=json.dumps(system["requires"]),
        backend=system["build-backend"],
        version=project["version"],
        description=project["description"],
        license=project["license"],
        python=project["requires-python"],
        dependencies=json.dumps(project["dependencies"], indent=4),
        lab=json.dumps(project["optional-dependencies"]["lab"], indent=4),
        package=PACKAGE,
    )


if __name__ == "__main__":
    sys.exit(main())
