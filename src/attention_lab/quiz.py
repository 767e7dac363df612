"""Questions to be answered before a cell is run, and recall questions at the end.

predict("split-strides")        # shows the question, with buttons where the frontend has widgets
predict("split-strides", "b")   # answers it in words, anywhere
recall()                        # ten questions; those answered wrongly come again
"""

import html
import os
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from string import ascii_lowercase


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
    """A question with exactly one right option. Options are chosen by letter: a, b, c ..."""

    ask: str
    options: tuple[Option, ...]

    def __post_init__(self):
        if sum(option.right for option in self.options) != 1:
            raise ValueError(f"not exactly one option is right: {self.ask}")

    def __str__(self):
        return "\n".join([self.ask, *(f"  {label}" for label in self.labels)])

    @property
    def labels(self) -> list[str]:
        """The options with their letters in front."""
        pairs = zip(ascii_lowercase, self.options, strict=False)
        return [f"{letter})  {option.text}" for letter, option in pairs]

    def choose(self, letter: str) -> Option:
        """The option of a letter.

        Raises:
            ValueError: there is no such option.
        """
        letters = ascii_lowercase[: len(self.options)]
        choice = str(letter).strip().lower()
        if len(choice) != 1 or choice not in letters:
            raise ValueError(f"choose one of {', '.join(letters)}, not {letter!r}")
        return self.options[letters.index(choice)]


class Quiz:
    """Questions in a row. One that is answered wrongly comes again after the others."""

    def __init__(self, questions: Iterable[Question]):
        self._waiting = deque(questions)
        self._missed: set[Question] = set()
        self.count = len(self._waiting)

    @property
    def question(self) -> Question | None:
        """What is asked now; None when all questions have been answered rightly."""
        return self._waiting[0] if self._waiting else None

    @property
    def progress(self) -> str:
        """How far one has come, in words."""
        done = self.count - len(self._waiting)
        again = sum(question in self._missed for question in self._waiting)
        return f"{done} of {self.count} right" + (f", {again} to come again" if again else "")

    def answer(self, letter: str) -> str:
        """Answer the present question, go on to the next, and return what there is to say.

        Raises:
            ValueError: there is no such option, or nothing is asked any more.
        """
        if self.question is None:
            raise ValueError("all questions have been answered")
        option = self.question.choose(letter)
        if option.right:
            self._waiting.popleft()
            return f"\N{CHECK MARK} {option.explain()}"
        self._missed.add(self.question)
        self._waiting.rotate(-1)
        return f"\N{BALLOT X} {option.explain()}"


class Card:
    """Shows a quiz: buttons in a notebook, text elsewhere."""

    def __init__(self, quiz: Quiz):
        self.quiz = quiz

    def answer(self, letter: str) -> None:
        """Answer by letter, where there are no buttons: prints the reply and what comes next."""
        print(self.quiz.answer(letter))
        if self.quiz.count > 1:
            print(f"({self.quiz.progress})\n\n{self}")

    def __repr__(self):
        return str(self.quiz.question or "All answered.")

    def _repr_mimebundle_(self, include=None, exclude=None):
        bundle = {"text/plain": repr(self)}
        if not os.environ.get("NBGRADER_EXECUTION"):
            bundle["application/vnd.jupyter.widget-view+json"] = {
                "version_major": 2,
                "version_minor": 0,
                "model_id": _Buttons(self.quiz).box.model_id,
            }
        return bundle


class _Buttons:
    """The widgets of a quiz: the question, its options, the reply to the one that was chosen."""

    def __init__(self, quiz):
        import ipywidgets  # half a second that a run without a page does not need

        self.quiz = quiz
        self.ask = ipywidgets.HTML()
        self.options = ipywidgets.RadioButtons(layout={"width": "max-content"})
        self.reply = ipywidgets.HTML()
        self.next = ipywidgets.Button(description="Next question")
        self.box = ipywidgets.VBox([self.ask, self.options, self.reply, self.next])
        self.options.observe(self._choose, names="index")
        self.next.on_click(lambda _: self._show())
        self._show()

    def _show(self):
        question = self.quiz.question
        progress = self.quiz.progress if self.quiz.count > 1 else ""
        self.ask.value = _paragraph(question.ask if question else "All answered.", progress)
        self.reply.value = ""
        self.next.layout.display = "none"
        self.options.layout.display = "" if question else "none"
        self.options.disabled = False
        # ipywidgets 7 chooses the first of new options; nobody has.
        self.options.unobserve(self._choose, names="index")
        self.options.options = question.labels if question else ()
        self.options.index = None
        self.options.observe(self._choose, names="index")

    def _choose(self, change):
        if change["new"] is None:
            return
        several = self.quiz.count > 1
        self.reply.value = _paragraph(self.quiz.answer(ascii_lowercase[change["new"]]))
        self.options.disabled = several or self.quiz.question is None
        self.next.layout.display = "" if several else "none"


def _paragraph(text, aside=""):
    """HTML in which `code` is set as code."""
    parts = html.escape(text, quote=False).split("`")
    for at in range(1, len(parts), 2):
        parts[at] = f"<code>{parts[at]}</code>"
    note = f' <span style="opacity: 0.7">({html.escape(aside)})</span>' if aside else ""
    style = "max-width: 46em; line-height: 1.4; white-space: normal"
    return f'<div style="{style}">{"".join(parts)}{note}</div>'


def predict(name: str, letter: str | None = None) -> Card | None:
    """Ask the lesson's question of that name; with a letter, answer it in words.

    Raises:
        ValueError: there is no such question or option.
    """
    from attention_lab.questions import PREDICTIONS

    if name not in PREDICTIONS:
        raise ValueError(f"there is no question {name!r}; there are {', '.join(PREDICTIONS)}")
    card = Card(Quiz([PREDICTIONS[name]]))
    if letter is None:
        return card
    return card.answer(letter)


def recall() -> Card:
    """Ten questions about the whole lesson; those answered wrongly come again."""
    from attention_lab.questions import RECALL

    return Card(Quiz(RECALL))
