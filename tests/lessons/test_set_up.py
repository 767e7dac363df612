"""The cell of imports, where a frontend starts its kernel somewhere else."""

import shutil
import subprocess
import sys

import pytest

from .conftest import LESSONS

WHERE = "\nimport attention_lab\nprint(os.getcwd(), attention_lab.__file__, sep='\\n')"


@pytest.mark.parametrize("told", [True, False])
def test_it_finds_the_package_beside_the_notebook_where_vs_code_tells_it(told, cells, tmp_path):
    package = LESSONS.parent / "src" / "attention_lab"
    folder = tmp_path / "mha"
    shutil.copytree(package, folder / "attention_lab", ignore=shutil.ignore_patterns("__pycache__"))
    notebook = folder / "multi_head_attention.ipynb"
    tells = f"__vsc_ipynb_file__ = {str(notebook)!r}\n" if told else ""
    started = tmp_path if told else folder
    done = subprocess.run(
        [sys.executable, "-c", tells + cells["setup"].source + WHERE],
        cwd=started, capture_output=True, text=True, check=True,
    )  # fmt: skip
    where, found = done.stdout.splitlines()
    assert where == str(folder)
    assert found == str(folder / "attention_lab" / "__init__.py")


def test_a_folder_of_another_machine_is_left_alone(cells, tmp_path):
    tells = "__vsc_ipynb_file__ = '/not/on/this/machine/a.ipynb'\n"
    done = subprocess.run(
        [sys.executable, "-c", tells + cells["setup"].source + WHERE],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith(f"{tmp_path}\n")
