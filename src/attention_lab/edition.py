"""Which edition of this package lies in a folder, so that no notebook runs with another one's code.

The self-learner's notebook writes the package beside itself and knows the fingerprint of what it
writes.
"""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

_NOT_CODE = {"__pycache__", ".ipynb_checkpoints"}


class OtherEdition(ImportError):
    """The package is not the one that the notebook brings; a notebook shows the message alone."""

    def _render_traceback_(self):
        return [f"\N{BALLOT X} {self}"]


def expect(fingerprint: str) -> None:
    """Refuse to go on with another edition of this package; not while grading, where the course's
    own counts, whatever was handed in.

    Raises:
        OtherEdition: this package's files have another fingerprint.
    """
    folder = Path(__file__).parent
    if os.environ.get("NBGRADER_EXECUTION"):
        return
    if fingerprint_of(package_files(folder)) != fingerprint:
        raise OtherEdition(
            "The course's code is not the code that this notebook brings. It lies in\n"
            f"  {folder}\n"
            "Run all cells of the notebook's Set-up section, from its first, then this cell again."
        )


def package_files(package: Path) -> dict[str, bytes]:
    """Every file of a package by its path below ``package``, in a fixed order."""
    paths = sorted(path for path in package.rglob("*") if path.is_file())
    names = [path.relative_to(package) for path in paths]
    return {
        name.as_posix(): (package / name).read_bytes()
        for name in names
        if not _NOT_CODE.intersection(name.parts)
    }


def fingerprint_of(files: Mapping[str, bytes]) -> str:
    """Twelve hexadecimal digits that stand for these files, however their lines end."""
    digest = hashlib.sha256()
    for name in sorted(files):
        content = files[name].replace(b"\r\n", b"\n")
        digest.update(f"{name}\n{len(content)}\n".encode() + content)
    return digest.hexdigest()[:12]
