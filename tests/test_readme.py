"""What README.md says is true: its commands run, its files are there."""

import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.error import URLError

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
COMMANDS = [line for language, text in BLOCKS if language == "sh" for line in text.splitlines()]
LINKS = re.findall(r"\]\((?!https:)([^)]+)\)", README)
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


@pytest.mark.parametrize("target", ["lab", "grade", "build", "release", "test", "bench"])
def test_every_target_of_make_sets_itself_up(target):
    plan = subprocess.run(
        ["make", "--always-make", "--dry-run", target],
        cwd=ROOT, check=True, text=True, capture_output=True,
    ).stdout  # fmt: skip
    assert "-m venv .venv" in plan
    assert "constraints.txt > .venv/constraints.txt" in plan
    assert ("apt-get install -qq" in plan) is (target in ("grade", "test", "bench"))


@pytest.mark.parametrize("link", LINKS)
def test_its_links_lead_somewhere(link):
    assert (ROOT / link).is_file()


@pytest.mark.parametrize("name", TOP_LEVEL)
def test_the_top_level_is_as_described(name):
    assert (ROOT / name).exists()


def test_every_picture_has_words():
    pictures = re.findall(r"!\[([^\]]*)\]", README)
    assert all(len(words) > 40 for words in pictures if words != "Open in Colab")


def test_a_course_takes_the_grading_in_two_lines(tmp_path):
    (lines,) = (text for language, text in BLOCKS if language == "python")
    script = "from traitlets.config import get_config\nc = get_config()\n" + lines
    subprocess.run([sys.executable, "-c", script + "assert c.Autograde"], check=True, cwd=tmp_path)


@pytest.fixture
def clone(tmp_path):
    """A fresh clone that uses this environment instead of making its own."""
    subprocess.run(["git", "clone", "--quiet", ROOT, tmp_path / "clone"], check=True)
    (tmp_path / "clone" / ".venv" / "bin").mkdir(parents=True)
    program = tmp_path / "clone" / ".venv" / "bin" / "attention-lab"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m classroom.command "$@"\n')
    program.chmod(0o755)
    return tmp_path / "clone"


def served(address):
    """Whether a server that is starting answers within five minutes."""
    for _ in range(600):
        try:
            with urllib.request.urlopen(address) as answer:
                return answer.status == 200
        except URLError:
            time.sleep(0.5)
    return False


def test_make_lab_opens_an_own_copy_and_never_overwrites_it(clone, tmp_path):
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "jupyter_server_config.json").write_text(
        '{"ServerApp": {"allow_root": true, "open_browser": false, "ip": "127.0.0.1"},'
        ' "IdentityProvider": {"token": "known"}}'
    )
    own = clone / "work" / "multi_head_attention.ipynb"
    own.parent.mkdir()
    own.write_text("my answers")
    lab = subprocess.Popen(
        ["make", "lab", "--assume-old=.venv/.lab"],
        cwd=clone, env=os.environ | {"JUPYTER_CONFIG_DIR": str(tmp_path / "config")},
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    try:
        lines = iter(lab.stdout.readline, "")
        address = next(found[0] for line in lines if (found := re.findall(r"http://127\S+", line)))
        port = re.search(r":(\d+)/lab", address)[1]
        assert served(f"http://127.0.0.1:{port}/api/contents/{own.name}?content=0&token=known")
    finally:
        os.killpg(lab.pid, signal.SIGTERM)
        lab.wait(300)
        lab.stdout.close()
    assert own.read_text() == "my answers"
