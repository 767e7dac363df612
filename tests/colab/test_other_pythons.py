"""What needs no torch, under newer Pythons: Colab's 3.13, and 3.14 as Pyodide has it for browsers.

PyPI's torch for 3.13 is a CUDA build of gigabytes, so it is tried without, and only where an
interpreter is found; the last lines of the run say where none was. Pyodide has no torch.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"
PYODIDE = ROOT / ".venv-pyodide" / "node_modules" / "pyodide" / "pyodide.mjs"
SUITE = "newer Pythons, without torch"
COMPILE = """
import pathlib, sys
for path in pathlib.Path(sys.argv[1], "attention_lab").rglob("*.py"):
    compile(path.read_bytes(), str(path), "exec")
"""
# Neither of these needs more than the standard library.
USE = """
import sys
sys.path.insert(0, sys.argv[1])
import attention_lab
from attention_lab import NotWrittenYet, edition, quiz
files = edition.package_files(edition.Path(sys.argv[1], "attention_lab"))
edition.expect(edition.fingerprint_of(files))
assert "step is not written" in str(NotWrittenYet())
print(quiz.predict("scale"))
card = quiz.recall()
while question := card.quiz.question:
    options = getattr(question, "options", ())  # none where a sentence of one's own is asked for
    card.answer("abcdefgh"[[option.right for option in options].index(True) if options else 0])
assert "torch" not in sys.modules
print(sys.version)
"""


def interpreter(version):
    """A Python of that version on the path or among pyenv's, or None."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [*sorted(pyenv.glob(f"{version}*/bin")), *os.get_exec_path()]
    for place in places:
        found = shutil.which(f"python{version}", path=place)
        if found and not subprocess.run([found, "-c", ""], capture_output=True).returncode:
            return found
    return None


@pytest.mark.parametrize("version", ["3.13", "3.14"])
def test_the_package_compiles_and_what_needs_no_torch_works(version, note):
    python = interpreter(version)
    note(SUITE, "tried" if python else "missing")
    for code in (COMPILE, USE) if python else ():
        done = subprocess.run(
            [python, "-I", "-B", "-W", "error", "-c", code, SRC], capture_output=True, text=True
        )
        assert done.stderr == ""
    assert python is None or done.stdout.splitlines()[-1].startswith(version)


def test_it_does_so_in_the_python_of_browsers():
    if not PYODIDE.exists():
        pytest.fail(".venv-pyodide is missing: `make test` sets it up")
    done = subprocess.run(
        ["node", Path(__file__).with_name("in_pyodide.mjs"), PYODIDE, SRC],
        input=COMPILE + USE, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1].startswith("3.14")
