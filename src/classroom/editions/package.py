"""The package that a learner imports, as files to be copied or written by a notebook."""

from pathlib import Path

PACKAGE = "attention_lab"
_NOT_CODE = {"__pycache__", ".ipynb_checkpoints"}


def package_files(package: Path) -> dict[str, bytes]:
    """Every file of the package by its path below ``package``, in a fixed order."""
    paths = sorted(path for path in package.rglob("*") if path.is_file())
    names = [path.relative_to(package) for path in paths]
    return {
        name.as_posix(): (package / name).read_bytes()
        for name in names
        if not _NOT_CODE.intersection(name.parts)
    }


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
