"""The page: findings put into HTML that needs nothing but itself."""

import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from classroom.class_report import findings
from classroom.class_report.likeness import groups
from classroom.class_report.reading import GradedClass

HERE = Path(__file__).parent
LEVELS = 5  # of shading in the heat table


def render(graded: GradedClass, *, names: bool = False) -> str:
    """The page of a class. names: whether students may be named in it."""
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {
        "breakable": _breakable, "code": _code, "number": _number, "percent": _percent
    }  # fmt: skip
    mistakes = findings.misconceptions(graded)
    return environment.get_template("page.html").render(
        style=(HERE / "page.css").read_text(encoding="utf-8"),
        graded=graded,
        names=names,
        size=len(graded.submissions),
        headlines=findings.headlines(graded),
        mistakes=mistakes,
        level=_shading(mistakes),
        steps=findings.steps(graded),
        totals=findings.totals(graded),
        notes=findings.notes(graded),
        ungraded=_reasons(graded, names),
        groups=groups({s.student: s.answers for s in graded.submissions if s.answers}),
    )


def _shading(mistakes):
    """From a number of students to a level of shading, 0 for none."""
    most = max((count for one in mistakes for count in one.by_step.values()), default=1)
    return lambda count: -(-LEVELS * count // most)


def _reasons(graded: GradedClass, names: bool) -> list[tuple[str, list[str]]]:
    """Why submissions have no grade. What stands behind a colon may name a student."""
    found: dict[str, list[str]] = {}
    for student, reason in graded.ungraded.items():
        found.setdefault(reason if names else reason.partition(":")[0], []).append(student)
    return sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))


def _breakable(name: str) -> Markup:
    """A name that a narrow column may break at its words: snake_case, CamelCase."""
    return Markup("<wbr>").join(re.split(r"(?<=_)|(?<=[a-z])(?=[A-Z])", name))


def _code(text: str) -> Markup:
    """A text in which what stands between `backticks` is code."""
    parts = [Markup("<code>{}</code>" if i % 2 else "{}") for i in range(text.count("`") + 1)]
    return Markup("").join(map(Markup.format, parts, text.split("`")))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{round(value, 1):g}"


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", "\N{NARROW NO-BREAK SPACE}%")
