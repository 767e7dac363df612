"""Progress as a table and as plain text: no scripts, no colours of its own, readable anywhere."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from html import escape

from attention_lab.progress.exercises import Exercise
from attention_lab.progress.record import ASPECTS, Record, Review

_TITLE = "My progress in multi-head attention"
_FIXED = "Fixed on the way, and what each taught"
_SIGNS = {True: "\N{CHECK MARK} right", False: "\N{BALLOT X} not yet", None: "\N{EN DASH}"}
_STYLE = {
    "table": "border-collapse: collapse; color: inherit",
    "caption": "caption-side: top; color: inherit; text-align: left; font-weight: bold",
    "cell": "text-align: left; padding: .1em 1.2em .1em 0; border-bottom: 1px solid #8884",
    "note": "max-width: 46em; line-height: 1.4",
    "list": "max-width: 46em; line-height: 1.4; margin: .3em 0",
}


@dataclass(frozen=True)
class Page:
    """What a record says about the exercises that are worth points.

    kept: a sentence about where the record is kept.
    """

    exercises: Mapping[str, Exercise]
    record: Record
    kept: str = ""

    def __repr__(self):
        lines = [self.headline, ""]
        lines += ["  ".join(f"{text:19}" for text in row).rstrip() for row in self._rows()]
        if reviews := self.to_review:
            lines += ["", "To review"]
            lines += [f"  {step}: {review.means} Look: {review.look}" for step, review in reviews]
        if self.fixed:
            lines += ["", _FIXED, *(f"  {step}: {review.means}" for step, review in self.fixed)]
        if self.record.answers:
            lines += ["", self._questions]
        return "\n".join(lines)

    def _repr_html_(self):
        parts = self._table(), self._to_review(), self._fixed(), self._answered(), self._kept()
        return f"<div>{''.join(parts)}</div>"

    @property
    def headline(self) -> str:
        """The points so far, and by which checks."""
        best = sum(points for step in self.graded for points in step.points.values())
        return f"{self.points:g} of {best:g} points so far, {self._by_which_checks()}"

    @property
    def graded(self) -> list[Exercise]:
        """The exercises that are worth points."""
        return [exercise for exercise in self.exercises.values() if exercise.points]

    @property
    def points(self) -> float:
        """What the aspects that pass are worth."""
        return sum(
            points
            for exercise in self.graded
            for aspect, points in exercise.points.items()
            if self._state(exercise, aspect)
        )

    @property
    def to_review(self) -> list[tuple[str, Review]]:
        """The last mistake of each step that fails."""
        return [(step, met[-1]) for step, met in self.record.reviews.items() if self._fails(step)]

    @property
    def fixed(self) -> list[tuple[str, Review]]:
        """The mistakes with a name that were met on the way."""
        return [
            (step, review)
            for step, met in self.record.reviews.items()
            for review in (met[:-1] if self._fails(step) else met)
            if review.slug
        ]

    @property
    def _questions(self):
        answers = self.record.answers.values()
        return f"Questions: {len(answers)} answered, {sum(answers)} right at the first try."

    def _fails(self, step):
        return step in self.record.results and not self.record.passes(step)

    def _state(self, exercise, aspect):
        result = self.record.results.get(exercise.name, {}).get(aspect)
        return result and result.passed

    def _by_which_checks(self):
        results = [result for step in self.record.results.values() for result in step.values()]
        passed = [result for result in results if result.passed]
        if not passed:
            return "nothing passes yet."
        if all(result.hidden for result in passed):
            return "by all checks, also those that grading has."
        return "by the visible checks. Grading has hidden ones as well."

    def _rows(self):
        yield ["step", *ASPECTS, "points"]
        for exercise in self.graded:
            states = {aspect: self._state(exercise, aspect) for aspect in ASPECTS}
            got = sum(exercise.points.get(aspect, 0) for aspect in ASPECTS if states[aspect])
            best = sum(exercise.points.values())
            signs = [_SIGNS[state] for state in states.values()]
            yield [exercise.name, *signs, f"{got:g} of {best:g}"]

    def _table(self):
        head, *rows = self._rows()
        caption = f'<caption style="{_STYLE["caption"]}">{escape(self.headline)}</caption>'
        top = "".join(_th(text, "col") for text in head)
        body = "".join(
            f"<tr>{_th(step, 'row')}{''.join(map(_td, cells))}</tr>" for step, *cells in rows
        )
        return f'<table style="{_STYLE["table"]}">{caption}<tr>{top}</tr>{body}</table>'

    def _to_review(self):
        return f"<p><b>To review</b></p>{_list(self.to_review)}" if self.to_review else ""

    def _fixed(self):
        if not self.fixed:
            return ""
        items = "".join(
            f"<li><code>{escape(step)}</code>: {_prose(review.means)}</li>"
            for step, review in self.fixed
        )
        return (
            f"<details><summary>{_FIXED}</summary>"
            f'<ul style="{_STYLE["list"]}">{items}</ul></details>'
        )

    def _answered(self):
        return f"<p>{self._questions}</p>" if self.record.answers else ""

    def _kept(self):
        return f'<p style="{_STYLE["note"]}">{escape(self.kept)}</p>' if self.kept else ""


@dataclass(frozen=True)
class Summary:
    """A page to keep: shown in the notebook, with a link that downloads it as a file."""

    page: Page

    def __repr__(self):
        return f"{date.today():%Y-%m-%d}\n{self.page!r}"

    def _repr_html_(self):
        content = b64encode(self.to_html().encode()).decode()
        link = f'<a download="{_TITLE}.html" href="data:text/html;base64,{content}">Download</a>'
        return f"{replace(self.page, kept='')._repr_html_()}<p>{link} this table as a page.</p>"

    def to_html(self) -> str:
        """The whole page, with today's date."""
        return (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{_TITLE}</title>'
            "<style>:root { color-scheme: light dark } "
            "body { font: 1rem/1.4 sans-serif; margin: 2rem }</style></head>"
            f"<body><main><h1>{_TITLE}</h1><p>{date.today():%Y-%m-%d}</p>"
            f"{replace(self.page, kept='')._repr_html_()}</main></body></html>\n"
        )


def _th(text, scope):
    return f'<th scope="{scope}" style="{_STYLE["cell"]}">{escape(text)}</th>'


def _td(text):
    return f'<td style="{_STYLE["cell"]}">{escape(text)}</td>'


def _list(reviews):
    items = "".join(
        f"<li><code>{escape(step)}</code>: {_prose(review.means)} "
        f"<b>Look:</b> {_prose(review.look)}</li>"
        for step, review in reviews
    )
    return f'<ul style="{_STYLE["list"]}">{items}</ul>'


def _prose(text):
    """HTML in which `code` is set as code."""
    parts = escape(text, quote=False).split("`")
    parts[1::2] = [f"<code>{part}</code>" for part in parts[1::2]]
    return "".join(parts)
