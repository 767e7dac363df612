from concurrent.futures import Future

import pytest

from classroom.grading.ahead import Ahead
from classroom.grading.job import Job


class Pool:
    def __init__(self):
        self.jobs = []
        self.futures = []

    def submit(self, job):
        self.jobs.append(job)
        self.futures.append(Future())
        return self.futures[-1]


def job(key):
    return Job((), (key,))


@pytest.fixture
def pool():
    return Pool()


def test_the_next_ones_are_started_and_their_results_used(pool):
    ahead = Ahead("abcde", job, pool.submit, how_many=2)
    ahead.take("a", job("a"))
    assert pool.jobs == [job("a"), job("b"), job("c")]
    assert ahead.take("b", job("b")) is pool.futures[1]
    assert pool.jobs[3:] == [job("d")]


def test_a_wrong_guess_is_not_used(pool):
    ahead = Ahead("ab", lambda key: job("guess"), pool.submit, how_many=2)
    ahead.take("a", job("a"))
    future = ahead.take("b", job("b"))
    assert pool.jobs == [job("a"), job("guess"), job("b")]
    assert future is pool.futures[2]
    assert pool.futures[1].cancelled()


def test_what_cannot_be_prepared_is_left_to_its_turn(pool):
    def prepare(key):
        if key == "b":
            raise OSError
        return job(key)

    ahead = Ahead("abc", prepare, pool.submit, how_many=1)
    ahead.take("a", job("a"))
    assert pool.jobs == [job("a"), job("c")]
    ahead.take("b", job("b"))
    assert pool.jobs == [job("a"), job("c"), job("b")]


def test_submissions_that_are_passed_over_are_forgotten(pool):
    ahead = Ahead("abcd", job, pool.submit, how_many=1)
    ahead.take("c", job("c"))
    assert pool.jobs == [job("c"), job("d")]


def test_what_was_started_and_is_passed_over_makes_room(pool):
    ahead = Ahead("abcde", job, pool.submit, how_many=2)
    ahead.take("a", job("a"))
    ahead.take("c", job("c"))
    assert pool.futures[1].cancelled()
    assert pool.jobs[3:] == [job("d"), job("e")]


def test_a_submission_nobody_expected_is_run_all_the_same(pool):
    ahead = Ahead("ab", job, pool.submit, how_many=1)
    assert ahead.take("x", job("x")) is pool.futures[0]
    assert pool.jobs == [job("x"), job("a")]
