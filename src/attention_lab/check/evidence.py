"""All that is known of a wrong answer, in the form in which mistakes are looked for."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

from attention_lab.check import steps
from attention_lab.check.judge import Verdict, failure_of, judge, tensors
from attention_lab.check.numbers import close
from attention_lab.check.telling import telling
from attention_lab.observation import Call, Observation, Outcome, Probe

LOOSE = 5e-3  # for probes that are judged by a law alone
FACTS = {"argument changed", "layer changed", "library", "loop"}  # which say themselves


@dataclass(frozen=True)
class Trial:
    """One call on its own: what the answer did and what a right one does."""

    probe: Probe
    call: Call
    index: int
    outcome: Outcome
    expected: Outcome

    @cached_property
    def got(self):
        """The tensors that came back; None for anything else, such as one tensor in a tuple."""
        got = None if self.outcome.failure else tensors(self.probe.step, self.outcome.output)
        in_a_tuple = len(self.wanted) == 1 and isinstance(self.outcome.output, tuple)
        return None if in_a_tuple or any(g.is_meta for g in got or ()) else got

    @cached_property
    def wanted(self):
        return tensors(self.probe.step, self.expected.output)

    @property
    def tolerance(self):
        return self.probe.tolerance or LOOSE

    @cached_property
    def right(self):
        """Whether the numbers are the right ones."""
        return self.is_within(self.tolerance)

    def is_within(self, tolerance):
        return self.has_right_shape and all(
            close(g, w, tolerance) for g, w in zip(self.got, self.wanted, strict=True)
        )

    @property
    def has_right_shape(self):
        got = self.got
        if got is None or any(g.is_meta for g in got):
            return False
        return [g.shape for g in got] == [w.shape for w in self.wanted]

    @property
    def causal(self):
        return self.call.args[-1] is True

    @property
    def masked(self):
        """Whether something is closed: by a mask that is given, or because it is causal."""
        return steps.of(self.probe.step).is_masked(self.call)

    @cached_property
    def sizes(self):
        """The sizes of the call by name, as far as its step knows them."""
        return steps.of(self.probe.step).sizes(self.call, self.probe.module)

    @property
    def is_easy(self):
        """Whether some size is 1, where many a mistake makes no difference."""
        return 1 in [self.sizes.get(name) for name in ("T", "H", "d_head")]


@dataclass(frozen=True)
class Evidence:
    """The probes, what was observed, what a right answer shows, and the verdict.

    ask: returns what the answer shows on other probes, `ask(probes, mend)`.
    """

    step: str
    probes: tuple[Probe, ...]
    observations: tuple[Observation, ...]
    expected: tuple[Observation, ...]
    verdict: Verdict
    ask: Callable[..., tuple[Observation, ...]]

    def tried(self, probes, expected, mend="") -> "Evidence":
        """Return what is known of the answer on other probes, or with something set right."""
        probes, expected = tuple(probes), tuple(expected)
        seen = self.ask(probes, mend)
        verdict = judge(probes, seen, expected)
        again = partial(self._with, mend) if mend else self.ask
        return Evidence(self.step, probes, seen, expected, verdict, again)

    def _with(self, mend, probes, _=""):
        return self.ask(probes, mend)

    @property
    def faults(self):
        """The symptoms, but for facts that say themselves."""
        return tuple(s for s in self.verdict.symptoms if s.kind not in FACTS)

    @cached_property
    def telling(self):
        """Calls at more sizes, where ways to be wrong come apart."""
        probes, expected = telling(self.step)
        return self.tried(probes, expected).trials if probes else ()

    @property
    def kinds(self):
        """The kinds of symptoms that there are."""
        return {symptom.kind for symptom in self.verdict.symptoms}

    @property
    def goes_wrong(self):
        """Whether anything but manner is wrong."""
        return any(symptom.aspect != "manner" for symptom in self.verdict.symptoms)

    @property
    def failures(self):
        """Exceptions, but for those on another device, and in which probe each was raised."""
        found = [(failure_of(s), s.probe) for s in self.verdict.symptoms if s.kind != "device"]
        return [(failure, probe) for failure, probe in found if failure]

    @cached_property
    def called(self):
        """Names of torch's functions that were called, where that was seen."""
        return {name.split(".")[0] for seen in self.observations for name in seen.called}

    @cached_property
    def trials(self):
        """Every call that was made, but for those on another device."""
        return tuple(
            Trial(probe, call, index, outcome, expected)
            for probe, seen, right in zip(
                self.probes, self.observations, self.expected, strict=True
            )
            if not seen.failure and not probe.elsewhere
            for index, (call, outcome, expected) in enumerate(
                zip(probe.calls, seen.outcomes, right.outcomes, strict=True)
            )
        )

    @cached_property
    def basic(self):
        """The calls at ordinary sizes, numbers, layouts and dtypes."""
        return tuple(trial for trial in self.trials if trial.probe.basic)

    @cached_property
    def wrong(self):
        """The ordinary calls that went wrong."""
        return tuple(trial for trial in self.basic if not trial.right)
