"""What a code host reads is of the form it expects, and true of the repository."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from attention_lab import check

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
FORMS = sorted(GITHUB.glob("ISSUE_TEMPLATE/*-*.yml"))
WORKFLOWS = sorted(GITHUB.glob("workflows/*.yml"))
SCHEMAS = {
    "github-workflows": WORKFLOWS,
    "github-issue-forms": FORMS,
    "github-issue-config": [GITHUB / "ISSUE_TEMPLATE" / "config.yml"],
    "dependabot": [GITHUB / "dependabot.yml"],
    "citation-file-format": [ROOT / "CITATION.cff"],
}


def steps_of(workflow):
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values()
    return [step for job in jobs for step in job["steps"]]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_its_files_have_the_form_it_expects(schema):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    command += ["--default-filetype", "yaml", *SCHEMAS[schema]]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_what_there_is(workflow):
    script = "\n".join(step.get("run", "") for step in steps_of(workflow))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"\bmake (\w+)", script):
        assert f"\n{target}:" in makefile
    extras = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for extra in re.findall(r'"\.\[(\w+)\]"', script):
        assert f"\n{extra} = [" in extras
    for path in re.findall(r"(?:tests|\.ci)/[\w/.]+", script):
        assert (ROOT / path).exists()


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_use_actions_of_a_given_version(workflow):
    used = [step["uses"] for step in steps_of(workflow) if "uses" in step]
    assert used
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@v\d+", each) for each in used)


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_a_form_offers_every_step_of_the_lesson(form):
    [steps] = [
        field["attributes"]["options"]
        for field in yaml.safe_load(form.read_text(encoding="utf-8"))["body"]
        if field.get("id") == "step"
    ]
    assert set(steps) <= {*check.STEPS, "another"}
    assert "MultiHeadAttention" in steps


def test_hooks_before_a_commit_are_the_tools_of_the_tests():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    pinned = (ROOT / "constraints.txt").read_text().splitlines()
    assert hooks
    assert all(tool in pinned for hook in hooks for tool in hook["additional_dependencies"])
