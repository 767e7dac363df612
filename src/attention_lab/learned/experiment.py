"""The same task for one, two and four heads, shown as it is learned."""

from __future__ import annotations

import os
from collections.abc import Callable

from IPython.display import HTML, display
from torch import nn

from attention_lab.heatmap import Heatmap, show_heads
from attention_lab.learned import report, task
from attention_lab.learned.train import STEPS, Run, train

HEADS = (1, 2, 4)
SEEDS = range(10)
# Training steps between two looks at the progress.
_EVERY = 10
# A head has a job when at least half of its weight lies where the job wants it.
_JOB = 0.5


class Experiment:
    """Trains a learner's attention class, and keeps the last run for each number of heads.

    steps: how long each of them is trained; the default is what the lesson speaks of.
    """

    def __init__(self, attention_class: type[nn.Module], steps: int = STEPS):
        self.attention_class = attention_class
        self.steps = steps
        self.runs: dict[int, Run] = {}

    def run(self, seed: int = 1) -> None:
        """Train 1, 2 and 4 heads, about ten seconds in all, and show how it went."""
        if os.environ.get("NBGRADER_EXECUTION"):
            print("(Nothing is trained while a notebook is graded.)")
            return
        shown = display(HTML(report.progress([], 0, self.steps)), display_id=True)
        self._train(seed, lambda html: shown and shown.update(HTML(html)))
        print(report.verdict([*self.runs.values()], another_seed(seed)))

    def heads(self, num_heads: int = 4) -> Heatmap | None:
        """The heads before and after training, on a new story, each with its job in words.

        Raises:
            ValueError: no layer with that many heads was trained.
        """
        if not self.runs:
            print("Nothing has been trained yet: run the cell above first.")
            return None
        if num_heads not in self.runs:
            raise ValueError(
                f"trained were {', '.join(map(str, self.runs))} heads, not {num_heads}"
            )
        run = self.runs[num_heads]
        return show_heads(
            run.weights,
            [token.replace(" ", "\N{NO-BREAK SPACE}") for token in run.tokens],
            labels={when: jobs(run, when) for when in run.weights},
            causal=False,
            compare="after",
            title=f"Heads before and after training (seed {run.seed})",
        )

    def _train(self, seed: int, show: Callable[[str], None]) -> None:
        self.runs, done = {}, []
        for num_heads in HEADS:

            def tell(step, loss, num_heads=num_heads):
                if step % _EVERY == 0 or step == self.steps:
                    show(report.progress(done, num_heads, self.steps, step, loss))

            done.append(train(self.attention_class, num_heads, seed, steps=self.steps, report=tell))
        self.runs = dict(zip(HEADS, done, strict=True))
        show(report.results(done))


def jobs(run: Run, when: str) -> list[str]:
    """What each head of a run does, in words; when: "before" or "after" training."""
    words = []
    for share in run.shares[when]:
        job = share.argmax().item()
        does_it = share[job] >= _JOB
        words.append(f"{task.JOBS[job]} {100 * share[job]:.0f} %" if does_it else "no single job")
    return words


def another_seed(seed: int) -> int:
    """The next of the seeds to choose from."""
    return (seed + 1) % len(SEEDS)
