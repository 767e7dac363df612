"""environment.yml, for conda users, asks for what pyproject.toml asks for."""

import tomllib
from importlib.metadata import distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
CONDA_NAMES = {"torch": "pytorch", "matplotlib": "matplotlib-base", "build": "python-build"}
CONDA_ONLY = {"python", "pip"}


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def wanted():
    """What learners and TAs need, by conda's names."""
    extras = project()["optional-dependencies"]
    requirements = map(Requirement, [*project()["dependencies"], *extras["lab"], *extras["ta"]])
    return {
        CONDA_NAMES.get(r.name, r.name): r.specifier
        for r in requirements
        if r.name != project()["name"]
    }


def offered():
    lines = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pairs = [(*line.split(" ", 1), "")[:2] for line in lines if isinstance(line, str)]
    return {name: SpecifierSet(bounds) for name, bounds in pairs}


def test_the_same_packages_with_the_same_bounds():
    conda = offered()
    assert {name: bounds for name, bounds in conda.items() if name not in CONDA_ONLY} == wanted()
    assert conda["python"] == SpecifierSet(project()["requires-python"])


def test_the_package_itself_is_installed_by_pip():
    (by_pip,) = [
        line["pip"]
        for line in yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
        if isinstance(line, dict)
    ]
    assert by_pip == ["--editable ."]


def known_good():
    """The versions of constraints.txt, by their packages' canonical names."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = (line.split("==") for line in lines if not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pins}


@pytest.mark.parametrize("name", sorted(wanted()))
def test_the_known_good_version_is_within_the_bounds(name):
    pinned = {CONDA_NAMES.get(name, name): version for name, version in known_good().items()}
    assert wanted()[name].contains(pinned[name])


def test_the_known_good_versions_are_for_the_oldest_python():
    oldest = project()["requires-python"].removeprefix(">=") + ".0"
    pinned = known_good().items()
    installed = [
        each for each in distributions() if (canonicalize_name(each.name), each.version) in pinned
    ]
    assert len(installed) > 50
    asked = {each.name: each.metadata.get("Requires-Python", "") for each in installed}
    assert [name for name in asked if not SpecifierSet(asked[name]).contains(oldest)] == []
