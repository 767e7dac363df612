"""One notebook to run, as plain data: equal jobs give equal verdicts, so a result may be reused."""

from dataclasses import asdict, dataclass

from classroom.grading.outputs import Ran


@dataclass(frozen=True)
class Cell:
    """A code cell. graded: whether its text is the course's own and judges. given: whether it is
    the course's own at all."""

    index: int
    source: str
    graded: bool
    given: bool = False


@dataclass(frozen=True)
class File:
    """A file that lies beside the notebook; `name` is relative to it."""

    name: str
    content: bytes


@dataclass(frozen=True)
class Job:
    """cells: in the notebook's order. setup: the course's set-up cells, run outside the sandbox.

    Where it is worth it to do once what all do: released are the code cells that are given to
    everybody, to be compiled; solved those of the course's own solution, for its pictures.
    """

    cells: tuple[Cell, ...]
    setup: tuple[str, ...] = ()
    files: tuple[File, ...] = ()
    released: tuple[str, ...] = ()
    solved: tuple[str, ...] = ()

    def of_the_course(self) -> "Job":
        """Those of its cells that are the course's own: equal for a class."""
        return Job(tuple(cell for cell in self.cells if cell.graded), self.setup)

    def to_message(self) -> tuple[dict, bytes]:
        message = {
            "cells": [asdict(cell) for cell in self.cells],
            "setup": list(self.setup),
            "files": [[file.name, len(file.content)] for file in self.files],
            "released": list(self.released),
            "solved": list(self.solved),
        }
        return message, b"".join(file.content for file in self.files)

    @classmethod
    def from_message(cls, message: dict, payload: bytes) -> "Job":
        files, start = [], 0
        for name, size in message["files"]:
            files.append(File(name, payload[start : start + size]))
            start += size
        cells = tuple(Cell(**cell) for cell in message["cells"])
        ahead = tuple(message["released"]), tuple(message["solved"])
        return cls(cells, tuple(message["setup"]), tuple(files), *ahead)


@dataclass(frozen=True)
class Result:
    """What running a job showed. ran: each cell, by its index in the notebook. changed: what the
    submission changed about the process that hosts it, in words; an honest one changes nothing.
    notes: what was done for the student that a human should know, in words."""

    ran: dict[int, Ran]
    changed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_message(self) -> dict:
        ran = [
            [index, cell.count, list(cell.outputs), cell.misconception]
            for index, cell in self.ran.items()
        ]
        return {"ran": ran, "changed": list(self.changed), "notes": list(self.notes)}

    @classmethod
    def from_message(cls, message: dict) -> "Result":
        ran = {
            index: Ran(count, tuple(outputs), misconception)
            for index, count, outputs, misconception in message["ran"]
        }
        return cls(ran, tuple(message["changed"]), tuple(message["notes"]))
