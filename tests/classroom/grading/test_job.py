import json
from dataclasses import replace

from classroom.grading.job import Cell, File, Job, Result
from classroom.grading.outputs import Ran

JOB = Job((Cell(0, "x = 1", False), Cell(3, "check", True)), ("import torch",),
          (File("a/b.txt", b"\x00\xff"), File("c", b"")), ("y",), ("x = 2",))  # fmt: skip


def test_job_travels():
    message, payload = JOB.to_message()
    assert Job.from_message(json.loads(json.dumps(message)), payload) == JOB


def test_result_travels():
    output = {"output_type": "stream", "name": "stdout", "text": "a"}
    result = Result({0: Ran(1, (output,)), 3: Ran(None, (), "missing-scale")}, ("limits",))
    assert Result.from_message(json.loads(json.dumps(result.to_message()))) == result


def test_jobs_that_differ_in_anything_are_not_equal():
    others = [
        replace(JOB, **change)
        for change in (
            {"cells": JOB.cells[:1]},
            {"cells": (JOB.cells[0], Cell(3, "check", False))},
            {"setup": ()},
            {"files": JOB.files[:1]},
            {"files": (File("a/b.txt", b"\x00"), File("c", b""))},
            {"released": ()},
            {"solved": ()},
        )
    ]
    assert JOB not in others


def test_what_is_the_courses_own_says_nothing_of_a_submission():
    assert JOB.of_the_course() == Job((Cell(3, "check", True),), ("import torch",))
