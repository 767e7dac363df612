"""`attention-lab`: the course's commands, the same on every system; `make` only calls them."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

RELEASE = Path("release")
OWN = Path("work")  # a learner's own copies, which nothing here overwrites
COMMANDS = {
    "grade": "classroom.grade",
    "build": "classroom.editions.__main__",
    "release": "classroom.distribution",
}
USAGE = """\
attention-lab [COMMAND] [OPTIONS], in the folder of the course

  lab      open your own copy of the lesson in JupyterLab; also without a command
  grade    grade what lies in submitted/, or else the sample class
  build    write the three editions, from lessons/
  release  write what can be downloaded into dist/

`attention-lab COMMAND --help` says more about all but the first, whose options are JupyterLab's."""
NOT_INSTALLED = """\
{} is not installed. In the folder of the course, with the Python of its environment, run
  python -m pip install --editable ".[ta]" """
NOT_HERE = """\
There is no folder release/ here. Change into the folder of the course, the one with README.md."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command; return its exit status."""
    name, *options = (sys.argv[1:] if arguments is None else arguments) or ["lab"]
    if name == "lab":
        return lab(options)
    if name in COMMANDS:
        try:
            command = import_module(COMMANDS[name])
        except ModuleNotFoundError as missing:  # which a learner does without
            print(NOT_INSTALLED.format(missing.name), file=sys.stderr)
            return 2
        return command.main(options)
    asked = name in ("-h", "--help")
    print(USAGE, file=sys.stdout if asked else sys.stderr)
    return 0 if asked else 2


def lab(options: list[str]) -> int:
    """Open one's own copy of the lesson in JupyterLab."""
    lessons = sorted(RELEASE.glob("*/*.ipynb"))
    if not lessons:
        print(NOT_HERE, file=sys.stderr)
        return 2
    copies = [own_copy(lesson) for lesson in lessons]
    try:
        return subprocess.run([sys.executable, "-m", "jupyterlab", copies[0], *options]).returncode
    except KeyboardInterrupt:  # JupyterLab has heard it, too, and ends by itself
        return 0


def own_copy(lesson: Path) -> Path:
    """A learner's own copy of a released lesson: the one that is there, or else a new one."""
    copy = OWN / lesson.name
    if not copy.exists():
        OWN.mkdir(exist_ok=True)
        copy.write_bytes(lesson.read_bytes())
    return copy


if __name__ == "__main__":
    sys.exit(main())
