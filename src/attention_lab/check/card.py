"""The card beside a message in a notebook: two shapes side by side, and the learner's own result.

One piece of static HTML with inline styles, readable on light and on dark pages, without scripts.
It repeats no sentence of the message, and shows nothing of the right result but its shape, and of
scores that only lack their scale how far apart they would be.
"""

from attention_lab.check.judge import close
from attention_lab.check.words import AXES, ELLIPSIS

MOST_HEADS, MOST_TOKENS, MOST_FEATURES = 6, 9, 8
ACCENT = "#c2410c"
BOX = "border:1px solid #8888;border-radius:6px;padding:.2em .6em;text-align:center"
ODD = f"{BOX};border:2px solid {ACCENT}"
QUIET = "font-size:.85em;opacity:.8"
LABEL = "font-size:.8em;font-weight:normal;opacity:.8;padding:0 .4em;text-align:right"
CELL = "padding:0;width:1.2em;height:1.2em;border:1px solid #8884"
STRIPES = f"background:repeating-linear-gradient(45deg,{ACCENT} 0 2px,transparent 2px 5px)"


def card(evidence, symptom) -> str:
    """Return the HTML of the card for what was seen, or "" where there is nothing to show."""
    trial = next(
        (t for t in evidence.trials if t.probe is symptom.probe and t.index == symptom.call), None
    )
    if trial is None or not trial.got or symptom.aspect == "manner":
        return ""
    figures = _inside(trial) if trial.has_right_shape else _shapes(trial, symptom)
    if not figures:
        return ""
    style = "display:flex;flex-wrap:wrap;gap:.5em 1.5em;margin:.3em 0"
    return f'<div style="{style}">{"".join(figures)}</div>'


def _figure(title, rows, note=""):
    caption = f'<figcaption style="{QUIET}">{title}</figcaption>'
    body = "".join(f"<tr>{''.join(cells)}</tr>" for cells in rows)
    table = f'<table style="color:inherit;margin:0">{body}</table>' if rows else ""
    below = f'<div style="{QUIET}">{note}</div>' if note else ""
    return (
        f'<figure style="margin:0;max-width:100%;overflow-x:auto">{caption}{table}{below}</figure>'
    )


# --- two shapes ---


def _shapes(trial, symptom):
    """Both shapes, a box for each axis; one that does not fit has a thick border and a sign."""
    if symptom.kind != "shape":
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
            note = "row i should hold token i only, with neighbouring features"
            return [_sources("your head 0", result[0, 0], first, {"token": 1, "feature": 2}, note)]
        case "merge_heads":
            note = "row i should hold token i of head 0, then of head 1, and so on"
            return [_sources("your rows", result[0], first, {"token": 2, "head": 1}, note)]
        case "causal_mask":
            title = "what your mask lets through: a row for each query"
            return [_map(title, result.double().exp(), "row i should be open up to key i")]
        case "attention_scores":
            return _unscaled(result, *trial.wanted, trial.sizes["d_head"] ** 0.5)
        case "masked_softmax":
            return _maps(result, sums=True)
    return []


def _unscaled(scores, right, scale):
    """How far scores that only lack their scale stray, and how far they would with it."""
    if not close(scores, scale * right, 1e-4):
        return []
    stray = float(scores.double().std(correction=0))
    told = f"Your scores stray {stray:.2g} from their mean."
    return [_figure(told, [], f"Divided by sqrt(d_head) it would be {stray / scale:.2g}.")]


def _maps(result, sums=False):
    """A map for each of the first heads of the first sentence."""
    return [
        _map(f"your head {h}" + (": a row for each query" if h == 0 else ""), part, sums=sums)
        for h, part in enumerate(result[0, :MOST_HEADS].double())
    ]


def _map(title, weights, note="", sums=False):
    """A map whose rows go from faint, their least, to full, their most; NaN is striped.

    sums: write what a row sums to beside it where that is not 1, and say it where columns do.
    """
    odd = sums and not (_is_one(weights.sum(-1)) | weights.isnan().any(-1)).all()
    if odd and _is_one(weights.sum(-2)).all():
        note = "columns sum to 1, rows do not"
    rows = [
        [
            _label(i),
            *_shaded(row[:MOST_TOKENS]),
            *_more(row, MOST_TOKENS),
            *([_sum(row)] if odd else []),
        ]
        for i, row in enumerate(weights[:MOST_TOKENS])
    ]
    return _figure(title, rows, note)


def _is_one(sums):
    return (sums - 1).abs() < 1e-4


def _more(items, most):
    """A cell that tells that more would follow, or none."""
    return [f'<td style="{LABEL}">{ELLIPSIS}</td>'] if len(items) > most else []


def _label(row):
    return f'<th style="{LABEL}">{row}</th>'


def _sum(row):
    return f'<td style="{LABEL}">sum {float(row.sum()):.3g}</td>'


def _shaded(row):
    finite = row[row.isfinite()].tolist() or [0.0]
    low, high = min(0.0, *finite), max(finite)
    shades = (row.clamp(low, high) - low) / ((high - low) or 1.0)
    for value, shade in zip(row.tolist(), shades.tolist(), strict=True):
        is_nan = value != value
        told = "NaN" if is_nan else f"{value:.2g}"
        fill = STRIPES if is_nan else f"background:rgba(42,114,181,{shade:.2f})"
        yield f'<td style="{CELL};{fill}" title="{told}" aria-label="{told}"></td>'


def _sources(title, rows, source, axes, note):
    """Where each number comes from: its place in the argument, on the axes named."""
    rows = [
        [
            _label(i),
            *(_box(_place(number, source, axes)) for number in row[:MOST_FEATURES]),
            *_more(row, MOST_FEATURES),
        ]
        for i, row in enumerate(rows[:MOST_TOKENS])
    ]
    return _figure(f"{title}: {' and '.join(axes)} that each number comes from", rows, note)


def _place(number, source, axes):
    places = (source == number).nonzero().tolist()
    if len(places) != 1:
        return "?"
    return " ".join(f"{name[0]}{places[0][axis]}" for name, axis in axes.items())
