"""Speed and size of heatmaps, each beside a matplotlib redraw of the same weights.

    python benchmarks/heatmap.py

Times are medians; those of the browser are from a click until its drawing and layout are done,
in headless Chromium. Exits non-zero when a figure is missed.
"""

from __future__ import annotations

import io
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from playwright.sync_api import sync_playwright

from attention_lab import play, show_heads

# Milliseconds wished for on a machine where matplotlib takes MATPLOTLIB to redraw twelve heads.
# What is demanded is the ratio, measured side by side, which a slow or busy machine does not
# change. Eight heads take matplotlib 200 of its 285 ms, so 16 ms there are written as 16 × 285/200.
MATPLOTLIB = 285
CHANGE = {(8, 8): 23, (12, 32): 16, (12, 128): 50}
DISPLAY = RECOMPUTE = 150
KILOBYTES = {(8, 8): 60, (12, 32): 110, (12, 128): 260}

# Reading a pixel and a height back waits until the click's drawing and layout are done.
_CLICK = """selector => {
  const root = document.querySelector("[data-heads]").shadowRoot;
  const buttons = [...root.querySelectorAll(selector)];
  const times = [];
  for (let i = 0; i < 21; i++) {
    const start = performance.now();
    buttons[(i + 1) % buttons.length].click();
    root.querySelector("canvas[tabindex]").getContext("2d").getImageData(0, 0, 1, 1);
    root.host.offsetHeight;
    times.push(performance.now() - start);
  }
  return times;
}"""


def weights(H: int, T: int) -> np.ndarray:
    """Heads of several kinds, sharp and flat (H, T, T), none of them masked."""
    rng = np.random.default_rng(0)
    query, key = np.indices((T, T))
    jobs = [key == query - 1, key == query, key == 0, -abs(query - key) / 9, (query - key) % 3 == 0]
    scores = rng.normal(size=(H, T, T)) + [6.0 * jobs[h % len(jobs)] for h in range(H)]
    exponential = np.exp(scores - scores.max(-1, keepdims=True))
    return exponential / exponential.sum(-1, keepdims=True)


def median_ms(work, times: int = 7) -> float:
    work()
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(1000 * (time.perf_counter() - start))
    return statistics.median(taken)


def draw_with_matplotlib(heads: np.ndarray) -> None:
    """What a redraw costs a notebook without a canvas: every head, one of them large."""
    figure = Figure(figsize=(10, 6))
    FigureCanvasAgg(figure)
    columns = (len(heads) + 1) // 2
    for h, head in enumerate(heads):
        axes = figure.add_subplot(3, columns, h + 1)
        axes.imshow(head, vmin=0, vmax=1)
        axes.set_axis_off()
    figure.add_subplot(3, 1, 3).imshow(heads[0], vmin=0, vmax=1)
    figure.savefig(io.BytesIO(), format="png")


def main() -> int:
    missed = []

    def size(what: str, kilobytes: float, limit: float):
        print(f"{what:40}{kilobytes:8.1f} kB, at most {limit}", flush=True)
        if kilobytes > limit:
            missed.append(what)

    def speed(what: str, ms: float, wish: float, matplotlib: float):
        ratio, needed = matplotlib / ms, MATPLOTLIB / wish
        print(
            f"{what:40}{ms:8.1f} ms, matplotlib {matplotlib:6.1f} ms: "
            f"{ratio:5.1f} times as fast, at least {needed:.1f}",
            flush=True,
        )
        if ratio < needed:
            missed.append(what)

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for (H, T), wish in CHANGE.items():
            name, heads = f"{H}×{T}", weights(H, T)
            tokens = [f"word{i}" for i in range(T)]
            matplotlib = median_ms(lambda heads=heads: draw_with_matplotlib(heads), 3)
            bundle = show_heads(heads, tokens)._repr_mimebundle_()
            bytes_out = sum(len(part.encode()) for part in bundle.values())
            size(f"{name} output", bytes_out / 1000, KILOBYTES[H, T])
            page = browser.new_page()
            page.goto(show_heads(heads, tokens).to_html(Path(folder, "page.html")).as_uri())
            page.get_by_role("application").first.wait_for()
            toggle = "header button[aria-pressed]:not([title])"
            for what, selector in (
                ("head choice", ".thumbnails button"),
                ("causal toggle", toggle),
            ):
                change = statistics.median(page.evaluate(_CLICK, selector))
                speed(f"{name} {what}", change, wish, matplotlib)
            page.close()
        browser.close()

    heads, tokens = weights(12, 32), [f"word{i}" for i in range(32)]
    display = median_ms(lambda: show_heads(heads, tokens)._repr_mimebundle_())
    matplotlib = median_ms(lambda: draw_with_matplotlib(heads), 3)
    speed("12×32 first display, in Python", display, DISPLAY, matplotlib)
    player = play(lambda words, temperature=1.0: heads, tokens)
    values = iter(player.options["temperature"].options * 10)
    recompute = median_ms(lambda: player.options["temperature"].set_trait("value", next(values)))
    speed("12×32 play, recomputed by the kernel", recompute, RECOMPUTE, matplotlib)

    print("short of: " + ", ".join(missed) if missed else "all figures hold")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
