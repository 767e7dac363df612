"""What can go wrong in any step is explained in every step."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from attention_lab import check
from attention_lab.check import catalogue
from attention_lab.check.catalogue import everywhere
from attention_lab.check.mistake import Mistake

KINDS = Path(__file__).parents[3] / "bank" / "KINDS.md"
ROW = re.compile(r"^\| `([\w-]+)` \| ([\w, ]+) \|", re.MULTILINE)
CODE = re.compile(r"@|\.(transpose|permute|reshape|masked_fill|triu|softmax|matmul)\(")
LISTED = [
    (step, slug)
    for slug, steps in ROW.findall(KINDS.read_text(encoding="utf-8"))
    for step in steps.split(", ")
]
EXPLAINED = [
    *((step, entry) for step in check.STEPS for entry in catalogue.of_step(step)),
    *((step, entry) for step in check.STEPS for entry in everywhere.known),
]


def test_a_step_has_its_own_words_first():
    assert catalogue.explain("causal_mask", "stale-cache").step == "causal_mask"
    assert catalogue.explain("attend", "stale-cache").step == "any step"
    assert catalogue.explain("attend", "no-such-thing") is None


def test_what_has_an_implementation_needs_it_to_be_recognised():
    assert "missing-scale" in [entry.slug for entry in catalogue.of_step("attention_scores")]
    assert catalogue.explain("attention_scores", "missing-scale").slug == "missing-scale"
    assert catalogue.by_signature("attention_scores", "missing-scale") is None
    assert catalogue.by_signature("attend", "gradient-lost").step == "any step"


@pytest.mark.parametrize(("step", "slug"), LISTED)
def test_every_listed_kind_is_explained_in_its_steps(step, slug):
    assert slug in [entry.slug for of, entry in EXPLAINED if of == step]


def test_every_kind_that_is_explained_is_listed():
    listed = {slug for _, slug in LISTED}
    assert {entry.slug for _, entry in EXPLAINED} <= listed


def test_explanations_are_short_and_give_nothing_away():
    for step, entry in EXPLAINED:
        lines = str(Mistake(step, "value", "", entry.means, entry.look)).splitlines()
        assert len(lines) <= 1 + 4, entry.slug  # what was seen has the rest of six
        assert not CODE.search(entry.means + entry.look), entry.slug
        assert all(part[-1] in ".?!:)" for part in (entry.means, entry.look)), entry.slug


def test_spelling(tmp_path):
    texts = tmp_path / "texts.txt"
    told = {text for _, entry in EXPLAINED for text in (entry.means, entry.look)}
    texts.write_text("\n".join(sorted(told)), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "codespell_lib", texts], capture_output=True, text=True
    )
    assert done.stdout == ""
