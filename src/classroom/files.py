"""The files in a folder that a stranger filled: regular files and nothing else, in bounded time."""

import fnmatch
import hashlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

TOOLS = frozenset(
    {".git", ".venv", "venv", "node_modules", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".tox"}
)
DEEP = 30  # folders in folders
MANY = 10_000  # entries looked at
KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
SAID = 3  # of what is left out, by name


@dataclass(frozen=True)
class Found:
    """files: paths, in the order of their names. left_out: what is no part of the work, in words;
    links lead elsewhere, and nothing is said of them."""

    files: tuple[Path, ...]
    left_out: tuple[str, ...]


def files_in(folder: Path, ignore: Iterable[str] = ()) -> Found:
    """All files below a folder, without those whose name, or a folder's of theirs, matches one of
    the patterns `ignore`."""
    return _Walk(folder, tuple(ignore)).found()


def digest_of(folders: Iterable[Path], ignore: Iterable[str] = (), salt: str = "") -> str:
    """Stands for the names and contents of all files of folders, and a text."""
    digest = hashlib.sha256(salt.encode())
    for folder in folders:
        for path in files_in(folder, ignore).files:
            name = Path(*folder.parts[-2:], path.relative_to(folder))
            digest.update(os.fsencode(f"\n{name}\n"))
            digest.update(_content(path))
    return digest.hexdigest()


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        return str(error.errno).encode()


def printable(text: str) -> str:
    """A text, or a file's name, in which nothing steers a terminal, and that UTF-8 can hold."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


class _Walk:
    def __init__(self, folder: Path, ignore: tuple[str, ...]):
        self.folder = folder
        self.ignore = ignore
        self.files: list[Path] = []
        self.left_out: list[str] = []
        self.seen = 0

    def found(self) -> Found:
        self._look_into(self.folder, 0)
        said = sorted(self.left_out)[:SAID]
        if len(self.left_out) > SAID:
            said.append(f"{len(self.left_out) - SAID} more")
        if self.seen > MANY:
            said.append(f"what follows the first {MANY:,} files")
        return Found(tuple(sorted(self.files)), tuple(said))

    def _look_into(self, folder: Path, depth: int) -> None:
        if depth > DEEP:
            self._leave_out(folder, f"deeper than {DEEP} folders")
            return
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self.seen += 1
                    if self.seen > MANY:
                        return
                    self._take(entry, depth)
        except OSError as error:
            self._leave_out(folder, error.strerror)

    def _take(self, entry: os.DirEntry, depth: int) -> None:
        path = Path(entry.path)
        if any(fnmatch.fnmatchcase(entry.name, pattern) for pattern in self.ignore):
            return
        if entry.is_symlink():
            return
        if entry.is_dir():
            if entry.name in TOOLS:
                self._leave_out(path, "not part of the work")
            else:
                self._look_into(path, depth + 1)
        elif entry.is_file():
            self.files.append(path)
        else:
            mode = entry.stat(follow_symlinks=False).st_mode
            self._leave_out(path, next(words for is_kind, words in KINDS if is_kind(mode)))

    def _leave_out(self, path: Path, why: str) -> None:
        self.left_out.append(f"{printable(str(path.relative_to(self.folder)))} ({why})")
