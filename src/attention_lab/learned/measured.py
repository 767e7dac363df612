"""What came out with ten seeds: measured beforehand, to be chosen from without a kernel."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path

from attention_lab.heatmap import page
from attention_lab.heatmap.display import is_grading
from attention_lab.learned import report
from attention_lab.learned.experiment import SEEDS, another_seed
from attention_lab.learned.train import SOLVED, Run

FILE = Path(__file__).with_name("measured.json")
_POINTS = 40


@dataclass(frozen=True)
class Measured:
    """What is kept of a training. losses: at 40 points, each the mean of the steps between."""

    num_heads: int
    seed: int
    parameters: int
    accuracy: list[float]
    loss: float
    losses: list[float]

    @classmethod
    def of(cls, run: Run) -> Measured:
        every = len(run.losses) // _POINTS
        means = [
            sum(run.losses[at : at + every]) / every for at in range(0, _POINTS * every, every)
        ]
        return cls(
            run.num_heads,
            run.seed,
            run.parameters,
            [round(share, 3) for share in run.accuracy],
            round(run.loss, 3),
            [round(loss, 2) for loss in means],
        )

    @property
    def solved(self) -> bool:
        """All jobs are done."""
        return min(self.accuracy) >= SOLVED


def read() -> dict[int, list[Measured]]:
    """The trainings that are kept, by their seed."""
    content = json.loads(FILE.read_text(encoding="utf-8"))
    return {seed: [Measured(**run) for run in content[str(seed)]] for seed in SEEDS}


def write(runs: Iterable[Run]) -> None:
    """Keep these trainings, in place of those that were kept."""
    by_seed: dict[int, list[dict]] = {}
    for run in runs:
        by_seed.setdefault(run.seed, []).append(asdict(Measured.of(run)))
    FILE.write_text(json.dumps(by_seed, separators=(",", ":")) + "\n", encoding="utf-8")


class Seeds:
    """A choice of seeds, each with what came out: a table, the losses, a sentence."""

    def __init__(self, runs: dict[int, list[Measured]]):
        self.runs = runs

    def __repr__(self):
        return "\n".join(f"seed {seed}: {_verdict(runs)}" for seed, runs in self.runs.items())

    def _repr_mimebundle_(self, include=None, exclude=None):
        words = {"text/plain": repr(self)}
        return words if is_grading() else {"text/html": self.to_html(), **words}

    def to_html(self) -> str:
        """The choice as an HTML fragment that needs nothing else."""
        items = "".join(f"<li>{_item(seed, runs)}</li>" for seed, runs in self.runs.items())
        names = json.dumps([f"seed {seed}" for seed in self.runs])
        return page.host(
            f"<ol>{items}</ol>",
            ("heads.css", "choice.css"),
            ("dom.js", "theme.js", "choice.js"),
            f"mountChoice(host, 'Start from', {names})",
        )


def seeds() -> Seeds:
    """What came out with ten seeds, each a start of its own."""
    return Seeds(read())


def _verdict(runs):
    return report.verdict(runs, another_seed(runs[0].seed))


def _item(seed, runs):
    curves = "".join(
        f"<figure>{_curve(run)}<figcaption>{report.heads(run.num_heads)}</figcaption></figure>"
        for run in runs
    )
    return (
        f"<details><summary>seed {seed}</summary>{report.table(runs)}"
        f"<div>{curves}</div><p>{escape(_verdict(runs))}</p></details>"
    )


def _curve(run):
    """The loss as a drawing, from 0 to 2.2, like the picture of a training."""
    points = " ".join(f"{4 * i},{80 - 36 * loss:.0f}" for i, loss in enumerate(run.losses))
    words = f"Loss with {report.heads(run.num_heads)}, from {run.losses[0]} to {run.loss:.2f}"
    return (
        f'<svg width="160" height="82" viewBox="0 0 160 82" role="img" aria-label="{words}">'
        f'<polyline fill="none" stroke="currentColor" points="{points}"/></svg>'
    )
