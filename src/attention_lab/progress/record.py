"""What the checks have said so far, kept in a small file beside the notebook."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

ASPECTS = ("shape", "value")


@dataclass
class Result:
    """What the last check of one aspect said.

    passed: whether it was right. hidden: whether the hidden trials were among those tried.
    checks: how often it has been checked.
    """

    passed: bool
    hidden: bool
    checks: int = 1


@dataclass(frozen=True)
class Review:
    """A mistake worth a second look: what it means, where to look; slug is its name, or None."""

    slug: str | None
    means: str
    look: str


@dataclass
class Record:
    """Results by step and aspect, the mistakes met in each step, oldest first, and the questions
    answered: for each whether its first answer was right."""

    results: dict[str, dict[str, Result]] = field(default_factory=dict)
    reviews: dict[str, list[Review]] = field(default_factory=dict)
    answers: dict[str, bool] = field(default_factory=dict)

    def note(self, step: str, aspect: str | None, hidden: bool, mistake) -> None:
        """Take down what a check said; `mistake` is its Mistake, or None for a right answer.

        An exercise that is not written yet is not a mistake: its results are dropped.
        """
        if mistake is None:
            for each in [aspect] if aspect else ASPECTS:
                self._set(step, each, True, hidden)
        elif mistake.means:
            self._set(step, aspect or _charged(mistake.aspect), False, hidden)
            self._review(step, Review(mistake.misconception, mistake.means, mistake.look))
        else:
            self.forget(step)

    def note_answer(self, question: str, right: bool) -> None:
        """Take down the first answer to a question."""
        self.answers.setdefault(question, right)

    def forget(self, step: str) -> None:
        """Drop the results of a step. The mistakes met in it stay."""
        self.results.pop(step, None)

    def passes(self, step: str) -> bool:
        """Whether both aspects of a step were right when last checked."""
        results = self.results.get(step, {})
        return all(each in results and results[each].passed for each in ASPECTS)

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Record":
        """The record that `to_json` wrote.

        Raises:
            ValueError: the text is not such a record.
        """
        try:
            content = json.loads(text)
            results = {
                step: {aspect: Result(**result) for aspect, result in by_aspect.items()}
                for step, by_aspect in content["results"].items()
            }
            reviews = {
                step: [Review(**review) for review in met]
                for step, met in content["reviews"].items()
            }
            answers = {name: bool(right) for name, right in content.get("answers", {}).items()}
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"not a record of progress: {error}") from None
        return cls(results, reviews, answers)

    def _set(self, step, aspect, passed, hidden):
        results = self.results.setdefault(step, {})
        checks = results[aspect].checks + 1 if aspect in results else 1
        results[aspect] = Result(passed, hidden, checks)

    def _review(self, step, review):
        met = self.reviews.setdefault(step, [])
        if review not in met:
            met.append(review)


def load(path: Path) -> Record:
    """The record in a file; an empty one if there is no such file, or if it cannot be read."""
    try:
        return Record.from_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Record()
    except (OSError, ValueError) as error:
        print(f"{path.name} cannot be read, so the count of your progress begins anew ({error}).")
        return Record()


def save(record: Record, path: Path) -> bool:
    """Write the record to a file; returns whether that was possible."""
    try:
        path.write_text(record.to_json(), encoding="utf-8")
    except OSError:
        return False
    return True


def _charged(aspect):
    """The aspect whose points a mistake costs: manners are charged to the value."""
    return "shape" if aspect == "shape" else "value"
