"""Debian's Chromium, pages that must stay silent, and a real Jupyter server on loopback."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect, sync_playwright

ALIVE = """[...document.querySelectorAll('[data-heads]')]
  .every(host => !host.mounted || host.shadowRoot)"""
LAID_OUT = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
expect.set_options(timeout=60_000)
# JupyterLab says so, in several sentences, when it is connected to a kernel anew.
OF_A_BUSY_LAB = "Canceled future for "


@pytest.fixture(scope="module")
def browser():
    """A file's own: while Playwright runs, its process has a running event loop."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Opens what has `to_html` from a file and waits until its heatmaps are alive and laid out.

    Fails on any console error or network request.
    """
    complaints, contexts = [], []

    def open_page(picture, width=1000, java_script_enabled=True, **context):
        path = picture.to_html(tmp_path / "page.html")
        context |= {"viewport": {"width": width, "height": 800}}
        contexts.append(browser.new_context(java_script_enabled=java_script_enabled, **context))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda m: m.type in {"error", "warning"} and complaints.append(m.text))
        page.on("request", lambda r: r.url.startswith("http") and complaints.append(r.url))
        page.goto(path.as_uri())
        if java_script_enabled:
            page.wait_for_function(ALIVE)
            page.evaluate(LAID_OUT)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


class Jupyter:
    """A Jupyter server with a folder of notebooks."""

    def __init__(self, url: str, token: str, folder: Path, env: dict[str, str]):
        self.url, self.token, self.folder, self.env = url, token, folder, env

    def write(self, name: str, *sources: str, outputs=None, trusted: bool = False) -> None:
        cells = [
            nbformat.v4.new_code_cell(source, id=f"cell-{i}") for i, source in enumerate(sources)
        ]
        for cell, given in zip(cells, outputs or [], strict=False):
            cell.outputs = given
        notebook = nbformat.v4.new_notebook(cells=cells)
        notebook.metadata.kernelspec = {
            "name": "python3",
            "display_name": "Python 3",
            "language": "python",
        }
        nbformat.write(notebook, self.folder / name)
        if trusted:
            command = [sys.executable, "-m", "nbformat.sign", self.folder / name]
            subprocess.run(command, env=self.env, check=True, capture_output=True)

    def start_kernel(self, name: str) -> None:
        """A notebook opened after this finds its kernel; a busy JupyterLab asks for one else."""
        kernel = {"path": name, "name": name, "type": "notebook", "kernel": {"name": "python3"}}
        request = urllib.request.Request(
            f"{self.url}/api/sessions?token={self.token}",
            data=json.dumps(kernel).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            assert reply.status == 201

    def address(self, app: str, name: str) -> str:
        return f"{self.url}/{app}/{name}?token={self.token}&reset"


@contextlib.contextmanager
def _serve(folder: Path, home: Path):
    token = secrets.token_hex(8)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"--port={port}", "--ip=127.0.0.1", f"--notebook-dir={folder}"]
    command += [f"--IdentityProvider.token={token}", "--LabApp.news_url=None"]
    places = ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    env = os.environ | dict.fromkeys(places, str(home))
    # Else the first notebook's matplotlib would say on stderr that it looks for fonts.
    subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], env=env, check=True)
    server = subprocess.Popen(
        command, env=env, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        url = _address(server, home)
        yield Jupyter(url, token, folder, env)
    finally:
        server.terminate()
        server.wait(300)


@pytest.fixture(scope="session")
def serve():
    """Starts a JupyterLab for the folder and the home that it is given."""
    return _serve


@pytest.fixture(scope="session")
def jupyter(serve, tmp_path_factory):
    with serve(tmp_path_factory.mktemp("notebooks"), tmp_path_factory.mktemp("home")) as jupyter:
        yield jupyter


def _address(server: subprocess.Popen, home: Path) -> str:
    """Where the server answers: on another port, if somebody has taken the one it was given."""
    end = time.monotonic() + 300
    while time.monotonic() < end and server.poll() is None:
        with contextlib.suppress(OSError, ValueError):
            told = json.loads((home / f"jpserver-{server.pid}.json").read_text(encoding="utf-8"))
            url = f"http://127.0.0.1:{told['port']}"
            with urllib.request.urlopen(f"{url}/api?token={told['token']}", timeout=5):
                return url
        time.sleep(0.2)
    raise RuntimeError("The Jupyter server did not start.")


def _run_first_cell(page) -> None:
    """Run the first cell; a notebook that is not connected yet forgets the request."""
    cell = page.locator(".jp-Notebook .jp-Cell").first
    for _ in range(4):
        cell.locator(".jp-InputArea-editor").click()
        page.keyboard.press("Control+Enter")
        with contextlib.suppress(AssertionError):
            expect(cell.locator(".jp-InputPrompt")).to_have_text(
                re.compile(r"\[\d+\]:"), timeout=30_000
            )
            return
    raise RuntimeError("The first cell was never run.")


@pytest.fixture
def jupyter_page(browser):
    """Opens an empty page for what the server at a given address serves.

    Fails on a console error, but for one that holds any of ``tolerate``, and on a request to
    anywhere but the server.
    """
    complaints, contexts = [], []

    def jupyter_page(server, tolerate=()):
        def hear(error):
            if not any(words in error for words in (*tolerate, OF_A_BUSY_LAB)):
                complaints.append(error)

        contexts.append(browser.new_context(viewport={"width": 1300, "height": 900}))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: hear(str(error)))
        page.on("console", lambda message: message.type == "error" and hear(message.text))
        page.on("request", lambda request: _is_outside(request.url, server) and hear(request.url))
        page.add_locator_handler(
            page.locator("dialog.jp-Dialog"), lambda dialog: _answer_dialog(dialog, hear)
        )
        return page

    yield jupyter_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def lab(jupyter, jupyter_page):
    """Opens a notebook in JupyterLab (or another app) and runs it if asked to."""

    def lab(name, app="lab/tree", run=False, tolerate=()):
        page = jupyter_page(jupyter.url, tolerate)
        jupyter.start_kernel(name)
        page.goto(jupyter.address(app, name))
        page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=60_000)
        if run:
            page.wait_for_selector('[data-status="idle"]', state="attached", timeout=60_000)
            _run_first_cell(page)
        return page

    return lab


def _answer_dialog(dialog, hear) -> None:
    """A busy JupyterLab may ask for a kernel, or say that the server is slow; hear what else."""
    words = dialog.inner_text()
    if not re.search(r"kernel|connection", words, re.IGNORECASE):
        hear(words)
    dialog.locator(".jp-mod-accept").last.click()


def _is_outside(url: str, server: str) -> bool:
    return url.startswith("http") and not url.startswith(f"{server}/")
