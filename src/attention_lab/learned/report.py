"""How a training goes, and how it went: as HTML, as a picture, in words."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape

from attention_lab.learned import task
from attention_lab.learned.train import SOLVED, Run

# Legible on light and on dark paper.
_INK, _LINE = "#767676", "#2e7db0"
_CELL = "padding: 2px 8px; white-space: nowrap"
# The loss is drawn as the mean over so many steps.
_SMOOTH = 10


def progress(done: list[Run], now: int, steps: int, step: int = 0, loss: float = 0) -> str:
    """A bar for what is being trained, below the losses of what is done, as HTML."""
    lines = [f"{heads(run.num_heads)}: loss {run.loss:.2f}" for run in done]
    if now:
        bar = f'<progress max="{steps}" value="{step}" aria-label="progress"></progress>'
        lines.append(f"{heads(now)}: {bar} step {step} of {steps}, loss {loss:.2f}")
    return "".join(f"<div>{line}</div>" for line in lines)


def results(runs: list[Run]) -> str:
    """The accuracies as a table and the losses as a picture, as HTML."""
    image = base64.b64encode(curves(runs)).decode()
    return (
        f'<div style="overflow-x: auto">{table(runs)}'
        f'<img style="min-width: 34em" alt="{escape(describe(runs))}" '
        f'src="data:image/png;base64,{image}"></div>'
    )


def table(runs: Sequence[Run]) -> str:
    """The accuracies as a table, as HTML."""
    columns = "".join(
        f'<th scope="col" style="text-align: right; {_CELL}">{escape(name)}</th>'
        for name in ("parameters", *task.JOBS, "loss")
    )
    rows = "".join(
        f'<tr><th scope="row" style="text-align: left; {_CELL}">{heads(run.num_heads)}</th>'
        + "".join(f'<td style="text-align: right; {_CELL}">{cell}</td>' for cell in _cells(run))
        + "</tr>"
        for run in runs
    )
    caption = f"<caption>Right answers on new stories, seed {runs[0].seed}</caption>"
    return (
        f"<table>{caption}<thead><tr><td></td>{columns}</tr></thead><tbody>{rows}</tbody></table>"
    )


def curves(runs: list[Run]) -> bytes:
    """The losses of all runs side by side, as a PNG."""
    from matplotlib.figure import Figure  # a third of a second that only a drawing needs

    figure = Figure(figsize=(3 * len(runs), 2.6), layout="constrained")
    panels = figure.subplots(1, len(runs), sharey=True, squeeze=False)[0]
    for panel, run in zip(panels, runs, strict=True):
        panel.plot(_smooth(run.losses), color=_LINE)
        panel.set_title(heads(run.num_heads), color=_INK)
        panel.set_xlabel("step", color=_INK)
        panel.set_ylim(0, 2.2)
        panel.set_facecolor("none")
        panel.tick_params(colors=_INK)
        panel.grid(color=_INK, alpha=0.25)
        for edge in panel.spines.values():
            edge.set_color(_INK)
    panels[0].set_ylabel("loss", color=_INK)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=100, transparent=True)
    return file.getvalue()


def describe(runs: list[Run]) -> str:
    """The picture of the losses in words."""
    ends = ", ".join(f"{heads(run.num_heads)} at {run.loss:.2f}" for run in runs)
    return f"Loss over {len(runs[0].losses)} steps of training, one curve each: {ends}."


def verdict(runs: list[Run], another: int) -> str:
    """What came of it, in one or two sentences; `another` is a seed to try next."""
    most = runs[-1]
    rest = " and ".join(heads(run.num_heads) for run in runs[:-1])
    if not most.solved:
        return (
            f"With seed {most.seed} even {heads(most.num_heads)} did not learn all three jobs. "
            "That happens even if your class passes its checks: the start is a matter of chance. "
            f"Try seed {another}."
        )
    others = [heads(run.num_heads) for run in runs[:-1] if run.solved]
    if others:
        return (
            f"{heads(most.num_heads)} learned all three jobs, and so did {' and '.join(others)} "
            f"this time. Try seed {another}."
        )
    return (
        f"{heads(most.num_heads)} learned all three jobs to {100 * SOLVED:.0f} %. {rest} did not."
    )


def heads(count: int) -> str:
    return "1 head" if count == 1 else f"{count} heads"


def _cells(run: Run) -> list[str]:
    accuracies = [f"{100 * share:.0f} %" for share in run.accuracy]
    return [f"{run.parameters:,}", *accuracies, f"{run.loss:.2f}"]


def _smooth(losses: list[float]) -> list[float]:
    """The mean of each loss and of up to nine before it."""
    windows = (losses[max(0, end - _SMOOTH) : end] for end in range(1, len(losses) + 1))
    return [sum(window) / len(window) for window in windows]
