import random

import pytest

import bank
from classroom.class_report.likeness import LONGEST, groups, normal_form

STEPS = (
    "project", "split_heads", "attention_scores", "causal_mask", "masked_softmax", "attend",
    "merge_heads", "MultiHeadAttention",
)  # fmt: skip
RIGHT = {step: [case.CODE for case in bank.load(step, "right")] for step in STEPS}
ANY = {step: [case.CODE for case in bank.load(step)] for step in STEPS}


@pytest.fixture
def draw():
    """Draws one answer to each step."""
    generator = random.Random(0)
    return lambda answers: {step: generator.choice(answers[step]) for step in STEPS}


@pytest.fixture
def everybody(draw):
    """Forty students who chose each answer by themselves."""
    return {f"student-{number:02}": draw(ANY) for number in range(40)}


@pytest.mark.parametrize(
    "other",
    [
        "def f(a, b):\n    c = a @ b\n    return c",
        "def f(x: T, y: T) -> T:\n    '''Words.'''\n    # more\n    z: T = x @ y\n\n    return (z)",
        "def f(y, x):\n    z = y@x; return z",
    ],
)
def test_what_does_not_matter(other):
    assert normal_form(other) == normal_form("def f(x, y):\n    z = x @ y\n    return z")


@pytest.mark.parametrize(
    "other",
    [
        "def f(x, y):\n    z = y @ x\n    return z", "def f(x, y):\n    return x @ y",
        "def g(x, y):\n    z = x @ y\n    return z", "def f(x, y):\n    z = x * y\n    return z",
    ],
)  # fmt: skip
def test_what_matters(other):
    assert normal_form(other) != normal_form("def f(x, y):\n    z = x @ y\n    return z")


def test_names_of_others_matter():
    assert normal_form("def f(x): return x.mT") != normal_form("def f(x): return x.mH")
    assert normal_form("def f(x): return a(x)") != normal_form("def f(x): return b(x)")


@pytest.mark.parametrize(
    "code",
    ["def f(:", "\0", "x = " + "(" * 500, "-" * LONGEST + "1", "x" * (LONGEST + 1), "'\\d'", ""],
)
def test_any_code_has_a_normal_form(code):
    assert isinstance(normal_form(code), str)


def test_independent_answers_make_no_groups(everybody):
    assert groups(everybody) == []


def test_short_answers_that_everybody_writes_make_no_groups():
    canonical = {step: codes[0] for step, codes in RIGHT.items()}
    assert groups({f"student-{number}": canonical for number in range(40)}) == []


def test_copies_are_found_renamed_and_but_for_one_answer(everybody, draw):
    source = everybody["student-05"]
    everybody["student-17"] = {s: f"# mine\n{code}\n" for s, code in source.items()}
    everybody["student-31"] = source | {"attend": "def attend(p, q):\n    return 0"}
    (group,) = groups(everybody)
    assert group.students == ["student-05", "student-17", "student-31"]
    assert group.alike == sorted(set(STEPS) - {"attend"})
    assert set(group.alone) <= set(group.alike)


def test_copies_of_less_than_that_are_not_found(everybody):
    changed = dict.fromkeys(("attend", "project"), "pass")
    everybody["student-17"] = everybody["student-05"] | changed
    assert groups(everybody) == []


def test_two_pairs_are_two_groups(everybody):
    everybody["student-17"] = everybody["student-05"]
    everybody["student-18"] = everybody["student-06"]
    assert [group.students for group in groups(everybody)] == [
        ["student-05", "student-17"], ["student-06", "student-18"]
    ]  # fmt: skip


@pytest.mark.parametrize("size", [0, 1, 2])
def test_tiny_classes_have_no_groups(draw, size):
    answers = draw(ANY)
    assert groups({str(number): answers for number in range(size)}) == []
