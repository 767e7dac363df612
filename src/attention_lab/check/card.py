"""The card beside a message in a notebook: two shapes side by side, and the learner's own result.

One piece of static HTML with inline styles, readable on light and on dark pages, without scripts.
It repeats no sentence of the message, and shows nothing of the right result but its shape.
"""

from attention_lab.check.words import AXES

MOST_HEADS, MOST_TOKENS, MOST_FEATURES = 6, 9, 8
ACCENT = "#c2410c"
BOX = "border:1px solid #8888;border-radius:6px;padding:.2em .6em;text-align:center"
ODD = f"{BOX};border:2px solid {ACCENT}"
QUIET = "font-size:.85em;opacity:.8"
CELL = "padding:0;width:1.2em;height:1.2em;border:1px solid #8884"
STRIPES = f"background:repeating-linear-gradient(45deg,{ACCENT} 0 2px,transparent 2px 5px)"


def card(evidence, symptom) -> str:
    """Return the HTML of the card for what was seen, or "" where there is nothing to show."""
    trial = next(
        (t for t in evidence.trials if t.probe is symptom.probe and t.index == symptom.call), None
    )
    if trial is None or not trial.got or symptom.aspect == "manner":
        return ""
    figures = _inside(trial) if trial.has_right_shape else _shapes(trial)
    if not figures:
        return ""
    style = "display:flex;flex-wrap:wrap;gap:.5em 1.5em;margin:.3em 0"
    return f'<div style="{style}">{"".join(figures)}</div>'


def _figure(title, rows):
    caption = f'<figcaption style="{QUIET}">{title}</figcaption>'
    body = "".join(f"<tr>{''.join(cells)}</tr>" for cells in rows)
    return f'<figure style="margin:0">{caption}<table style="color:inherit">{body}</table></figure>'


# --- two shapes ---


def _shapes(trial):
    """Both shapes, a box for each axis; one that does not fit has a thick border and a sign."""
    if len(trial.got) != len(trial.wanted):
        return []
    got, wanted = next(
        (g.shape, w.shape)
        for g, w in zip(trial.got, trial.wanted, strict=True)
        if g.shape != w.shape
    )
    fits = [i < len(wanted) and size == wanted[i] for i, size in enumerate(got)]
    came = [
        _box(size, "" if fit else " \N{NOT EQUAL TO}") for size, fit in zip(got, fits, strict=True)
    ]
    names = AXES[trial.probe.step]
    named = [_box(f"{size} {name}") for size, name in zip(wanted, names, strict=True)]
    return [_figure("came back", [came or [_box("one number")]]), _figure("wanted", [named])]


def _box(text, sign=""):
    return f'<td style="{ODD if sign else BOX}">{text}{sign}</td>'


# --- what is inside ---


def _inside(trial):
    (result, *_), first = trial.got, trial.call.args[0]
    match trial.probe.step:
        case "split_heads":
            return [_sources("your head 0", result[0, 0], first, {"token": 1, "feature": 2})]
        case "merge_heads":
            return [_sources("your rows", result[0], first, {"token": 2, "head": 1})]
        case "causal_mask":
            return [
                _map("what your mask lets through: a row for each query", result.double().exp())
            ]
        case "attention_scores" | "masked_softmax":
            maps = result[0, :MOST_HEADS].double()
            return [
                _map(f"your head {h}" + (": a row for each query" if h == 0 else ""), weights)
                for h, weights in enumerate(maps)
            ]
    return []


def _map(title, weights):
    """A map whose rows go from faint, their least, to full, their most; NaN is striped."""
    return _figure(title, map(_shaded, weights[:MOST_TOKENS, :MOST_TOKENS]))


def _shaded(row):
    finite = row[row.isfinite()].tolist() or [0.0]
    low, high = min(0.0, *finite), max(finite)
    shades = (row.clamp(low, high) - low) / ((high - low) or 1.0)
    for value, shade in zip(row.tolist(), shades.tolist(), strict=True):
        is_nan = value != value
        told = "NaN" if is_nan else f"{value:.2g}"
        fill = STRIPES if is_nan else f"background:rgba(42,114,181,{shade:.2f})"
        yield f'<td style="{CELL};{fill}" title="{told}" aria-label="{told}"></td>'


def _sources(title, rows, source, axes):
    """Where each number comes from: its place in the argument, on the axes named."""
    rows = [
        [_box(_place(number, source, axes)) for number in row]
        for row in rows[:MOST_TOKENS, :MOST_FEATURES]
    ]
    return _figure(f"{title}: {' and '.join(axes)} that each number comes from", rows)


def _place(number, source, axes):
    places = (source == number).nonzero().tolist()
    if len(places) != 1:
        return "?"
    return " ".join(f"{name[0]}{places[0][axis]}" for name, axis in axes.items())
