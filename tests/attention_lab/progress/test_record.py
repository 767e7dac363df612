import pytest

from attention_lab.check import Mistake
from attention_lab.progress.record import Record, Result, Review, load, save


def mistake(aspect="value", slug="view", means="It was viewed.", look="The strides."):
    return Mistake("split_heads", aspect, "seen", means, look, slug)


@pytest.fixture
def record():
    return Record()


def test_a_right_answer_passes_the_aspect_that_was_checked(record):
    record.note("attend", "shape", False, None)
    assert record.results == {"attend": {"shape": Result(passed=True, hidden=False)}}
    assert not record.passes("attend")


def test_a_check_of_everything_passes_both_aspects(record):
    record.note("attend", None, True, None)
    assert record.passes("attend")
    assert record.results["attend"]["value"].hidden


@pytest.mark.parametrize(
    ("asked", "shown", "charged"),
    [
        ("shape", "shape", "shape"),
        ("value", "shape", "value"),
        (None, "shape", "shape"),
        (None, "value", "value"),
        (None, "manner", "value"),
    ],
)
def test_a_mistake_is_charged_to_the_aspect_that_costs_points(record, asked, shown, charged):
    record.note("split_heads", asked, False, mistake(shown))
    assert record.results["split_heads"] == {charged: Result(passed=False, hidden=False)}


def test_the_last_check_counts_and_all_are_counted(record):
    for found in (mistake(), mistake(), None):
        record.note("split_heads", "value", False, found)
    assert record.results["split_heads"]["value"] == Result(True, False, checks=3)


def test_each_mistake_is_kept_once_also_when_it_is_mended(record):
    for found in (mistake(), mistake(slug="loop", means="It loops."), mistake(), None):
        record.note("split_heads", "value", False, found)
    assert [review.slug for review in record.reviews["split_heads"]] == ["view", "loop"]


def test_a_stub_is_no_mistake_and_takes_results_back(record):
    record.note("split_heads", "value", False, None)
    record.note("split_heads", "value", False, mistake(slug=None, means=""))
    assert record == Record()


def test_what_is_forgotten_leaves_its_reviews(record):
    record.note("split_heads", "value", False, mistake())
    record.forget("split_heads")
    record.forget("attend")
    assert record.results == {}
    assert record.reviews["split_heads"] == [Review("view", "It was viewed.", "The strides.")]


def test_a_file_gives_back_what_was_saved(record, tmp_path):
    record.note("split_heads", "value", True, mistake(means="T × T"))
    record.note("attend", None, False, None)
    assert save(record, tmp_path / "progress.json")
    assert load(tmp_path / "progress.json") == record


def test_without_a_file_one_begins_anew(tmp_path, capsys):
    assert load(tmp_path / "progress.json") == Record()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"\xff", b'{"results": {}}', b'{"results": 1, "reviews": {}}',
     b'{"results": {"attend": {"shape": {"passed": 1}}}, "reviews": {}}',
     b'{"results": {}, "reviews": {"attend": [3]}}'],
)  # fmt: skip
def test_a_broken_file_is_told_in_one_line(content, tmp_path, capsys):
    path = tmp_path / "progress.json"
    path.write_bytes(content)
    assert load(path) == Record()
    said = capsys.readouterr().out
    assert said.startswith("progress.json cannot be read, so the count of your progress begins")
    assert said.count("\n") == 1


def test_a_file_that_cannot_be_written_is_no_error(record, tmp_path):
    assert not save(record, tmp_path / "nowhere" / "progress.json")
