"""Small tables as static HTML, for the card beside a message."""

import html

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
MOST_HEADS, MOST_TOKENS, MOST_FEATURES = 6, 9, 8
ACCENT = "#c2410c"
BOX = "border:1px solid #8888;border-radius:6px;padding:.2em .6em;text-align:center"
ODD = f"{BOX};border:2px solid {ACCENT}"
QUIET = "font-size:.85em;opacity:.8"
LABEL = "font-size:.8em;font-weight:normal;opacity:.8;padding:0 .4em;text-align:right"
CELL = "padding:0;width:1.2em;height:1.2em;border:1px solid #8884"
STRIPES = f"background:repeating-linear-gradient(45deg,{ACCENT} 0 2px,transparent 2px 5px)"


def figure(title, rows, note=""):
    """A table of cells, given as HTML row by row, below its title and above a note."""
    caption = f'<figcaption style="{QUIET}">{title}</figcaption>'
    body = "".join(f"<tr>{''.join(cells)}</tr>" for cells in rows)
    table = f'<table style="color:inherit;margin:0">{body}</table>' if rows else ""
    below = f'<div style="{QUIET}">{note}</div>' if note else ""
    return (
        f'<figure style="margin:0;max-width:100%;overflow-x:auto">{caption}{table}{below}</figure>'
    )


def box(text, sign=""):
    """A cell with a border, thick where it has a sign."""
    return f'<td style="{ODD if sign else BOX}">{text}{sign}</td>'


def source(text, is_marked):
    """A cell with a line of code, with a thick border where it is marked."""
    style = "font-family:monospace;white-space:pre;text-align:left;padding:.1em .6em"
    border = f";border:2px solid {ACCENT};border-radius:6px" if is_marked else ""
    return f'<td style="{style}{border}">{html.escape(text)}</td>'


def heatmaps(result, sums=False):
    """A map for each of the first heads of the first sentence."""
    return [
        heatmap(f"your head {h}" + (": a row for each query" if h == 0 else ""), part, sums=sums)
        for h, part in enumerate(result[0, :MOST_HEADS].double())
    ]


def heatmap(title, weights, note="", sums=False):
    """A map whose rows go from faint, their least, to full, their most; NaN is striped.

    sums: write what a row sums to beside it where that is not 1, and say it where columns do.
    """
    odd = sums and not (_is_one(weights.sum(-1)) | weights.isnan().any(-1)).all()
    if odd and _is_one(weights.sum(-2)).all():
        note = "columns sum to 1, rows do not"
    rows = [
        [
            label(i),
            *_shaded(row[:MOST_TOKENS]),
            *_more(row, MOST_TOKENS),
            *([_sum(row)] if odd else []),
        ]
        for i, row in enumerate(weights[:MOST_TOKENS])
    ]
    return figure(title, rows, note)


def _is_one(sums):
    return (sums - 1).abs() < 1e-4


def _more(items, most):
    """A cell that tells that more would follow, or none."""
    return [f'<td style="{LABEL}">{ELLIPSIS}</td>'] if len(items) > most else []


def label(row):
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


def sources(title, rows, source, axes, note):
    """Where each number comes from: its place in the argument, on the axes named."""
    rows = [
        [
            label(i),
            *(box(_place(number, source, axes)) for number in row[:MOST_FEATURES]),
            *_more(row, MOST_FEATURES),
        ]
        for i, row in enumerate(rows[:MOST_TOKENS])
    ]
    return figure(f"{title}: {' and '.join(axes)} that each number comes from", rows, note)


def _place(number, source, axes):
    places = (source == number).nonzero().tolist()
    if len(places) != 1:
        return "?"
    return " ".join(f"{name[0]}{places[0][axis]}" for name, axis in axes.items())
