"""nbgrader's own tests, which its wheel brings, with our settings in force: the result is the same.

A test that fails is run again, since some go by the clock; if it fails again, it has to fail
without our settings as well.
"""

import os
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from xml.etree import ElementTree

import nbgrader
import pytest

HERE = Path(__file__).parent
NBGRADERS = Path(nbgrader.__file__).parent / "tests"

# The modules to run, each with how many of its tests pass at least.
MODULES = {
    "apps.test_nbgrader_autograde": 38,
    "apps.test_nbgrader_export": 2,
    "apps.test_nbgrader_generate_assignment": 31,
    "apps.test_nbgrader_generate_feedback": 15,
    "apps.test_nbgrader_zip_collect": 26,
    "preprocessors.test_checkcellmetadata": 9,
    "preprocessors.test_clearsolutions": 18,
}
# What is not run, and why not.
OTHERS = {
    "the exchange, of which nothing is set": (
        "apps.test_nbgrader_collect",
        "apps.test_nbgrader_fetch_assignment",
        "apps.test_nbgrader_fetchfeedback",
        "apps.test_nbgrader_list",
        "apps.test_nbgrader_releaseassignment",
        "apps.test_nbgrader_releasefeedback",
        "apps.test_nbgrader_submit",
    ),
    "commands of which nothing is set": (
        "apps.test_config",
        "apps.test_nbgrader",
        "apps.test_nbgrader_db",
        "apps.test_nbgrader_formgrade",
        "apps.test_nbgrader_generate_config",
        "apps.test_nbgrader_generate_solution",
        "apps.test_nbgrader_quickstart",
        "apps.test_nbgrader_update",
        "apps.test_nbgrader_validate",
    ),
    "reads no settings": ("apps.test_api",),
    "passes that other assignments meet as they are": (
        "preprocessors.test_clearhiddentests",
        "preprocessors.test_clearmarkscheme",
        "preprocessors.test_computechecksums",
        "preprocessors.test_deduplicateids",
        "preprocessors.test_getgrades",
        "preprocessors.test_headerfooter",
        "preprocessors.test_ignorepattern",
        "preprocessors.test_instantiatetests",
        "preprocessors.test_limitoutput",
        "preprocessors.test_lockcells",
        "preprocessors.test_overwritecells",
        "preprocessors.test_overwritekernelspec",
        "preprocessors.test_saveautogrades",
        "preprocessors.test_savecells",
    ),
}


def run(
    module: str, folder: Path, configured: bool, only: Collection[str] = ()
) -> tuple[set[str], set[str]]:
    """The names of the tests of a module that passed, and of those that failed."""
    report, settings = folder / "report.xml", folder / "settings"
    settings.mkdir(exist_ok=True)
    environment = os.environ | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(HERE),
        "JUPYTER_CONFIG_DIR": str(settings),
        "JUPYTER_CONFIG_PATH": str(HERE / "configured") if configured else "",
        "CONFIGURED": "yes" * configured,
        "ONLY": "\n".join(only),
    }
    options = ["-q", "-p", "among_nbgraders", "-p", "no:cacheprovider", "-p", "no:xdist"]
    places = ["-c", os.devnull, "--rootdir", str(folder), f"--junitxml={report}"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *places, "--pyargs", f"nbgrader.tests.{module}"],
        cwd=folder, env=environment, check=False, text=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stdout
    passed, failed = set(), set()
    for case in ElementTree.parse(report).iter("testcase"):
        outcomes = {child.tag for child in case}
        if not outcomes & {"skipped"}:
            (failed if outcomes & {"failure", "error"} else passed).add(case.get("name"))
    return passed, failed


@pytest.mark.parametrize("module", MODULES)
def test_the_result_is_that_without_us(module, tmp_path):
    passed, failed = run(module, tmp_path, configured=True)
    assert len(passed | failed) >= MODULES[module]
    if failed:
        _, failed = run(module, tmp_path, configured=True, only=failed)
    if failed:
        passed_without, _ = run(module, tmp_path, configured=False, only=failed)
        assert not passed_without


def test_every_module_is_run_or_has_its_reason():
    found = {
        f"{folder}.{path.stem}"
        for folder in ("apps", "preprocessors")
        for path in (NBGRADERS / folder).glob("test_*.py")
    }
    named = [*MODULES, *(name for names in OTHERS.values() for name in names)]
    assert sorted(named) == sorted(found)
