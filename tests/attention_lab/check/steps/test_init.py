"""The list of steps, and that nobody else knows what stands in it."""

import ast
from pathlib import Path

import pytest

from attention_lab import check
from attention_lab.check import catalogue, steps
from attention_lab.check.lint import lint
from attention_lab.check.probes import probes

PACKAGE = Path(check.__file__).parent
CORE = sorted([*PACKAGE.glob("*.py"), *(PACKAGE.parent / "observation").glob("*.py")])
NAMES = {*steps.names(), "q_proj", "k_proj", "v_proj", "out_proj", "num_heads"}


def words(tree):
    """All names and texts of a module, but for its docstrings."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in docstrings:
            yield node.value
        for field in ("id", "attr", "name", "arg", "module"):
            yield getattr(node, field, None)


@pytest.mark.parametrize("path", CORE, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_core_names_no_step(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not NAMES & {word for word in words(tree) if isinstance(word, str)}


def test_every_file_is_in_the_list():
    files = {path.stem for path in (PACKAGE / "steps").glob("*.py")} - {"__init__"}
    listed = {type(steps.of(name)).__module__.rsplit(".", 1)[1] for name in steps.names()}
    assert files == listed


def test_the_graded_steps_are_those_that_a_lesson_pays_for():
    assert tuple(step.name for step in steps.GRADED) == check.STEPS
    assert len(steps.names()) == len(check.STEPS) + len(steps.EXERCISES)


@pytest.mark.parametrize("name", steps.names())
def test_a_step_is_whole(name):
    step = steps.of(name)
    assert step.name == name
    assert catalogue.of_step(name)
    assert callable(getattr(check, name))
    made = probes(name, 0)
    assert made
    assert lint(made) == []
    for probe in made:
        assert probe.step == name
        assert probe.about
        for call in probe.calls:
            assert len(call.args) <= len(step.takes)
            assert all(
                size > 0 or key == "t" for key, size in step.sizes(call, probe.module).items()
            )


def test_no_step_is_unknown():
    with pytest.raises(ValueError, match="no step 'attention'"):
        steps.of("attention")
