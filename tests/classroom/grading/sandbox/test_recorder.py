import pytest

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


def test_bundle_holds_text_json_and_bytes_as_base64():
    bundle = plain_bundle({"image/png": b"\x00\x01", "application/json": {"a": [1]}, "x": object()})
    assert bundle == {"image/png": "AAE=", "application/json": {"a": [1]}}


def test_stream_is_a_text_file(recorder):
    stream = Stream(recorder, "stderr")
    print("hello", file=stream)
    stream.flush()
    assert stream.encoding == "utf-8"
    assert not stream.isatty()
    assert recorder.finished() == [{"output_type": "stream", "name": "stderr", "text": "hello\n"}]
