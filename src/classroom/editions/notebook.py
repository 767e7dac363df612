"""Notebooks as nbgrader and the frontends read them, and as files that never vary."""

from collections.abc import Iterable

import nbformat
from nbformat import NotebookNode, from_dict

SCHEMA_VERSION = 3


def new_notebook(cells: Iterable[NotebookNode], **metadata) -> NotebookNode:
    """A notebook with the plain Python kernel and no version of anything.

    Unlike nbformat's own function it never replaces an id that stands twice.
    """
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return from_dict(
        {
            "cells": list(cells),
            "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}, **metadata},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


def to_json(notebook: NotebookNode) -> str:
    """The notebook as nbgrader writes it: the same bytes on every machine."""
    return nbformat.writes(notebook) + "\n"


def from_json(text: str) -> NotebookNode:
    """The notebook of a text that `to_json` or nbgrader wrote."""
    return nbformat.reads(text, as_version=nbformat.NO_CONVERT)


def cell_metadata(options: dict) -> NotebookNode:
    """A cell's metadata, from the options the lesson gives it (see `lesson.OPTIONS`)."""
    metadata = {}
    if "tags" in options:
        metadata["tags"] = options["tags"]
    if options.get("folded"):
        metadata["jupyter"] = {"source_hidden": True}
    if "grade_id" in options:
        metadata["nbgrader"] = _nbgrader(options)
    return from_dict(metadata)


def _nbgrader(options: dict) -> dict:
    solution = options.get("solution", False)
    metadata = {
        "grade": not solution,
        "grade_id": options["grade_id"],
        "locked": not solution,
        "schema_version": SCHEMA_VERSION,
        "solution": solution,
        "task": False,
    }
    if "points" in options:
        metadata["points"] = options["points"]
    return metadata
