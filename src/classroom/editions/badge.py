"""Links to the notebooks on Google Colab: all from one setting, none while it is empty."""

import re
from pathlib import PurePosixPath

from classroom.editions.lesson import LessonError

_PICTURE = "https://colab.research.google.com/assets/colab-badge.svg"
_BEGIN = "<!-- colab: `make build` writes this, from pyproject.toml's [tool.classroom] -->"
_END = "<!-- end of colab -->"
_UPLOAD = "Download [{path}]({path}) and open it there with *File → Upload notebook*."


def link(name: str, github: str) -> str:
    """Where Colab opens the notebook ``name`` of ``OWNER/REPO/REF``.

    Raises:
        LessonError: the setting has another form.
    """
    if not re.fullmatch(r"[\w.-]+/[\w.-]+/[\w./-]+", github):
        raise LessonError("pyproject.toml", [f"github = {github!r} is not OWNER/REPO/REF"])
    owner, repo, ref = github.split("/", 2)
    return (
        f"https://colab.research.google.com/github/{owner}/{repo}/blob/{ref}/notebooks/{name}.ipynb"
    )


def badge(name: str, github: str) -> str:
    """A picture, in markdown, that opens the notebook in Colab."""
    return f"[![Open in Colab]({_PICTURE})]({link(name, github)})"


def has_place(text: str) -> bool:
    """Whether a page has marks between which the ways to the notebooks belong."""
    return _BEGIN in text and _END in text


def fill(text: str, page: str, names: list[str], github: str) -> str:
    """A page's text with the way to each notebook between its marks.

    page: where the text stands below the course's root. names: of the notebooks. github:
    ``OWNER/REPO/REF``, or ``""``: then the page tells how to upload the notebook.
    """
    up = "../" * (len(PurePosixPath(page).parts) - 1)
    ways = [
        badge(name, github) if github else _UPLOAD.format(path=f"{up}notebooks/{name}.ipynb")
        for name in names
    ]
    region = re.escape(_BEGIN) + ".*?" + re.escape(_END)
    filled = "\n\n".join([_BEGIN, *ways, _END])
    return re.sub(region, lambda _: filled, text, flags=re.DOTALL)
