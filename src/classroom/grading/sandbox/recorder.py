"""What a cell shows, in order, as nbformat's outputs, up to a limit."""

import base64
import io
import json

CUT = "\n[output limit reached: the rest is not kept]\n"


class Recorder:
    """Collects the outputs of the cell that is running."""

    def __init__(self, limit: int):
        self.limit = limit
        self.begin()

    def begin(self):
        """Forget the last cell's outputs."""
        self.outputs = []
        self._displays = {}
        self._size = 0
        self._clear_next = False

    def stream(self, name: str, text: str):
        if not text:
            return
        self._clear_if_due()
        room = self.limit - self._size
        if room <= 0:
            return
        if len(text) > room:
            text = text[:room] + CUT
        self._size += len(text)
        last = self.outputs[-1] if self.outputs else {}
        if last.get("output_type") == "stream" and last["name"] == name:
            last["text"].append(text)
        else:
            self.outputs.append({"output_type": "stream", "name": name, "text": [text]})

    def display(self, data: dict, display_id: str | None = None, update: bool = False):
        data = plain_bundle(data)
        if update:
            for output in self._displays.get(display_id, ()):
                output["data"] = data
        else:
            output = {"output_type": "display_data", "data": data, "metadata": {}}
            if self._add(output) and display_id is not None:
                self._displays.setdefault(display_id, []).append(output)

    def result(self, data: dict, count: int):
        self._add(
            {
                "output_type": "execute_result",
                "data": plain_bundle(data),
                "metadata": {},
                "execution_count": count,
            }
        )

    def error(self, name: str, message: str, traceback: list[str]):
        """Record an error, whatever was shown before it: an error always fits."""
        self.outputs.append(
            {
                "output_type": "error",
                "ename": name[:200],
                "evalue": message[:10_000],
                "traceback": [line[:2_000] for line in traceback[:100]],
            }
        )

    def clear(self, wait: bool):
        if wait:
            self._clear_next = True
        else:
            self.outputs.clear()

    def finished(self) -> list[dict]:
        """The outputs, with what was streamed piece by piece joined."""
        return [
            {**output, "text": "".join(output["text"])}
            if output["output_type"] == "stream"
            else output
            for output in self.outputs
        ]

    def _add(self, output):
        self._clear_if_due()
        size = len(json.dumps(output))
        if self._size + size > self.limit:
            self.stream("stdout", CUT)
            self._size = self.limit
            return False
        self._size += size
        self.outputs.append(output)
        return True

    def _clear_if_due(self):
        if self._clear_next:
            self._clear_next = False
            self.outputs.clear()


def plain_bundle(data: dict) -> dict:
    """The representations of `data` that are text, bytes (as base64) or JSON."""
    bundle = {}
    for kind, content in data.items():
        if isinstance(content, bytes):
            content = base64.b64encode(content).decode()
        if type(content) is str:
            bundle[str(kind)] = content
            continue
        try:
            bundle[str(kind)] = json.loads(json.dumps(content, allow_nan=False))
        except (TypeError, ValueError, RecursionError):
            continue
    return bundle


class Stream(io.TextIOBase):
    """Stands for `sys.stdout` or `sys.stderr` while a cell runs."""

    encoding = "utf-8"

    def __init__(self, recorder: Recorder, name: str):
        self._recorder = recorder
        self.name = f"<{name}>"
        self._kind = name

    def writable(self):
        return True

    def write(self, text):
        self._recorder.stream(self._kind, str(text))
        return len(text)
