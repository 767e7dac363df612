"""Self-contained HTML: a still picture and words for everybody, and a script that brings it alive.

Nothing is fetched. What a page with scripts off shows lies in the host element; the script puts
the living view into the host's shadow root, which then hides it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from html import escape
from pathlib import Path

from attention_lab.heatmap import picture
from attention_lab.heatmap.payload import to_json
from attention_lab.heatmap.scene import Scene
from attention_lab.heatmap.words import summarise

_ASSETS = Path(__file__).parent / "assets"
_HEADS = ("dom.js", "theme.js", "codec.js", "heat.js", "map.js", "side.js", "toolbar.js", "view.js")


def heatmap_html(scene: Scene, png: bytes | None = None, channel: str | None = None) -> str:
    """The heatmap as an HTML fragment.

    ``channel``: the class of an element elsewhere in the page whose text is the JSON of a newer
    scene whenever it changes; see ``play``.
    """
    image = base64.b64encode(png or picture.png(scene)).decode()
    words = escape(summarise(scene))
    still = (
        f'<img alt="{escape(scene.title)}, a picture; in words below" '
        f'src="data:image/png;base64,{image}"><pre>{words}</pre>'
    )
    call = f"mountHeads(host, {to_json(scene)})"
    if channel is None:
        return host(still, ("heads.css",), _HEADS, call)
    return host(
        still, ("heads.css",), (*_HEADS, "channel.js"), f'{call}.then(listenTo("{channel}"))'
    )


def host(content: str, styles: tuple[str, ...], scripts: tuple[str, ...], call: str) -> str:
    """``content`` in a host element, and a script that runs ``call`` once for each such host."""
    name = "heads-" + hashlib.sha256((content + call).encode()).hexdigest()[:12]
    style = "".join(map(_asset, styles))
    script = "\n".join(_asset(script) for script in scripts)
    return (
        f'<div class="attention-lab" data-heads="{name}">{content}</div>'
        f"<script>(() => {{\nconst STYLE = `{style}`;\n{script}\n"
        f"for (const host of document.querySelectorAll('[data-heads=\"{name}\"]'))\n"
        f"if (!host.mounted) {{ host.mounted = true; {call}; }}\n}})()</script>"
    )


def document(fragment: str, title: str) -> str:
    """A whole HTML page around a fragment."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>"
        "<style>:root{color-scheme:light dark}body{margin:1rem}"
        "h1{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}</style>"
        f"</head><body><main><h1>{escape(title)}</h1>{fragment}</main></body></html>\n"
    )


def string(text: str) -> str:
    """A JavaScript string that is also safe inside a ``<script>`` element."""
    return json.dumps(text).replace("<", "\\u003c")


@cache
def _asset(name: str) -> str:
    """A .js or .css file without the comment lines and white space that need not travel."""
    text = (_ASSETS / name).read_text(encoding="utf-8")
    if name.endswith(".css"):
        return re.sub(r"\s*([{};:,])\s+", r"\1", text)
    return re.sub(r"^\s*(//.*\n)?", "", text, flags=re.M)
