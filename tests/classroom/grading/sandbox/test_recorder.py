import json

import pytest

from classroom.grading import outputs
from classroom.grading.sandbox import recorder as recorders
from classroom.grading.sandbox.recorder import CUT, Recorder, Stream, plain_bundle


@pytest.fixture
def recorder():
    return Recorder(limit=1000)


def kinds(recorder):
    return [output["output_type"] for output in recorder.finished()]


def test_outputs_are_kept_in_order_and_streams_joined(recorder):
    recorder.stream("stdout", "a")
    recorder.stream("stdout", "b")
    recorder.stream("stderr", "c")
    recorder.display({"text/plain": "d"})
    recorder.result({"text/plain": "e"}, 3)
    recorder.error("E", "f", ["g"])
    assert kinds(recorder) == ["stream", "stream", "display_data", "execute_result", "error"]
    assert recorder.finished()[0] == {"output_type": "stream", "name": "stdout", "text": "ab"}
    assert recorder.finished()[3]["execution_count"] == 3


def test_nothing_is_shown_of_nothing_printed(recorder):
    recorder.clear(wait=True)
    recorder.stream("stdout", "")
    assert recorder.finished() == []


def test_flood_is_cut_once_and_an_error_still_fits(recorder):
    for _ in range(100):
        recorder.stream("stdout", "x" * 300)
    recorder.error("E", "y" * 100_000, ["z" * 100_000] * 1000)
    text, error = recorder.finished()
    assert text["text"].count(CUT) == 1
    assert len(text["text"]) < 1100
    assert len(str(error)) < 250_000


def test_display_that_does_not_fit_is_said(recorder):
    recorder.display({"text/html": "x" * 2000})
    recorder.display({"text/plain": "y"})
    assert [output["output_type"] for output in recorder.finished()] == ["stream"]
    assert CUT in recorder.finished()[0]["text"]


def test_display_is_updated_in_place(recorder):
    recorder.display({"text/plain": "before"}, display_id="a")
    recorder.display({"text/plain": "after"}, display_id="a", update=True)
    recorder.display({"text/plain": "nobody"}, display_id="b", update=True)
    assert [output["data"] for output in recorder.finished()] == [{"text/plain": "after"}]


def test_cleared_at_once_or_before_the_next_output(recorder):
    recorder.stream("stdout", "a")
    recorder.clear(wait=True)
    assert len(recorder.finished()) == 1
    recorder.stream("stdout", "b")
    assert recorder.finished()[0]["text"] == "b"
    recorder.clear(wait=False)
    assert recorder.finished() == []


def test_as_many_outputs_are_kept_as_the_judge_takes(recorder, monkeypatch):
    monkeypatch.setattr(recorders, "MAX_OUTPUTS", 6)
    monkeypatch.setattr(outputs, "MAX_OUTPUTS", 6)
    for number in range(10):
        recorder.stream("stdout", f"{number}")
        recorder.stream("stderr", "!")
        recorder.display({"text/plain": "."})
    recorder.stream("stdout", "more")
    recorder.error("E", "f", ["g"])
    shown = outputs.checked({"count": 1, "outputs": recorder.finished()}).outputs
    assert [output.get("text") for output in shown] == ["0", "!", None, "1", "!", None, CUT, None]
    assert shown[-1]["ename"] == "E"


def test_stream_that_goes_on_needs_no_other_output(recorder, monkeypatch):
    monkeypatch.setattr(recorders, "MAX_OUTPUTS", 1)
    for _ in range(3):
        recorder.stream("stdout", "a")
    assert recorder.finished()[0]["text"] == "aaa"


def test_of_a_flood_of_errors_the_last_is_kept(recorder):
    for number in range(10):
        recorder.error("E", f"{number}", ["x" * 250])
    first, *_, cut, last = recorder.finished()
    assert (first["evalue"], cut["text"], last["evalue"]) == ("0", CUT, "9")
    assert len(recorder.finished()) < 6


def test_update_that_does_not_fit_is_said(recorder):
    recorder.display({"text/plain": "before"}, display_id="a")
    recorder.display({"text/plain": "x" * 2000}, display_id="a", update=True)
    recorder.display({"text/plain": "y"}, display_id="a", update=True)
    display, cut = recorder.finished()
    assert (display["data"], cut["text"]) == ({"text/plain": "before"}, CUT)


def test_update_needs_no_more_room_than_it_adds(recorder):
    recorder.display({"text/plain": "x" * 300}, display_id="a")
    recorder.display({"text/plain": "x" * 300}, display_id="a")
    for frame in range(10):
        recorder.display({"text/plain": f"{frame}" * 300}, display_id="a", update=True)
    assert [output["data"]["text/plain"] for output in recorder.finished()] == ["9" * 300] * 2
    recorder.display({"text/plain": "x" * 600}, display_id="a", update=True)
    assert len(json.dumps(recorder.finished())) < 1200


@pytest.mark.parametrize("wait", [True, False])
def test_what_is_cleared_takes_no_room(recorder, wait):
    for frame in range(10):
        recorder.clear(wait)
        recorder.display({"text/plain": f"{frame}" * 600}, display_id=frame)
        recorder.display({"text/plain": "x" * 600}, display_id=frame - 1, update=True)
    recorder.stream("stdout", "done")
    display, text = recorder.finished()
    assert (display["data"]["text/plain"], text["text"]) == ("9" * 600, "done")


def test_bundle_holds_text_and_bytes_as_base64():
    bundle = plain_bundle({"image/png": b"\x00\x01", "application/json": {"a": [1]}, "x": object()})
    assert bundle == {"image/png": "AAE="}


def test_stream_is_a_text_file(recorder):
    stream = Stream(recorder, "stderr")
    print("hello", file=stream)
    stream.flush()
    assert stream.encoding == "utf-8"
    assert not stream.isatty()
    assert recorder.finished() == [{"output_type": "stream", "name": "stderr", "text": "hello\n"}]
