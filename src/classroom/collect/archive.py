"""Unpacking an archive that a stranger packed.

Whatever is in it, nothing is written outside the folder it is unpacked into, no link is made, and
no more is written than an honest archive of its size could hold.
"""

import gzip
import re
import stat
import tarfile
import time
import unicodedata
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from lzma import LZMAError
from os import utime
from pathlib import Path, PurePosixPath
from shutil import rmtree
from typing import IO
from zipfile import BadZipFile, ZipFile

from classroom import bounded
from classroom.bounded import BOUNDS
from classroom.files import printable

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz")
LAYERS = 3  # the LMS's archive, a student's in it, and one more
SMALL = 64 << 20  # bytes that any archive may unpack to
RATIO = 100  # or this many times its size; notebooks pack to a fifth
SAID = 5  # complaints about the members of one archive
FEW = 2_000  # files that any archive may hold, or one for each 500 bytes of it
DEEP = 50  # folders in folders
LONGEST_NAME = 240  # bytes, which leaves room for a number
LONGEST_SUFFIX = 20  # characters
PIECE = 1 << 20  # bytes of a tar file that are read at once
LATEST = 2**32  # seconds, in the year 2106
DAMAGES = (BadZipFile, gzip.BadGzipFile, tarfile.TarError, EOFError, zlib.error, LZMAError)
SPELT_OUT = re.compile(r"\.ipynb\.(txt|json)$")  # as Safari saves a notebook


class Refused(Exception):
    """An archive or one of its members is not unpacked; the message says why."""


@dataclass(frozen=True)
class Member:
    """A file in an archive. plain: whether it is a file, and no link or device."""

    name: str
    plain: bool
    mtime: float
    open: Callable[[], IO[bytes]]


@dataclass
class Budget:
    """What an archive may still write. taken: how often each place was asked for."""

    bytes: int
    files: int
    taken: dict[Path, int] = field(default_factory=dict)

    @classmethod
    def of(cls, archive: Path) -> "Budget":
        size = archive.stat().st_size
        return cls(max(SMALL, RATIO * size), max(FEW, size // 500))

    def spend(self, *, files: int = 0, bytes: int = 0) -> None:
        self.files -= files
        self.bytes -= bytes
        if self.files < 0 or self.bytes < 0:
            raise Refused("it unpacks to far more than its size")


def is_archive(path: Path) -> bool:
    return path.name.lower().endswith(SUFFIXES)


def unpack_all(archive: Path, into: Path) -> list[str]:
    """Unpack an archive, and the archives in it, each into a folder of its own.

    Returns a complaint for whatever is left out. An archive in the archive stays beside its folder
    unless all of it was unpacked. Each has a budget of its own: one costs the others nothing.
    """
    return _unpack(archive, into, Budget.of(archive), layer=1)


def _unpack(archive: Path, into: Path, budget: Budget, layer: int) -> list[str]:
    into.mkdir(parents=True)
    name = printable(archive.name)
    bounds = replace(BOUNDS, seconds=BOUNDS.seconds + (archive.stat().st_size >> 20))
    try:
        done = bounded.run(_write_all, archive, into, budget, bounds=bounds)
        if done["refused"]:
            raise Refused(done["refused"])
    except (Refused, bounded.Failed) as reason:
        rmtree(into)
        return [f"{name}: {reason}; left packed"]
    budget.bytes, budget.files = done["left"]
    complaints = [f"{name}: left out {what}" for what in _shortened(done["left_out"])]
    for inner in filter(is_archive, map(Path, done["written"])):
        complaints += _unpack_inner(inner, budget, layer)
    return complaints


def _write_all(archive: Path, into: Path, budget: Budget) -> dict:
    """Write the members of one archive; this runs in a child."""
    left_out: list[str] = []
    written, refused = [], None
    try:
        written = list(map(str, _write_members(archive, into, budget, left_out)))
    except Refused as reason:
        refused = str(reason)
    left = [budget.bytes, budget.files]
    return {"written": written, "left_out": left_out, "refused": refused, "left": left}


def _unpack_inner(archive: Path, budget: Budget, layer: int) -> list[str]:
    if layer == LAYERS:
        return [f"{printable(archive.name)}: packed more than {LAYERS} times over; left packed"]
    folder = free(archive.with_name(stem(archive.name)))
    own = Budget.of(archive) if layer == 1 else budget
    complaints = _unpack(archive, folder, own, layer + 1)
    if not complaints:
        archive.unlink()
    return complaints


def _shortened(left_out: list[str]) -> list[str]:
    more = len(left_out) - SAID
    return left_out if more <= 0 else [*left_out[:SAID], f"{more} more"]


def _write_members(
    archive: Path, into: Path, budget: Budget, left_out: list[str]
) -> Iterator[Path]:
    with _members(archive) as members:
        for member in members:
            budget.spend(files=1)
            try:
                yield _write(member, into, budget)
            except (Refused, OSError) as error:
                if budget.bytes < 0:
                    raise
                reason = error.strerror if isinstance(error, OSError) else error
                left_out.append(f"{member.name[:200]!r}: {reason}")


def _write(member: Member, into: Path, budget: Budget) -> Path:
    if not member.plain:
        raise Refused("it is a link or a device")
    target = free(into / inside(member.name), budget.taken)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with _broken_is_refused(), member.open() as source, target.open("xb") as sink:
            while chunk := source.read(1 << 16):
                budget.spend(bytes=len(chunk))
                sink.write(chunk)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    utime(target, (member.mtime, member.mtime))
    return target


def inside(name: str) -> PurePosixPath:
    """The path of a member below the folder that it is unpacked into.

    Raises:
        Refused: it would lie outside.
    """
    parts = unicodedata.normalize("NFC", name).replace("\\", "/").split("/")
    if not parts[0] or re.match(r"[A-Za-z]:", parts[0]) or ".." in parts:
        raise Refused("its path leads outside the archive")
    if len(parts) > DEEP:
        raise Refused("it lies too deep")
    path = PurePosixPath(*map(_usual, parts))
    if not path.name:
        raise Refused("it has no name")
    return path.with_name(SPELT_OUT.sub(".ipynb", path.name))


def _usual(part: str) -> str:
    """A name that a file system takes and a terminal shows: long ones lose their middle."""
    name = "".join(c if c.isprintable() else "_" for c in part)
    if len(name.encode()) <= LONGEST_NAME:
        return name
    suffix = PurePosixPath(name).suffix[:LONGEST_SUFFIX]
    head = name.encode()[: LONGEST_NAME - len(suffix.encode())]
    return head.decode(errors="ignore") + suffix


def free(path: Path, taken: dict[Path, int] | None = None) -> Path:
    """The path itself or, where something lies there already, one with -1, -2, ... in its name.

    taken: the last number given to each name, so that a thousand of one name are found at once.
    """
    taken = {} if taken is None else taken
    name, wanted, number = path.name, path, taken.get(path, 0)
    if number:
        path = _numbered(wanted, name, number)
    while path.exists():
        number += 1
        path = _numbered(wanted, name, number)
    taken[wanted] = number
    return path


def _numbered(path: Path, name: str, number: int) -> Path:
    return path.with_name(f"{stem(name)}-{number}{name[len(stem(name)) :]}")


def stem(name: str) -> str:
    """
    >>> stem("homework.tar.gz"), stem("a.b.ipynb"), stem("README")
    ('homework', 'a.b', 'README')
    """
    suffix = next((s for s in SUFFIXES if name.lower().endswith(s)), None)
    return name[: -len(suffix)] if suffix else PurePosixPath(name).stem


@contextmanager
def _members(archive: Path) -> Iterator[Iterator[Member]]:
    with _broken_is_refused():
        if archive.name.lower().endswith(".zip"):
            with ZipFile(archive) as opened:
                yield _zipped(opened)
        else:
            with _open_tar(archive) as opened:
                yield _tarred(opened)


@contextmanager
def _broken_is_refused() -> Iterator[None]:
    try:
        yield
    except DAMAGES as error:
        raise Refused(f"it is damaged ({error})") from None
    except RuntimeError as error:
        if "is encrypted" in str(error):
            raise Refused("it is encrypted: ask for it without a password") from None
        raise Refused(f"it cannot be unpacked ({error})") from None


def _zipped(archive: ZipFile) -> Iterator[Member]:
    for info in archive.infolist():
        kind = stat.S_IFMT(info.external_attr >> 16)
        if not info.is_dir():
            mtime = time.mktime((*info.date_time, 0, 0, -1))
            plain = kind in (0, stat.S_IFREG)
            yield Member(_zip_name(info), plain, mtime, partial(archive.open, info))


def _zip_name(info) -> str:
    """A name without the mark of UTF-8 is read as cp437, and mostly is UTF-8 all the same."""
    if info.flag_bits & 0x800:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


class InPieces:
    """A file that is read by the piece and not beyond `end`: `tarfile` reads whatever a header says
    is the length of a name."""

    def __init__(self, file: IO[bytes], end: int):
        self.file, self.end = file, end
        self.tell = file.tell

    def read(self, size: int) -> bytes:
        if size > PIECE:
            raise Refused("it is damaged (a header without end)")
        return self.file.read(size)

    def seek(self, position: int) -> int:
        if position > self.end:
            raise Refused("it unpacks to far more than its size")
        return self.file.seek(position)


@contextmanager
def _open_tar(archive: Path) -> Iterator[tarfile.TarFile]:
    end = 2 * Budget.of(archive).bytes  # headers included
    with archive.open("rb") as packed:
        is_gzip = packed.peek(2).startswith(b"\x1f\x8b")
        unpacked = gzip.GzipFile(fileobj=packed) if is_gzip else packed
        with tarfile.open(fileobj=InPieces(unpacked, end), mode="r:") as opened:
            yield opened


def _tarred(archive: tarfile.TarFile) -> Iterator[Member]:
    for info in archive:
        if not info.isdir():
            opener = partial(archive.extractfile, info)
            yield Member(info.name, info.isfile(), min(max(info.mtime, 0), LATEST), opener)
