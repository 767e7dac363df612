"""Where a wrong answer is wrong: the line on which one small edit makes every trial right."""

import time
from collections.abc import Callable, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

import torch

from attention_lab.check import run, steps
from attention_lab.check.card import code
from attention_lab.check.edits import Edit, edits
from attention_lab.check.judge import Symptom, judge
from attention_lab.check.mistake import Mistake, is_in_notebook
from attention_lab.check.probes import probes as probes_of
from attention_lab.check.references import expect
from attention_lab.observation import (
    Definition,
    Observation,
    RemoteAnswer,
    Surroundings,
    can_be_tried,
    decode,
    definition_of,
)
from attention_lab.observation.neutral import neutral_torch
from attention_lab.observation.observe import quiet

SECONDS = {"function": 0.5, "class": 1.3}  # after which a trial that has begun is finished
LONGER = 2  # as long in another process: workers of a grader share the cores
NOTICED = 0.25
MOST_LINES = 2
# Names that say what stands in the code, and the kinds of edits that change such a thing.
# What drops a whole statement drops whatever is wrong in it, and so refutes no name.
WHOLE = {"statement dropped", "condition dropped"}
MENDED_BY = {
    "contiguous-only": {"name", "copy", "order", "axes", "call dropped"},
    "missing-contiguous": {"name", "copy", "order", "axes", "call dropped"},
    "dtype-changed": {"name", "call dropped", "argument dropped", "argument put in"},
    "gradient-lost": {"name", "call dropped", "with dropped", "decorator dropped", "in place"},
    "hard-coded-size": {
        "name",
        "number",
        "axis",
        "size",
        "order",
        "operator",
        "comparison",
        "index dropped",
    },
    "operator-precedence": {"brackets", "number", "operator", "root", "operand dropped"},
    "uses-notebook-globals": {"name", "number", "size", "order", "call dropped"},
}
UNNAMED = (
    "one small change in the line below makes every trial right.",
    "read that line one name, one number and one sign at a time.",
)
SAID_ALREADY = ("library", "loop")
BACKWARD = ("gradient", "gradient error", "gradient missing", "gradient nan")


@dataclass(frozen=True)
class Found:
    """Where one small edit makes an answer right.

    lines: the number of each line in its cell, and what stands there. kinds: those of the edits.
    around: the same for the lines beside them.
    """

    lines: tuple[tuple[int, str], ...]
    around: tuple[tuple[int, str], ...]
    kinds: frozenset[str]

    def moved(self, by: int) -> "Found":
        """The same that many lines further down."""
        lines, around = (
            tuple((number + by, text) for number, text in some)
            for some in (self.lines, self.around)
        )
        return replace(self, lines=lines, around=around)


def find_line(
    definition: Definition,
    is_right: Callable[[str], bool],
    groups: Iterable[list[Edit]],
    out_of_time: Callable[[], bool],
) -> Found | None:
    """Try edits on a definition, group by group, and return where those of the first group with
    any that makes it right are; None where there are none, or on too many lines.

    A group that could not be tried whole tells of one line only if it was found before.
    """
    source = definition.text.encode()
    tried, found = set(), []
    for group in groups:
        for edit in group:
            if out_of_time():
                break
            text = edit.applied_to(source)
            if text not in tried:
                tried.add(text)
                if is_right(text.decode()):
                    found.append(edit)
        if found or out_of_time():
            break
    numbers = sorted({edit.line for edit in found})
    if not 0 < len(numbers) <= MOST_LINES:
        return None
    texts = [(definition.first + n, line) for n, line in enumerate(definition.text.splitlines())]
    lines = tuple((n, line.strip()) for n, line in (texts[number - 1] for number in numbers))
    around = tuple(texts[max(0, numbers[0] - 2) : numbers[-1] + 1])
    return Found(lines, around, frozenset(edit.kind for edit in found))


def with_line(step, answer, mistake, *, hidden=False):
    """Return the Mistake that an answer shows, with the line to look at where one is found."""
    if not mistake.means or isinstance(answer, RemoteAnswer):  # unwritten, or not open to that
        return mistake
    notice = Notice()
    found = locate(step, answer, hidden=hidden, notice=notice)
    notice.take_back()
    return told(mistake, found)


def told(mistake, found: Found | None):
    """Return a Mistake that says what was found, too, and of the names that looked the same only
    those that this does not refute."""
    if found is None:
        return mistake
    name, *words = _named(mistake, found)
    card = mistake.card + code(found.around, [number for number, _ in found.lines])
    return Mistake(mistake.step, mistake.aspect, mistake.seen, *words, name, card, found.lines)


def _named(mistake, found):
    """Return (name, means, look), the name None where every one is refuted."""
    as_told = (mistake.misconception, mistake.means, mistake.look)
    readings = mistake.others or (as_told,)
    fitting = [reading for reading in readings if not _refutes(found, reading[0])]
    if len(fitting) == len(readings):
        return as_told
    return fitting[0] if fitting else (None, *UNNAMED)


def _refutes(found, name):
    return name in MENDED_BY and not (MENDED_BY[name] | WHOLE) & found.kinds


def locate(step, answer, *, hidden=False, clock=time.monotonic, notice=None) -> Found | None:
    """Return where a wrong answer to `step` is wrong, or None where that is not to be found.

    hidden: whether it was seen on hidden trials. notice: says that it takes long.
    """
    started = clock()
    given = steps.of(step).substitutes
    there = _There(answer, given) if isinstance(answer, RemoteAnswer) else _here(answer, given)
    if there is None or there.definition is None:
        return None
    kind = "class" if steps.of(step).of_class else "function"
    seconds = SECONDS[kind] * (LONGER if isinstance(answer, RemoteAnswer) else 1)

    def out_of_time():
        passed = clock() - started
        if notice is not None and passed > NOTICED:
            notice.show()
        return passed > seconds

    with suppress(KeyboardInterrupt), _unseen():
        search = _Search(step, there, hidden)
        if search.symptom is not None:
            groups = search.groups(steps.STEPS if given else ())
            return find_line(there.definition, search.is_right, groups, out_of_time)
    return None


@contextmanager
def _unseen():
    """Leave nothing behind but the time it takes: no prints, no changed defaults or generators."""
    with neutral_torch(), quiet(), torch.random.fork_rng(devices=[]):
        yield


class _Here:
    """Tries other texts of an answer of this process."""

    def __init__(self, answer, definition, given):
        self.definition = definition
        self._surroundings = Surroundings(answer, definition, given)

    def observe(self, text, probes, again):
        return self._surroundings.observe(text, probes, again=again)


def _here(answer, given):
    definition = definition_of(answer)
    if definition is None or not can_be_tried(answer, definition):
        return None
    return _Here(answer, definition, given)


class _There:
    """Tries other texts of an answer of another process."""

    def __init__(self, answer, given):
        self.definition = answer.definition
        self._answer = answer
        self._given = given
        self._requests = {}

    def observe(self, text, probes, again):
        if probes not in self._requests:
            self._requests[probes] = run._request(probes)
        request = self._requests[probes]
        reply = self._answer.observe_edited(text, self._given, request, again)
        return decode(reply, tuple[Observation, ...])


class _Search:
    """What is asked of an edited answer: first one small trial that it failed, then the visible
    ones, then all.

    symptom: what the small trial showed of the answer as it stands; None if nothing is wrong with
    it, or if that needs no line.
    """

    def __init__(self, step, there, hidden):
        self._there = there
        visible = run._trials(step, run.VISIBLE_SEED, False, False)[:2]
        every = run._trials(step, run._seed(True), True, False)[:2] if hidden else _nearby(step)
        self._stages = [visible, every]
        self._small = None
        self.symptom = None
        for trials in self._stages:
            if symptoms := self._symptoms(there.definition.text, trials):
                self._begin_with(symptoms)
                return

    def is_right(self, text: str) -> bool:
        return all(self._symptoms(text, trials) == () for trials in self._stages)

    def groups(self, beside):
        """The edits of the definition, nearest to what failed first."""
        failed = getattr(self.symptom.got, "line", "")
        text = self._there.definition.text
        lines = text.splitlines()
        at = [n for n, line in enumerate(lines, start=1) if failed and line.strip() == failed]
        groups = edits(text, beside)
        if not at:
            return groups
        likely, *others = (_near(group, at[-1]) for group in groups)
        names = [e for e in chain(*others) if e.kind == "name" and e.line == at[-1]]
        return [names + likely, *others]  # a name of another kind is what most often raises

    def _symptoms(self, text, trials):
        """What is wrong with a text; None where it cannot be tried at all."""
        probes, expected = trials
        try:
            observations = self._there.observe(text, probes, probes is self._small)
            return judge(probes, observations, expected).symptoms
        except Exception:
            return None

    def _begin_with(self, symptoms):
        if {s.kind for s in symptoms} & set(SAID_ALREADY):
            return
        self.symptom = min(symptoms, key=lambda s: _size(s.probe))
        self._small = (_reduced(self.symptom),)
        self._stages.insert(0, (self._small, tuple(map(expect, self._small))))


@lru_cache(maxsize=16)
def _nearby(step):
    """All trials of a step but those on another device, for which torch needs seconds at first."""
    probes = tuple(p for p in probes_of(step, run.VISIBLE_SEED, True) if not p.elsewhere)
    return probes, tuple(map(expect, probes))


def _size(probe):
    numbers = sum(
        arg.numel() for c in probe.calls for arg in c.args if isinstance(arg, torch.Tensor)
    )
    return probe.heads is not None, numbers


def _reduced(symptom: Symptom):
    """The probe that showed a symptom, without what it can be seen without."""
    probe = symptom.probe
    if symptom.kind == "law":
        return probe
    calls = list(probe.calls[: symptom.call + 1])
    last = len(calls) - 1
    calls = tuple(
        call if symptom.kind in BACKWARD and i == last else replace(call, upstream=())
        for i, call in enumerate(calls)
    )
    return replace(probe, calls=calls, law=None)


def _near(group, line):
    """Edits at the line that raised first, then those above it from there upwards, then others."""
    return sorted(group, key=lambda e: (e.line > line, abs(e.line - line)))


class Notice:
    """Says in a notebook that the search goes on, until it is taken back."""

    def __init__(self):
        self._shown = None

    def show(self):
        if self._shown is None and is_in_notebook():
            from IPython.display import HTML, display

            self._shown = display(HTML("<em>Looking for the line ...</em>"), display_id=True)

    def take_back(self):
        if self._shown is not None:
            from IPython.display import HTML

            self._shown.update(HTML(""))
