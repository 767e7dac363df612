"""The words of a message: what was seen, and what it means where no misconception is recognised."""

import re
import textwrap

import torch

from attention_lab.check import steps
from attention_lab.check.judge import tensors
from attention_lab.check.numbers import close
from attention_lab.check.relations import relation

UNWRITTEN = (
    "not written yet.",
    "",
    "put your code in place of `raise NotWrittenYet`, run that cell, then this one.",
)
UNSAID = {("mask-ignored", "mask-tiny-value")}  # the second is too rare beside the first
MANNER = ("mutates-input", "forbidden-library-call", "python-loop-over-heads")
FOUR_LINES = 290  # letters, with what is lost where lines end
NO_WAY_BACK = (
    "The computation leaves the autograd graph here, so nothing before this step can learn."
)
EITHER = "Two mistakes look like this."
NOT_WHY = "It need not be why these numbers are wrong."
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
MESSAGE = 160  # of an exception; torch's advice to reshape stands at the end of as many
TABLE = ("query", "key")
TELLING = ("head", "query", "token", "feature")


def seen(evidence, symptom) -> str:
    """Return what was tried, at which sizes, and what came back. Never the expected numbers."""
    text = SEEN[symptom.kind](evidence, symptom)
    return text if symptom.kind == "unusable" else f"with {tried(evidence.step, symptom)}, {text}"


def tried(step, symptom):
    way = steps.of(step).told_way(symptom.probe.calls[symptom.call])
    return ", ".join(filter(None, (symptom.probe.about, way)))


def told(readings, evidence) -> tuple[str, str]:
    """Return (means, look) for what fits: of the likeliest reading each mistake; where another does
    the same to every number, of both alike."""
    (known, *beside), *others = readings
    if beside:
        return _both((known, *beside))
    if known.slug == "gradient-lost" and "error" in evidence.kinds:
        return NO_WAY_BACK, known.look
    for other, *_ in others:
        if other.slug != known.slug and (known.slug, other.slug) not in UNSAID:
            means, look = _both((known, other))
            return f"{EITHER} {means}", look
    only_manner = known.slug in MANNER and evidence.goes_wrong
    return (f"{known.means} {NOT_WHY}" if only_manner else known.means), known.look


def _both(mistakes):
    looks = _numbered(m.look for m in mistakes)
    means = _numbered(_first_sentence(m.means) for m in mistakes)
    return means, looks if len(means) + len(looks) < FOUR_LINES else mistakes[0].look


def _numbered(sentences):
    return " ".join(f"({n}) {sentence}" for n, sentence in enumerate(sentences, start=1))


def _first_sentence(text):
    return text.split(". ")[0].rstrip(".") + "."


def meaning(evidence, symptom) -> tuple[str, str]:
    """Return (means, look) for a symptom that fits no known misconception."""
    if symptom.kind == "error":
        return _advice(evidence.step, symptom.got)
    related = relation(*_outputs(evidence, symptom)) if symptom.kind == "value" else None
    return related[1:] if related else explained(evidence.step, symptom)


def explained(step, symptom):
    """What a kind of symptom means in general."""
    by_hand = steps.of(step).by_hand
    return tuple(text.format(by_hand=by_hand) for text in MEANING[symptom.kind])


def _advice(step, failure):
    if failure.inside in steps.names():
        return tuple(text.format(failure.inside) for text in GIVEN_WRONG)
    if failure.type == "TypeError" and not failure.line:  # raised before its first line
        return WRONG_CALL, f"the signature that is asked for: `{steps.of(step).signature}`."
    fitting = (
        advice for kind, text, *advice in ADVICE if kind == failure.type and text in failure.message
    )
    return next(fitting, MEANING["error"])


def counted(count, one, several=None):
    """1 key, 3 keys, 0 keys."""
    return f"{count} {one if count == 1 else several or f'{one}s'}"


def shape(sizes):
    """(2, 5, 16) for one shape, (…) and (…) for several."""
    return " and ".join(str(s) for s in dict.fromkeys(sizes))


def _unusable(evidence, symptom):
    failure = symptom.got
    return failure.message if failure.type == "Unusable" else f"making it {_raised(failure)}"


def _error(evidence, symptom):
    return f"it {_raised(symptom.got)}"


def _raised(failure, length=MESSAGE):
    where = _where(failure)
    message = textwrap.shorten(failure.message, length, placeholder=f" {ELLIPSIS}")
    if where:  # what torch puts in brackets is longer than what a learner can use
        message = re.sub(r" \(at least [^()]*\)", "", message)
    return f"raised {failure.type}{where}: {message}"


def _where(failure):
    line = f"`{_short(failure.line)}`" if failure.line else ""
    if failure.inside in steps.names():  # a process that is not trusted may send any name
        return f" in `{failure.inside}`" + (f", called in {line}" if line else "")
    return line and f" in {line}"


def _short(line, length=48):
    return line if len(line) <= length else line[: length - 1] + ELLIPSIS


def _value(evidence, symptom):
    got, right = _outputs(evidence, symptom)
    wrong = 1 - float(_near(got, right).double().mean())
    if related := relation(got, right):
        told = f"the shape is right, but not the numbers{related[0]}"
    else:
        told = f"the shape is right, but {_share(wrong)} wrong{_where_right(evidence, got, right)}"
    return f"{told}{_but_for(evidence, symptom)}."


def _share(wrong):
    """All the numbers are, 43% of the numbers are, a few of the numbers are."""
    if wrong > 0.995:
        return "all the numbers are"
    return f"{wrong:.0%} of the numbers are" if wrong > 0.005 else "a few of the numbers are"


def _but_for(evidence, symptom):
    """Whether it is the mask, or one of q, k and v, that all hangs on."""
    masked = [t for t in evidence.trials if t.masked]
    if masked and symptom.probe.basic:
        right = [t.right for t in evidence.trials if not t.masked]
        return "; without the mask it is right" if right and all(right) else ""
    names = steps.of(evidence.step).returns
    wrong = [name for part, name in enumerate(names) if _fails(evidence, part)]
    return f"; only {' and '.join(wrong)} differ{'s'[: len(wrong) == 1]}" * (
        len(wrong) < len(names)
    )


def _fails(evidence, part):
    """Whether the tensor in this place is wrong in some call."""
    tried = [t for t in evidence.wrong if t.has_right_shape]
    return any(not close(t.got[part], t.wanted[part], t.tolerance) for t in tried)


def _nan(evidence, symptom):
    got, _ = _outputs(evidence, symptom)
    if not got.isnan().any():  # a mask, whose rows are NaN only after softmax
        rows = got.double().softmax(-1).isnan().all(-1).nonzero().flatten().tolist()
        are = "are" if len(rows) > 1 else "is"
        if (got[rows] == -torch.inf).all():
            told = "fully masked; softmax of a fully masked row is NaN"
        else:
            told = "such that softmax makes NaN of them"
        return f"{_listed('row', rows)} {are} {told}."
    share = float(got.isnan().double().mean())
    where = _nan_rows(evidence.step, got)
    return f"{share:.0%} of the numbers are NaN{where}."


def _nan_rows(step, got):
    axes = steps.of(step).axes
    axis = "query" if "query" in axes else "token"
    other = [d for d in range(got.dim()) if axes[d] != axis]
    rows = got.isnan().any(dim=other).nonzero().flatten().tolist() if other else []
    return f": all in {axis} 0" if rows == [0] and got.shape[axes.index(axis)] > 1 else ""


def _outputs(evidence, symptom):
    """The output in which the symptom was seen and the right one, both as one tensor."""
    index = evidence.probes.index(symptom.probe)
    pairs = zip(
        tensors(evidence.step, evidence.observations[index].outcomes[symptom.call].output),
        tensors(evidence.step, evidence.expected[index].outcomes[symptom.call].output),
        strict=True,
    )
    return next((g, r) for g, r in pairs if not close(g, r, symptom.probe.tolerance or 0))


def _near(got, right):
    near = (got.double() - right).abs() <= 1e-4 + 1e-4 * right.abs()
    return torch.where(right.isfinite(), near, got == right)


def _where_right(evidence, got, right):
    """Which heads, rows or columns are right, if some are and some are not; or of a table by itself
    which cells are not."""
    near, axes = _near(got, right), steps.of(evidence.step).axes
    if axes == TABLE and got.dim() == len(TABLE):
        return _cells((~near).nonzero().tolist())
    for name in TELLING:
        if name not in axes or got.dim() != len(axes):
            continue
        other = [d for d in range(got.dim()) if axes[d] != name]
        agree = near.all(dim=other) if other else near
        if agree.any() and not agree.all():
            indices = agree.nonzero().flatten().tolist()
            return f"; {_listed(name, indices)} {'is' if len(indices) == 1 else 'are'} right"
    return ""


def _cells(wrong):
    """; not right: row 0, column 1 and 5 others."""
    row, column = wrong[0]
    others = len(wrong) - 1
    more = f" and {others} other{'s' * (others > 1)}" if others else ""
    return f"; not right: row {row}, column {column}{more}"


def _listed(name, indices):
    """head 2, heads 1, 3, head 0 and 6 others."""
    if len(indices) > 4:
        return f"{name} {indices[0]} and {len(indices) - 1} others"
    several = {"query": "queries"}.get(name, f"{name}s")
    return f"{several if len(indices) > 1 else name} {', '.join(map(str, indices))}"


def _dtype(symptom):
    return str(symptom.got).removeprefix("torch."), str(symptom.wanted).removeprefix("torch.")


def _device(evidence, symptom):
    if isinstance(symptom.got, str):
        return f"the result is on {symptom.got}, not where the input is."
    return f"it {_raised(symptom.got)}"


def _type(evidence, symptom):
    wanted = "one tensor" if symptom.wanted == 1 else f"{symptom.wanted} tensors"
    if symptom.got == "NoneType":
        return f"it returned None; wanted: {wanted}. Is there a `return`?"
    return f"it returned {symptom.got}; wanted: {wanted}."


def _count(evidence, symptom):
    got, wanted = map(_tensors, (symptom.got, symptom.wanted))
    held = " in a list or tuple" if len(symptom.got) == len(symptom.wanted) else ""
    return f"it returned {got}{held}; wanted: {wanted}."


def _tensors(shapes):
    """One tensor of shape (2, 5), 3 tensors of shape (2, 5) or of shapes (2, 5) and (5,)."""
    count = "one tensor" if len(shapes) == 1 else f"{len(shapes)} tensors"
    return f"{count} of shape{'s' * (len(set(shapes)) > 1)} {shape(shapes)}"


def _loop(evidence, symptom):
    counts = ", ".join(f"{heads} heads take {calls}" for heads, calls in symptom.got)
    return f"{counts} calls into torch."


SEEN = {
    "unusable": _unusable,
    "error": _error,
    "type": _type,
    "count": _count,
    "shape": lambda e, s: f"the shape is {shape(s.got)}; wanted: {shape(s.wanted)}.",
    "dtype": lambda e, s: "it returned {}; wanted: {}.".format(*_dtype(s)),
    "device": _device,
    "nan": _nan,
    "value": _value,
    "law": lambda e, s: f"{LAWS[s.probe.law]}; the largest difference is {s.got:.2g}.",
    "gradient error": lambda e, s: (
        f"the result is right, but its backward pass {_raised(s.got, 100)}"
    ),
    "gradient missing": lambda e, s: "the result is right, but no gradient reaches its inputs.",
    "gradient nan": lambda e, s: "the result is right, but its gradient is NaN.",
    "gradient": lambda e, s: "the result is right, but its gradient is not.",
    "argument changed": lambda e, s: "an argument was changed by your code.",
    "layer changed": lambda e, s: "a layer's weights were changed.",
    "library": lambda e, s: f"it called `{s.got}`.",
    "loop": _loop,
}
LAWS = {
    "no leak": "changing the last token changed earlier rows under a causal mask",
    "permutation": "permuting the tokens did not just permute the rows",
    "constant": "the outputs of equal values are not equal",
    "whole": "with the right steps around it, it does not give what PyTorch's module does",
}
# The type of an exception, what its message holds, what that means, where to look.
ADVICE = (
    (
        "NameError",
        "",
        "that name has no value where this line runs.",
        "sizes come from the arguments, `x.shape`; the layers of a class from `self`.",
    ),
    *(
        (
            "TypeError",
            text,
            "a layer is not a matrix.",
            "call it like a function: it multiplies and adds its bias.",
        )
        for text in ("'Linear'", "not Linear")
    ),
    (
        "TypeError",
        "NoneType",
        "something is None: an argument that may be left out, or a function without `return`.",
        "ask `is not None` first, or see what the function before that line returns.",
    ),
    (
        "TypeError",
        "must be Tensor, not",
        "a function of torch was given a plain number.",
        "`math` has the same function for numbers.",
    ),
    (
        "TypeError",
        "not callable",
        "something that is not a function is being called.",
        "is an operator missing there, or does a variable have the same name as the function?",
    ),
    (
        "TypeError",
        "must be int, not float",
        "a whole number was asked for, but a float was given.",
        "the argument that the message names.",
    ),
    (
        "TypeError",
        "",
        "something was called with the wrong kind or number of arguments.",
        "what `help(...)` says about the function in that line.",
    ),
    (
        "ValueError",
        "unpack",
        "the right side has more or fewer values than there are names on the left.",
        "how many axes has it? The docstring says.",
    ),
    (
        "AttributeError",
        "",
        "that object has no such attribute.",
        "its type, and the spelling of what comes after the dot.",
    ),
)
MEANING = {
    "unusable": (
        "this is not the kind of answer that was asked for.",
        "the signature in the text.",
    ),
    "error": (
        "the code stops before it returns.",
        "the shapes on both sides of that line: print them.",
    ),
    "type": ("something other than a tensor was returned.", "the expression after `return`."),
    "count": (
        "more or fewer tensors were returned than the step asks for.",
        "the expression after `return`.",
    ),
    "shape": (
        "an axis is missing, extra or misplaced.",
        "name each axis of your result aloud.",
    ),
    "dtype": (
        "the number type changed somewhere in the step.",
        "`.float()`, or a tensor made without a dtype.",
    ),
    "device": (
        "something is made on the CPU, wherever the input is.",
        "pass `device=` where tensors are made.",
    ),
    "nan": (
        "somewhere inf - inf, 0 * inf or 0 / 0 was computed.",
        "which line makes the first NaN? Its input has an inf, or a fully masked row.",
    ),
    "value": ("it is none of the usual mistakes.", "{by_hand}"),
    "law": (
        "tokens influence each other that should not, or fail to that should.",
        "which axis is summed over?",
    ),
    "gradient error": (
        "something that the backward pass needs is gone.",
        "operations in place.",
    ),
    "gradient missing": (
        "the graph to the inputs is broken: no gradient can flow.",
        "`detach`, numpy, `no_grad`.",
    ),
    "gradient nan": (
        "inf - inf, 0 * inf or 0 / 0 was computed in the backward pass.",
        "logarithms, roots and fractions of what may be 0 or -inf.",
    ),
    "gradient": (
        "the gradient does not match the forward computation.",
        "`detach` on a part of it.",
    ),
    "argument changed": ("the caller's tensor was overwritten.", "operations in place."),
    "layer changed": ("a layer was overwritten.", "anything that writes to `.weight` or `.data`."),
    "library": (
        "attention is to be built here.",
        "matrix products, softmax and reshaping are enough.",
    ),
    "loop": (
        "heads are processed one at a time.",
        "one matrix product serves all leading axes.",
    ),
}

WRONG_CALL = "it does not take the arguments that it is called with."

# Of an exception in a step that stands in for the learner's own.
GIVEN_WRONG = (
    "even a right `{}` cannot work with what it is given there.",
    "print the shapes that go into `{}`.",
)
