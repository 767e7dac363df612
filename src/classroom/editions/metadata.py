"""The metadata that nbgrader and the frontends read."""

from nbformat import NotebookNode, from_dict

SCHEMA_VERSION = 3


def notebook_metadata(**more) -> NotebookNode:
    """A notebook's metadata: the plain Python kernel and no version of anything."""
    return from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            **more,
        }
    )


def cell_metadata(options: dict) -> NotebookNode:
    """A cell's metadata, from the options the lesson gives it (see `lesson.OPTIONS`)."""
    metadata = {}
    if "tags" in options:
        metadata["tags"] = options["tags"]
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
