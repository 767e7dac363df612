"""What README.md says is true: its commands run, its files are there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
COMMANDS = [line for language, text in BLOCKS if language == "sh" for line in text.splitlines()]
LINKS = re.findall(r"\]\(([^)]+)\)", README)
TOP_LEVEL = (
    "notebooks", "source", "release", "autograded", "nbgrader_config.py", "environment.yml",
)  # fmt: skip


def test_its_commands_are_these():
    assert COMMANDS == [
        "make lab",
        "make grade",
        ".venv/bin/nbgrader autograde mha",
        ".venv/bin/nbgrader generate_feedback mha",
    ]


@pytest.mark.parametrize("target", ["lab", "grade", "test", "build", "bench"])
def test_every_target_of_make_sets_itself_up(target):
    plan = subprocess.run(
        ["make", "--always-make", "--dry-run", target],
        cwd=ROOT, check=True, text=True, capture_output=True,
    ).stdout  # fmt: skip
    assert "-m venv .venv" in plan
    assert "--constraint constraints.txt" in plan
    assert ("apt-get" in plan) is (target not in ("lab", "build"))


@pytest.mark.parametrize("link", LINKS)
def test_its_links_lead_somewhere(link):
    assert (ROOT / link).is_file()


@pytest.mark.parametrize("name", TOP_LEVEL)
def test_the_top_level_is_as_described(name):
    assert (ROOT / name).exists()


def test_every_picture_has_words():
    assert all(len(words) > 40 for words in re.findall(r"!\[([^\]]*)\]", README))


def test_a_course_takes_the_grading_in_two_lines(tmp_path):
    (lines,) = (text for language, text in BLOCKS if language == "python")
    script = "from traitlets.config import get_config\nc = get_config()\n" + lines
    subprocess.run([sys.executable, "-c", script + "assert c.Autograde"], check=True, cwd=tmp_path)
