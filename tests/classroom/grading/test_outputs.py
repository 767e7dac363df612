import pytest

from classroom.grading import outputs
from classroom.grading.sandbox.wire import Malformed

STREAM = {"output_type": "stream", "name": "stdout", "text": "hi"}
RESULT = {"output_type": "execute_result", "data": {"text/plain": "1"}, "metadata": {"a": 1},
          "execution_count": 1}  # fmt: skip
ERROR = {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["t"]}


def test_outputs_of_known_form_pass_and_lose_their_metadata():
    ran = outputs.checked({"count": 1, "outputs": [STREAM, RESULT, ERROR]})
    assert ran.count == 1
    assert ran.outputs == (STREAM, RESULT | {"metadata": {}}, ERROR)


def test_of_a_display_only_texts_are_kept():
    display = RESULT | {"data": {"text/plain": "1", "application/json": {"a": [[]]}}}
    (shown,) = outputs.checked({"count": 1, "outputs": [display]}).outputs
    assert shown["data"] == {"text/plain": "1"}


@pytest.mark.parametrize(
    "output",
    [
        None, "text", [], {}, {"output_type": ["stream"]}, {"output_type": "update_display_data"},
        STREAM | {"name": "stdin"}, STREAM | {"text": ["hi"]}, STREAM | {"more": 1},
        {"output_type": "stream", "name": "stdout"}, RESULT | {"execution_count": True},
        RESULT | {"execution_count": -1}, RESULT | {"data": []}, ERROR | {"traceback": [1]},
        ERROR | {"evalue": None},
    ],
)  # fmt: skip
def test_output_of_another_form_is_refused(output):
    with pytest.raises(Malformed):
        outputs.checked({"count": 1, "outputs": [output]})


@pytest.mark.parametrize(
    "answer", [{}, {"count": 1}, {"count": "1", "outputs": []}, {"count": 1, "outputs": {}},
               {"count": -1, "outputs": []},
               {"count": 1, "outputs": [STREAM] * (outputs.MAX_OUTPUTS + 3)}],
)  # fmt: skip
def test_answer_of_another_form_is_refused(answer):
    with pytest.raises(Malformed):
        outputs.checked(answer)


def test_stopped_cell_keeps_what_it_showed_and_says_why():
    interrupt = ERROR | {"ename": "KeyboardInterrupt"}
    ran = outputs.stopped(outputs.Ran(2, (STREAM, interrupt)), "too long")
    assert ran == outputs.Ran(2, (STREAM, outputs.error("Stopped", "too long")))
