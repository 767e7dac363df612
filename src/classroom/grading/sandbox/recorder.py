"""What a cell shows, in order, as nbformat's outputs, up to a limit."""

import base64
import io
import json

MAX_OUTPUTS = 2_000
CUT = "\n[output limit reached: the rest is not kept]\n"


class Recorder:
    """Collects the outputs of the cell that is running: at most MAX_OUTPUTS, of `limit` characters
    in all, then CUT. The error that ends a cell is kept whatever was shown before it.
    """

    def __init__(self, limit: int):
        self.limit = limit
        self.begin()

    def begin(self):
        """Forget the last cell's outputs."""
        self.outputs = []
        self._displays = {}
        self._size = 0
        self._is_full = False
        self._clear_next = False

    def stream(self, name: str, text: str):
        if not text:
            return
        self._clear_if_due()
        if self._is_full:
            return
        room = self._room(is_new=not self._continues(name))
        self._size += min(len(text), room)
        if len(text) > room:
            text = text[:room] + CUT
            self._is_full = True
        self._print(name, text)

    def display(self, data: dict, display_id: str | None = None, update: bool = False):
        data = plain_bundle(data)
        if update:
            for output in self._displays.get(display_id, ()):
                self._update(output, data)
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
        """Record an error. Where there is no room, it takes the place of one just before it."""
        error = {
            "output_type": "error",
            "ename": name[:200],
            "evalue": message[:10_000],
            "traceback": [line[:2_000] for line in traceback[:100]],
        }
        if not self._claim(error) and self.outputs[-1]["output_type"] == "error":
            self.outputs.pop()
        self.outputs.append(error)

    def clear(self, wait: bool):
        if wait:
            self._clear_next = True
        else:
            self.begin()

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
        if self._claim(output):
            self.outputs.append(output)
            return True
        return False

    def _update(self, output, data):
        if self._claim(data, instead_of=output["data"]):
            output["data"] = data

    def _claim(self, content, instead_of=None):
        """Whether there is room for `content`. As soon as there is none, say so."""
        if self._is_full:
            return False
        is_new = instead_of is None
        size = _size(content) - (0 if is_new else _size(instead_of))
        if size > self._room(is_new):
            self._is_full = True
            self._print("stdout", CUT)
            return False
        self._size += size
        return True

    def _room(self, is_new):
        """How many characters more are kept, here of another output or one that is there."""
        if is_new and len(self.outputs) >= MAX_OUTPUTS:
            return 0
        return self.limit - self._size

    def _continues(self, name):
        return bool(self.outputs) and self.outputs[-1].get("name") == name

    def _print(self, name, text):
        if self._continues(name):
            self.outputs[-1]["text"].append(text)
        else:
            self.outputs.append({"output_type": "stream", "name": name, "text": [text]})

    def _clear_if_due(self):
        if self._clear_next:
            self.begin()


def _size(content):
    return len(json.dumps(content))


def plain_bundle(data: dict) -> dict:
    """The representations of `data` that are text, or bytes, as base64."""
    bundle = {}
    for kind, content in data.items():
        if isinstance(content, bytes):
            content = base64.b64encode(content).decode()
        if type(content) is str:
            bundle[str(kind)] = content
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
