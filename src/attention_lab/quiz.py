"""Questions to be answered before a cell is run, and recall questions at the end.

predict("split-strides")        # shows the question; it works without a kernel, too
predict("split-strides", "b")   # answers it in words, anywhere
recall()                        # questions about the lesson; those answered wrongly come again
"""

import json
import os
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from string import ascii_lowercase

# The class of the text field through which a page tells the kernel of an answer; see quiz.js.
_CHANNEL = "attention-lab-answers"
_WIDGET = "application/vnd.jupyter.widget-view+json"


@dataclass(frozen=True)
class Option:
    """One of the answers to choose from.

    why: what is said when it is chosen. A right option says why it is right. A wrong one may name
    the misconception behind it instead, (step, slug) of the catalogue.
    """

    text: str
    right: bool = False
    why: str = ""
    misconception: tuple[str, str] | None = None

    def explain(self) -> str:
        """Why this option is right, or what is behind it."""
        if not self.misconception:
            return self.why
        from attention_lab.check.catalogue import explain  # only whoever answers needs it

        return explain(*self.misconception).means


@dataclass(frozen=True)
class Question:
    """A question with exactly one right option. Options are chosen by letter: a, b, c ...

    They are shuffled, always in the same way.
    """

    ask: str
    options: tuple[Option, ...]

    def __post_init__(self):
        if sum(option.right for option in self.options) != 1:
            raise ValueError(f"not exactly one option is right: {self.ask}")
        shuffled = sorted(self.options, key=lambda option: _digest(self.ask + option.text))
        object.__setattr__(self, "options", tuple(shuffled))

    def __str__(self):
        return "\n".join([self.ask, *(f"  {label}" for label in self.labels)])

    @property
    def labels(self) -> list[str]:
        """The options with their letters in front."""
        pairs = zip(ascii_lowercase, self.options, strict=False)
        return [f"{letter})  {option.text}" for letter, option in pairs]

    def reply(self, letter: str) -> tuple[bool, str]:
        """Whether the option of a letter is right, and what there is to say about it.

        Raises:
            ValueError: there is no such option.
        """
        letters = ascii_lowercase[: len(self.options)]
        choice = str(letter).strip().lower()
        if len(choice) != 1 or choice not in letters:
            raise ValueError(f"choose one of {', '.join(letters)}, not {letter!r}")
        option = self.options[letters.index(choice)]
        return option.right, option.explain()

    def to_json(self) -> dict:
        options = [{"text": o.text, "right": o.right, "why": o.explain()} for o in self.options]
        return {"ask": self.ask, "options": options}

    def to_html(self) -> str:
        """The question as plain HTML, its answer folded."""
        options = "".join(f"<li>{_prose(option.text)}</li>" for option in self.options)
        (right,) = (option for option in self.options if option.right)
        answer = f"{_prose(right.text)}: {_prose(right.explain())}"
        return f'<p>{_prose(self.ask)}</p><ol type="a">{options}</ol>{_folded("Answer", answer)}'


@dataclass(frozen=True)
class OwnWords:
    """A question to be answered in a sentence of one's own, and a model answer to compare with."""

    ask: str
    model: str

    def __str__(self):
        return f"{self.ask}\n  (any letter shows a model answer)"

    def reply(self, letter: str) -> tuple[bool, str]:
        return True, f"One way to say it: {self.model}"

    def to_json(self) -> dict:
        return {"ask": self.ask, "model": self.model}

    def to_html(self) -> str:
        return f"<p>{_prose(self.ask)}</p>{_folded('One way to say it', _prose(self.model))}"


class Quiz:
    """Questions in a row. One that is answered wrongly comes again after the others.

    name: what the answers are kept under.
    """

    def __init__(self, name: str, questions: Iterable[Question | OwnWords]):
        self.name = name
        self.questions = tuple(questions)
        self._waiting = deque(self.questions)
        self._missed: set[Question | OwnWords] = set()

    @property
    def question(self) -> Question | OwnWords | None:
        """What is asked now; None when all questions have been answered correctly."""
        return self._waiting[0] if self._waiting else None

    @property
    def progress(self) -> str:
        """How far one has come, in words."""
        count = len(self.questions)
        again = sum(question in self._missed for question in self._waiting)
        right = f"{count - len(self._waiting)} of {count} right"
        return right + (f", {again} to come again" if again else "")

    def answer(self, letter: str) -> str:
        """Answer the present question, go on to the next, and return what there is to say.

        Raises:
            ValueError: there is no such option, or all questions have been answered.
        """
        question = self.question
        if question is None:
            raise ValueError("all questions have been answered")
        right, why = question.reply(letter)
        _note(self.name, self.questions.index(question), right)
        if right:
            self._waiting.popleft()
            return f"\N{CHECK MARK} {why}"
        self._missed.add(question)
        self._waiting.rotate(-1)
        return f"\N{BALLOT X} {why}"


class Card:
    """Shows a quiz: a page of its own in a notebook, text elsewhere."""

    def __init__(self, quiz: Quiz):
        self.quiz = quiz

    def answer(self, letter: str) -> None:
        """Answer by letter, where there is no page: prints the reply and what comes next."""
        print(self.quiz.answer(letter))
        if len(self.quiz.questions) > 1:
            print(f"({self.quiz.progress})\n\n{self}")

    def __repr__(self):
        return str(self.quiz.question or "All answered.")

    def _ipython_display_(self):
        from IPython.display import display

        if not _is_grading():
            display({_WIDGET: _channel(), "text/plain": ""}, raw=True)
        display(self._repr_mimebundle_(), raw=True)

    def _repr_mimebundle_(self, include=None, exclude=None):
        if _is_grading():
            return {"text/plain": repr(self)}
        return {"text/html": self.to_html(), "text/plain": repr(self)}

    def to_html(self) -> str:
        """The quiz as an HTML fragment that needs nothing else."""
        from attention_lab.heatmap import page

        questions = self.quiz.questions
        content = json.dumps([question.to_json() for question in questions]).replace("<", "\\u003c")
        return page.host(
            "".join(question.to_html() for question in questions),
            ("heads.css", "quiz.css"),
            ("dom.js", "theme.js", "quiz.js"),
            f"mountQuiz(host, {page.string(self.quiz.name)}, {content})",
        )


def predict(name: str, letter: str | None = None) -> Card | None:
    """Ask the lesson's question of that name; with a letter, answer it in words.

    Raises:
        ValueError: there is no such question or option.
    """
    from attention_lab.questions import PREDICTIONS

    if name not in PREDICTIONS:
        raise ValueError(f"there is no question {name!r}; there are {', '.join(PREDICTIONS)}")
    card = Card(Quiz(name, [PREDICTIONS[name]]))
    if letter is None:
        return card
    return card.answer(letter)


def recall() -> Card:
    """Questions about the whole lesson, in mixed order; those answered wrongly come again."""
    from attention_lab.questions import RECALL

    return Card(Quiz("recall", RECALL))


_listeners: list[Callable[[str, bool], None]] = []
_field = []  # the one hidden text field of this kernel, once it is needed


def listen(listener: Callable[[str, bool], None]) -> None:
    """Call `listener(question, right)` at every answer; question: its quiz and its place in it."""
    _listeners.append(listener)


def _note(name, index, right):
    for listener in _listeners:
        listener(f"{name}/{index}", right)


def _channel() -> dict:
    """The hidden text field, as a widget to display."""
    if not _field:
        import ipywidgets  # half a second that a run without a page does not need

        field = ipywidgets.Text(layout={"display": "none"})
        field.add_class(_CHANNEL)
        field.observe(lambda change: _read(change["new"]), "value")
        _field.append(field)
    return {"version_major": 2, "version_minor": 0, "model_id": _field[0].model_id}


def _read(message: str) -> None:
    """Take an answer from the field; what anything but a question's page writes is none."""
    try:
        answer = json.loads(message)
        name, index, right = answer["name"], answer["index"], answer["right"]
    except (ValueError, KeyError, TypeError):
        return
    _note(name, index, right)


def _is_grading():
    return bool(os.environ.get("NBGRADER_EXECUTION"))


def _digest(text):
    return sha256(text.encode()).digest()


def _folded(summary, content):
    return f"<details><summary>{summary}</summary><p>{content}</p></details>"


def _prose(text):
    """HTML in which `code` is set as code."""
    parts = escape(text, quote=False).split("`")
    parts[1::2] = [f"<code>{part}</code>" for part in parts[1::2]]
    return "".join(parts)
