import copy
import inspect
import linecache
import time

import pytest
import torch

from attention_lab import check
from attention_lab.check import edits, line
from attention_lab.check.edits import Edit
from attention_lab.check.line import Found, find_line, locate
from attention_lab.observation import Definition

SOFTMAX = """def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores + mask
    return scores.softmax(dim=-2)
"""


def defined(code, step, **given):
    name = f"<cell {hash(code)}>"
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    names = {"__name__": "student", "torch": torch, **given}
    exec(compile(code, name, "exec"), names)
    return names[step], names


def mistake_of(step, answer):
    with pytest.raises(check.Mistake) as caught:
        getattr(check, step)(answer)
    return caught.value


def test_a_message_says_where_and_never_what_to_write():
    answer, _ = defined(f"# a cell\n{SOFTMAX}", "masked_softmax")
    mistake = mistake_of("masked_softmax", answer)
    assert mistake.lines == ((5, "return scores.softmax(dim=-2)"),)
    assert str(mistake).splitlines()[-1] == "  Where: line 5: `return scores.softmax(dim=-2)`"
    assert len(str(mistake).splitlines()) <= 7
    assert "dim=-1" not in mistake.where + mistake.card
    assert "scores.softmax(dim=-2)" in mistake.card


def find(source, rights, out_of_time=lambda: False, groups=None):
    text = source.encode()
    all_of_it = [[Edit("k", n, 0, len(text), new) for n, new in group] for group in groups]
    return find_line(Definition("f", source, 3), rights.__contains__, all_of_it, out_of_time)


@pytest.mark.parametrize(
    ("right", "lines"),
    [
        ("", None),
        ("a", (3,)),
        ("ab", (3, 4)),
        ("abc", None),  # anywhere is nowhere
        ("ad", (3,)),  # what is added is looked for only where nothing can be exchanged
        ("d", (4,)),
    ],
)
def test_lines_are_those_of_the_first_group_that_has_any(right, lines):
    groups = [[(1, "a"), (2, "b"), (3, "c")], [(2, "d")]]
    found = find("x\ny\nz\n", set(right), groups=groups)
    assert (found and tuple(n for n, _ in found.lines)) == lines


def test_nothing_is_found_when_there_is_no_time():
    assert find("x\n", {"a"}, lambda: True, [[(1, "a")]]) is None


@pytest.mark.parametrize(
    "code",
    [
        "    print(open('noted', 'w').write('x'))\n",
        "    global calls\n    calls = 1\n",
        "    while mask is None and scores is None: pass\n",
        "    import os\n    os.environ['NOTED'] = '1'\n",
        "    torch.noted = 1\n",
        "    notes['x'] = 1\n",
        "    exec('1')\n",
    ],
)
def test_code_whose_traces_would_show_is_not_run_again(code):
    source = SOFTMAX.replace("    return", f"{code}    return")
    answer, _ = defined(source, "masked_softmax", notes={}, calls=0)
    assert locate("masked_softmax", answer) is None


def test_the_notebook_is_left_as_it_is():
    source = "def masked_softmax(scores, mask=None):\n    seen.append(1)\n"
    source += SOFTMAX.split("\n", 1)[1].replace("return", "print('again')\n    return")
    answer, names = defined(source, "masked_softmax", seen=[], kept=torch.ones(2))
    before = dict(names)
    torch.manual_seed(3)
    state = torch.get_rng_state()
    found = locate("masked_softmax", answer)
    assert found.lines[0][0] == 6
    assert names == before
    assert names["seen"] == []
    assert names["masked_softmax"] is answer
    assert torch.equal(torch.get_rng_state(), state)


def test_nothing_is_printed(capsys):
    answer, _ = defined(SOFTMAX.replace("return", "print(1)\n    return"), "masked_softmax")
    assert isinstance(locate("masked_softmax", answer), Found)
    assert capsys.readouterr() == ("", "")


def test_code_that_cannot_be_read_has_no_line():
    names = {"torch": torch}
    exec(SOFTMAX, names)
    assert locate("masked_softmax", names["masked_softmax"]) is None


def test_an_interrupted_search_still_lets_the_mistake_be_told(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(line, "find_line", interrupted)
    answer, _ = defined(SOFTMAX, "masked_softmax")
    assert mistake_of("masked_softmax", answer).lines == ()


def test_the_search_ends_in_time():
    code = SOFTMAX.replace("dim=-2", "dim=-2) * (scores.exp().exp() > 9")
    answer, _ = defined(code, "masked_softmax")
    locate("masked_softmax", answer)
    started = time.process_time()
    locate("masked_softmax", answer, clock=time.process_time)
    assert time.process_time() - started < 0.6


def test_a_right_answer_is_not_searched(monkeypatch):
    monkeypatch.setattr(line, "locate", None)
    answer, _ = defined(SOFTMAX.replace("-2", "-1"), "masked_softmax")
    check.masked_softmax(answer)


@pytest.mark.parametrize(
    ("name", "kinds", "kept"),
    [
        ("hard-coded-size", {"number"}, True),
        ("hard-coded-size", {"index dropped"}, True),
        ("hard-coded-size", {"in place"}, False),
        ("gradient-lost", {"call dropped", "axis"}, True),
        ("gradient-lost", {"axis"}, False),
        ("softmax-wrong-dim", {"axis"}, True),
        (None, {"axis"}, True),
    ],
)
def test_a_name_that_the_edit_refutes_is_taken_away(name, kinds, kept):
    mistake = check.Mistake("attend", "value", "seen", "means", "look", name, "card")
    found = Found(((1, "a"),), ((1, "a"), (2, "b")), frozenset(kinds))
    now = line.told(mistake, found)
    assert now.misconception == (name if kept else None)
    assert (now.means == "means") is kept
    assert (now.seen, now.lines) == ("seen", found.lines)
    assert copy.copy(now).where == "line 1: `a`"


def test_of_two_names_that_look_the_same_the_edit_takes_the_one_it_can_mend():
    both = (("dtype-changed", "one", "here"), ("softmax-wrong-dim", "two", "there"))
    mistake = check.Mistake("attend", "value", "", "", "", both[0][0], others=both)
    by_axis, by_call = (
        Found(((1, "a"),), (), frozenset({kind})) for kind in ("axis", "call dropped")
    )
    assert line.told(mistake, by_axis).misconception == "softmax-wrong-dim"
    assert line.told(mistake, by_axis).means == "two"
    assert line.told(mistake, by_call).misconception == "dtype-changed"


def test_what_can_refute_a_name_are_kinds_of_edits():
    text = inspect.getsource(edits)
    assert all(f'"{kind}"' in text for kinds in line.MENDED_BY.values() for kind in kinds)
