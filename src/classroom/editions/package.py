"""The package that a learner imports, as files to be copied or written by a notebook."""

from pathlib import Path

from attention_lab.edition import package_files

__all__ = ["PACKAGE", "copy_package", "package_files"]

PACKAGE = "attention_lab"


def copy_package(package: Path, beside: Path) -> None:
    """Make ``beside/attention_lab`` equal to the package; what is equal already is left alone."""
    files, copy = package_files(package), beside / PACKAGE
    for name in package_files(copy).keys() - files.keys():
        (copy / name).unlink()
    for name, content in files.items():
        target = copy / name
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
