"""What a cell showed, taken apart and put together again: nothing of another form gets through."""

from dataclasses import dataclass

from classroom.grading.sandbox.recorder import CUT, MAX_OUTPUTS
from classroom.grading.sandbox.wire import Malformed

MAX_NAMES, MAX_NAME = 100, 60
FIELDS = {
    "stream": {"name": str, "text": str},
    "display_data": {"data": dict, "metadata": dict},
    "execute_result": {"data": dict, "metadata": dict, "execution_count": int},
    "error": {"ename": str, "evalue": str, "traceback": list},
}


@dataclass(frozen=True)
class Ran:
    """A cell that has been run: its execution count, and its outputs in nbformat's form.

    misconception: what the check of a graded cell recognised, as a slug; None for anything else.
    """

    count: int | None
    outputs: tuple[dict, ...] = ()
    misconception: str | None = None


def checked(answer: dict) -> Ran:
    """The cell that `answer` describes. Raises Malformed for anything nbformat does not know."""
    count, outputs = answer.get("count"), answer.get("outputs")
    most = MAX_OUTPUTS + 2  # that it is cut, and an error
    if not _is_count(count) or type(outputs) is not list or len(outputs) > most:
        raise Malformed("no outputs of a cell")
    return Ran(count, tuple(_checked_output(output) for output in outputs))


def names(answer: dict, key: str) -> tuple[str, ...]:
    """The names that `answer` lists under `key`, those left out that are none or too many."""
    found = answer.get(key)
    if type(found) is not list:
        return ()
    found = [n for n in found[:MAX_NAMES] if type(n) is str and len(n) <= MAX_NAME]
    return tuple(dict.fromkeys(n for n in found if n.isidentifier()))


def _checked_output(output):
    kind = output.get("output_type") if type(output) is dict else None
    fields = FIELDS.get(kind) if type(kind) is str else None
    if fields is None or output.keys() != {"output_type", *fields}:
        raise Malformed("no output of a cell")
    if not all(type(output[name]) is form for name, form in fields.items()):
        raise Malformed(f"no output of kind {kind}")
    if not _is_count(output.get("execution_count", 0)):
        raise Malformed("no execution count")
    if kind == "stream" and output["name"] not in ("stdout", "stderr"):
        raise Malformed("no stream of a cell")
    if kind == "error" and not all(type(line) is str for line in output["traceback"]):
        raise Malformed("no traceback")
    return output | _plain(output["data"]) if "data" in fields else output


def _plain(data):
    """The data of a display without all that is no text, and no metadata."""
    texts = {kind: content for kind, content in data.items() if type(content) is str}
    return {"data": texts, "metadata": {}}


def _is_count(value):
    return type(value) is int and value >= 0


def stopped(ran: Ran, reason: str) -> Ran:
    """`ran`, ended by a time limit: what it showed, then the reason in place of the interrupt."""
    shown = (output for output in ran.outputs if output.get("ename") != "KeyboardInterrupt")
    return Ran(ran.count, (*shown, error("Stopped", reason)))


def with_remark(ran: Ran, text: str) -> Ran:
    """`ran`, with one sentence of ours below what it showed."""
    remark = {"output_type": "stream", "name": "stdout", "text": f"{text}\n"}
    return Ran(ran.count, (*ran.outputs, remark), ran.misconception)


def left_out(ran: Ran) -> Ran:
    """`ran` without what it showed."""
    return Ran(ran.count, ({"output_type": "stream", "name": "stdout", "text": CUT},))


def failed(name: str, reason: str) -> Ran:
    """A cell that showed nothing but an error."""
    return Ran(None, (error(name, reason),))


def error(name: str, message: str) -> dict:
    return {
        "output_type": "error",
        "ename": name,
        "evalue": message,
        "traceback": [f"{name}: {message}"],
    }
