"""Heatmaps beside BertViz and CircuitsVis, on the same weights.

    python benchmarks/heatmap_beside.py

Both are put into a folder that is thrown away; where they cannot be installed, it says so. For each
tool: the time Python takes to make its output, the size of that output, the time from opening the
page until it is drawn, and the work that one choice of a head causes on the browser's main thread.
BertViz draws nothing until it has fetched three scripts from a server elsewhere. CircuitsVis is
measured as it is without a network, with its scripts inside the output.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from heatmap import median_ms, weights
from playwright.sync_api import Browser, Page, TimeoutError, sync_playwright

from attention_lab import show_heads

SIZES = [(8, 8), (12, 32), (12, 128)]
# With what they import beyond what this package needs itself.
PACKAGES = ["bertviz==1.4.1", "circuitsvis==1.43.3", "importlib_metadata==8.5.0", "zipp==3.21.0"]


@dataclass(frozen=True)
class Tool:
    """``output(weights (H, T, T), tokens)`` gives HTML; ``drawn`` and ``heads`` are selectors."""

    name: str
    output: Callable[[torch.Tensor, list[str]], str]
    drawn: str
    heads: str


def bertviz(heads: torch.Tensor, tokens: list[str]) -> str:
    from bertviz import head_view

    return head_view([heads[None]], tokens, html_action="return").data


def circuitsvis(heads: torch.Tensor, tokens: list[str]) -> str:
    from circuitsvis.attention import attention_heads

    return attention_heads(heads, tokens).local_src


def attention_lab(heads: torch.Tensor, tokens: list[str]) -> str:
    return "".join(show_heads(heads, tokens)._repr_mimebundle_().values())


TOOLS = [
    Tool("this package", attention_lab, "canvas[tabindex]", ".thumbnails button"),
    Tool("CircuitsVis", circuitsvis, "h4 ~ div canvas", "h4"),
    Tool("BertViz", bertviz, "#vis svg g[head-index]", "#vis svg > g:last-of-type rect"),
]


def install(folder: str) -> bool:
    """Put the packages, and nothing they depend on, into ``folder``; False if that cannot be."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--target", folder, *PACKAGES]
    return subprocess.run(command, capture_output=True).returncode == 0


def measure(browser: Browser, tool: Tool, H: int, T: int, folder: Path) -> None:
    heads, tokens = torch.tensor(weights(H, T)).float(), [f"word{i}" for i in range(T)]
    name = f"{H}×{T} {tool.name}"
    python = median_ms(lambda: tool.output(heads, tokens), 3)
    kilobytes = len(tool.output(heads, tokens).encode()) / 1000
    path = folder / "page.html"
    if tool.output is attention_lab:
        show_heads(heads, tokens).to_html(path)
    else:
        path.write_text(f"<!doctype html><body>{tool.output(heads, tokens)}", encoding="utf-8")
    page = browser.new_page()
    print(f"{name:22} Python {python:7.1f} ms {kilobytes:9.1f} kB", end="", flush=True)
    try:
        shown = time_to_draw(page, path.as_uri(), tool.drawn)
        print(f"   drawn after {shown:6.0f} ms   head choice {choice(page, tool.heads):7.1f} ms")
    except TimeoutError:
        print("   not drawn within 20 s")
    page.close()


def time_to_draw(page: Page, address: str, drawn: str) -> float:
    start = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.locator(drawn).first.wait_for(state="attached", timeout=20_000)
    page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    return 1000 * (time.perf_counter() - start)


def choice(page: Page, heads: str) -> float:
    """Milliseconds of work on the main thread in the second after a click on a head."""
    client = page.context.new_cdp_session(page)
    client.send("Performance.enable")

    def worked() -> float:
        metrics = client.send("Performance.getMetrics")["metrics"]
        return next(1000 * m["value"] for m in metrics if m["name"] == "TaskDuration")

    taken = []
    for i in range(1, 6):
        button = page.locator(heads).nth(i)
        before = worked()
        button.dispatch_event("click")
        page.wait_for_timeout(1000)
        taken.append(worked() - before)
    return statistics.median(taken)


def main() -> int:
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        if not install(folder):
            print("BertViz and CircuitsVis could not be installed: nothing to stand beside")
            return 0
        sys.path.append(folder)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            for H, T in SIZES:
                for tool in TOOLS:
                    measure(browser, tool, H, T, Path(folder))
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
