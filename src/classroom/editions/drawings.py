"""Puts a lesson's drawings inside the notebook, which then needs no file beside it."""

import html
import re
from base64 import b64encode
from pathlib import Path

_PICTURE = re.compile(r"!\[(?P<alt>[^\]]*)\]\((?P<target>[^)\s]+)\)")
_ALONE_ON_ITS_LINE = re.compile(r"^(<img [^>]*>)\n(?=.)", re.MULTILINE)
_ELSEWHERE = ("https://", "http://", "data:", "attachment:")


def inline(markdown: str, folder: Path) -> str:
    """Replace every ``![alt text](name.svg)`` by an image that holds the drawing itself.

    The image is an HTML tag, because markdown-it (VS Code) refuses ``![](data:image/svg+xml...)``.

    Raises:
        ValueError: the drawing is not in ``folder``, or is not an .svg file.
    """
    markdown = _PICTURE.sub(lambda picture: _image(picture, folder), markdown)
    # Such a line opens a block of HTML; only a blank line makes what follows markdown again.
    return _ALONE_ON_ITS_LINE.sub(r"\1\n\n", markdown)


def _image(picture: re.Match, folder: Path) -> str:
    target = picture["target"]
    if target.startswith(_ELSEWHERE):
        return picture[0]
    if not target.endswith(".svg"):
        raise ValueError(f"the picture {target} is no .svg drawing; draw it as one")
    drawing = folder / target
    if not drawing.is_file():
        raise ValueError(f"the drawing {target} is not beside the lesson")
    data = b64encode(drawing.read_bytes()).decode("ascii")
    alt = html.escape(picture["alt"])
    return f'<img alt="{alt}" src="data:image/svg+xml;base64,{data}">'
